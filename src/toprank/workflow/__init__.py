"""What the commands do, without a screen: rank, compare, score, explain and verify, a file each."""
