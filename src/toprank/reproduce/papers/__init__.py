"""One declaration a paper: values only."""
