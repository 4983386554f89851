"""`python -m recrawl` is the `recrawl` command."""

from recrawl.cli.main import main

if __name__ == "__main__":
    main()
