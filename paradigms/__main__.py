"""``python -m paradigms``: the command line."""

from paradigms.cli import main

if __name__ == "__main__":
    main()
