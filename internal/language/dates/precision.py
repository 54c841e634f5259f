"""The precision of a stated date: "2018" is a year, and is always shown as one."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal

DatePrecision = Literal["year", "month", "day"]

_SHOWN: Final[Mapping[str, DatePrecision]] = {"decade": "year", "year": "year", "season": "month", "month": "month"}
_FORMS: Final[Mapping[str | None, str]] = {"year": "%Y", "month": "%Y-%m"}


def date_precision(read: str) -> DatePrecision:
    """The precision to show for a date that was read with this one: a decade or season has that of its beginning."""
    return _SHOWN.get(read, "day")


def written(local: datetime, precision: DatePrecision | None) -> str:
    """A date with the precision that was stated: 2018, 2018-05 or, if it is unknown, 2018-05-01."""
    year, rest = f"{local.year:04d}", _FORMS.get(precision, "%Y-%m-%d")[2:]
    return year + local.strftime(rest)


def finest(precisions: list[DatePrecision | None]) -> DatePrecision | None:
    """The finest of these precisions; None if none is known."""
    order: tuple[DatePrecision, ...] = ("day", "month", "year")
    return next((one for one in order if one in precisions), None)
