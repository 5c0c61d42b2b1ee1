"""The exact search: look first, climb, prove."""
