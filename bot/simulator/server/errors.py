"""Error answers of the Bot API: one exception, and the refusals in Telegram's own words."""

from typing import Any


class ApiRefusal(Exception):
    """A Bot API error answer: HTTP status `code`, Telegram's `description` and optional `parameters`."""

    def __init__(self, code: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters

    def body(self) -> dict[str, Any]:
        """The JSON object that Telegram sends."""
        answer: dict[str, Any] = {"ok": False, "error_code": self.code, "description": self.description}
        if self.parameters:
            answer["parameters"] = self.parameters
        return answer


def bad_request(reason: str) -> ApiRefusal:
    return ApiRefusal(400, f"Bad Request: {reason}")


def too_many_requests(retry_after: int) -> ApiRefusal:
    return ApiRefusal(429, f"Too Many Requests: retry after {retry_after}", retry_after=retry_after)


def upgraded(chat_id: int) -> ApiRefusal:
    return ApiRefusal(400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=chat_id)


def unauthorized() -> ApiRefusal:
    return ApiRefusal(401, "Unauthorized")


def method_not_found() -> ApiRefusal:
    return ApiRefusal(404, "Not Found: method not found")


def blocked() -> ApiRefusal:
    return ApiRefusal(403, "Forbidden: bot was blocked by the user")


def kicked(chat_type: str) -> ApiRefusal:
    return ApiRefusal(403, f"Forbidden: bot was kicked from the {chat_type} chat")


def conflict(reason: str) -> ApiRefusal:
    return ApiRefusal(409, f"Conflict: {reason}")
