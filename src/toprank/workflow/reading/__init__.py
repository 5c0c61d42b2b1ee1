"""What the user hands over: a table or several files, the column rows are held out by, demands."""
