"""Alembic migrations. They run when the program starts; going back is done by restoring a backup."""
