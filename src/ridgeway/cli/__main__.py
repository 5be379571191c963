"""``python -m ridgeway.cli``."""

from ridgeway.cli import main

if __name__ == "__main__":
    main()
