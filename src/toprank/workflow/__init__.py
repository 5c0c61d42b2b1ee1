"""What the commands do, without a screen: rank, compare, score."""
