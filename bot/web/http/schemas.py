"""What the bodies of all calls have in common."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Request(BaseModel):
    """A body whose unknown fields are refused: a misspelt filter would silently find something else."""

    model_config = ConfigDict(extra="forbid")


class Out(BaseModel):
    """An answer that is read from the attributes of what it shows."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, shown: Any) -> Self:
        return cls.model_validate(shown)
