"""The declaration of a Bot API method: its name, its parameters, and the coroutine that answers."""

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from bot.simulator.repository import Json
from bot.simulator.server.errors import ApiRefusal, bad_request
from bot.simulator.server.webhook import Webhook
from bot.simulator.telegram import Telegram


def _from_text(value: object) -> object:
    """Decodes objects and lists, which are JSON text in forms and query strings."""
    if isinstance(value, str) and value.strip():
        try:
            return json.loads(value)
        except ValueError:
            raise ValueError("can't parse JSON object") from None
    return None if value == "" else value


def _leading_digits(value: object) -> int:
    """A number as Telegram reads it from a form: its leading digits, or 0 for anything else, such as "None"."""
    digits = re.match(r"\s*-?\d+", str(value))
    return int(digits[0]) if digits else 0


Number = Annotated[int, BeforeValidator(_leading_digits)]
JsonObject = Annotated[dict[str, Any] | None, BeforeValidator(_from_text)]
JsonObjects = Annotated[list[dict[str, Any]] | None, BeforeValidator(_from_text)]
JsonList = Annotated[list[Any] | None, BeforeValidator(_from_text)]
Strings = Annotated[list[str] | None, BeforeValidator(_from_text)]
Numbers = Annotated[list[int] | None, BeforeValidator(_from_text)]
ChatId = int | str | None


class Parameters(BaseModel):
    """Parameters of a call, from JSON or from text fields; unknown ones are ignored, as by Telegram."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


@dataclass
class Upload:
    """A file that came in a multipart body."""

    name: str
    mime: str
    content: bytes


@dataclass
class MethodCall:
    """The context of a method: the Telegram, the webhook, and the files of this request."""

    telegram: Telegram
    webhook: Webhook
    uploads: dict[str, Upload]


P = TypeVar("P", bound=Parameters)
Handler = Callable[[MethodCall, P], Awaitable[Any]]


@dataclass(frozen=True)
class Method:
    """One method; `answer` returns the `result` of the Bot API answer or raises ApiRefusal."""

    name: str
    parameters: type[Parameters]
    handler: Handler[Any]

    async def answer(self, call: MethodCall, values: Json) -> Any:
        try:
            parameters = self.parameters.model_validate(values)
        except ValidationError as error:
            raise _refusal(error) from None
        return await self.handler(call, parameters)


METHODS: dict[str, Method] = {}


def method(name: str, parameters: type[P]) -> Callable[[Handler[P]], Handler[P]]:
    """Registers the decorated coroutine as the Bot API method `name`."""

    def register(handler: Handler[P]) -> Handler[P]:
        METHODS[name.lower()] = Method(name, parameters, handler)
        return handler

    return register


def _refusal(error: ValidationError) -> ApiRefusal:
    fault = error.errors(include_input=False, include_url=False)[0]
    field = str(fault["loc"][0]) if fault["loc"] else "request"
    reason = str(fault["msg"]).removeprefix("Value error, ")
    return bad_request(f'invalid value of parameter "{field}": {reason}')
