"""A proof over cells between the pairs' hyperplanes: for more features."""
