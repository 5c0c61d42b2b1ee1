"""What searches over boxes of directions share: coordinates, values, linear programs, subtrees, a judge."""
