"""A proof over boxes of directions, one coordinate swept: for few or smooth features."""
