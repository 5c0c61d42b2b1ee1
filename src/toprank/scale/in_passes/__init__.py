"""Learning from files in passes: labels, columns and their encoder, and the rows encoded anew each time."""
