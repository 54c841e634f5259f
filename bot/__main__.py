"""`python -m bot` is `laplaced`."""

from bot.cli.main import main

main(prog_name="laplaced")
