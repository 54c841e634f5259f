"""The apology for an answer that a model could not write."""

from internal.access.model import Role, User
from internal.errors import (
    ModelAccessDenied,
    ModelContextExceeded,
    ModelError,
    ModelRefused,
    ModelSilent,
    ModelUnavailable,
    ModelUnknown,
)


def sorry_key(error: ModelError, user: User) -> str:
    """The key of the sentence for a user."""
    owner = user.role is Role.OWNER
    keys: dict[type[ModelError], str] = {  # more specific errors come first
        ModelUnknown: "model-unknown-owner" if owner else "model-denied",
        ModelAccessDenied: "model-denied-owner" if owner else "model-denied",
        ModelSilent: "model-silent",
        ModelUnavailable: "model-unreachable",
        ModelContextExceeded: "answer-too-long",
        ModelRefused: "answer-refused",
    }
    return next((key for kind, key in keys.items() if isinstance(error, kind)), "answer-failed")
