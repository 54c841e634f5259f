"""What changed in a memory lately, whoever changed it, and taking a change back."""
