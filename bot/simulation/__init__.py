"""Lives scenarios with the real bot: a part of the composition root, for it drives the whole product."""
