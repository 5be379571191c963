"""``python -m ridgeway.cli``."""

from ridgeway.cli import main

main()
