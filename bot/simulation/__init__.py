"""Plays scenarios with the real bot: a part of the composition root, since it drives the whole product."""
