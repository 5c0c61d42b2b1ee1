"""``python -m toprank`` is the command line."""

from toprank.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
