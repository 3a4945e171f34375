"""Entry point of the `editvec` command and of `python -m editvec`."""

import sys


def main() -> None:
    """Run the command line.

    Ctrl-C while the command line is being imported prints one line instead of a traceback.
    """
    try:
        from editvec.cli import main as run
    except KeyboardInterrupt:
        sys.stderr.write("editvec: stopped.\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
