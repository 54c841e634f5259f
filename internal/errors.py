"""One exception tree. Foreign errors are translated into it at one border each; a class's docstring is its message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


class LaplacedError(Exception):
    """Something went wrong."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())


class ConfigurationError(LaplacedError):
    """The configuration cannot be used."""


class StorageError(LaplacedError):
    """The database cannot be used."""


class StorageLocked(StorageError):
    """Another process holds the data folder."""


class StorageDamaged(StorageError):
    """The database file is damaged."""


class SchemaTooNew(StorageError):
    """The database was written by a newer version of Laplaced; upgrade the program, or restore an older backup."""


class LeaseLost(LaplacedError):
    """Another worker has taken this over."""


class MirrorUnavailable(LaplacedError):
    """The mirror of the graph cannot be used now; it is tried again."""


class NotFound(LaplacedError):
    """There is no such thing for this user."""


def expect_found(found: T | None, message: str) -> T:
    """What was found. Raises NotFound with this message for None."""
    if found is None:
        raise NotFound(message)
    return found


class Refused(LaplacedError):
    """The request breaks a rule. `reason` is a short stable word for metrics and tests."""

    def __init__(self, reason: str, message: str | None = None) -> None:
        super().__init__(message or reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Refusal:
    """A part of something larger that was not done. `reason` is a short stable word (metrics), `detail` a sentence."""

    reason: str
    detail: str

    @classmethod
    def of(cls, error: LaplacedError) -> Refusal:
        """The refusal that an error of a rule is, or of an id that names nothing."""
        return cls(error.reason if isinstance(error, Refused) else "unknown_node", str(error))


class Conflict(LaplacedError):
    """Somebody else changed this in the meantime."""


class ModelError(LaplacedError):
    """The model gave no usable answer."""


class ModelUnavailable(ModelError):
    """The model cannot be reached now. An outage: it is tried again later and not counted as an attempt."""

    def __init__(self, message: str | None = None, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelSilent(ModelUnavailable):
    """The model did not begin to answer in time."""


class ModelAccessDenied(ModelUnavailable):
    """The provider refuses us (bad key, no credit), whatever was asked.

    The configuration or the account has to change; until then it waits like an outage.
    """


class ModelUnknown(ModelAccessDenied):
    """The provider does not know the model: another name has to be set, or the model installed."""


class ModelRefused(ModelError):
    """The model refuses the request for good (a safety block, an impossible request): retrying cannot help."""


class ModelContextExceeded(ModelRefused):
    """The request is longer than what the model can read at once. A shorter one may succeed."""


class ModelReplyInvalid(ModelError):
    """The model answered, but not in a form that can be read. One failed attempt."""


class ModelReplyUnknownIds(ModelReplyInvalid):
    """Every id that the reply names is one that was never given to the model."""


class ModelReplyTruncated(ModelReplyInvalid):
    """The reply was cut by its length limit."""

    def __init__(self, message: str | None = None, *, text: str = "") -> None:
        super().__init__(message)
        self.text = text
