"""What people keep to themselves, and for whom a text is meant: by words, in three languages."""
