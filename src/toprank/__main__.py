"""``python -m toprank`` is the command line."""

from toprank.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
