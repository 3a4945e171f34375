"""`editvec`, and `python -m editvec`."""

import sys


def main() -> None:
    """Runs the command line; Ctrl-C while it is being loaded is one line too."""
    try:
        from editvec.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("editvec: stopped.\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
