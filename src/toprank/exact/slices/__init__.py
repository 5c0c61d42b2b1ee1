"""Branch and bound over boxes of directions, one coordinate cut into slices."""
