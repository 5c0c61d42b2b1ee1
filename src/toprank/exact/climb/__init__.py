"""Good answers fast, at any list length."""
