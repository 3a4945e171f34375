"""`python -m editvec`."""

from editvec.cli import main

if __name__ == "__main__":
    main()
