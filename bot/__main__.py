"""`python -m bot` is `laplaced`."""

from bot.cli import main

main(prog_name="laplaced")
