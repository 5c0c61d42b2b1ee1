"""Boxes of directions cut into slices, searched on a graphics card."""
