"""What a command leaves behind: the summary that `--json` prints, the page, the files."""
