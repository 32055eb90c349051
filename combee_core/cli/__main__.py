"""`python -m combee_core.cli` is the `combee` command."""

from combee_core.cli import main

main()
