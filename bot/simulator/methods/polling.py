"""The methods by which the bot gets its updates, and its own account."""

import re
from urllib.parse import urlsplit

from bot.simulator.methods.registry import MethodCall, Parameters, Strings, method
from bot.simulator.repository import Json
from bot.simulator.server.errors import bad_request, conflict
from bot.simulator.updates import MAX_LIMIT, MAX_TIMEOUT

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_WEBHOOK_PORTS = frozenset({80, 88, 443, 8443})


class NoParameters(Parameters):
    pass


class GetUpdates(Parameters):
    offset: int = 0
    limit: int = MAX_LIMIT
    timeout: float = 0
    allowed_updates: Strings = None


class SetWebhook(Parameters):
    url: str = ""
    secret_token: str = ""
    max_connections: int = 40
    allowed_updates: Strings = None
    drop_pending_updates: bool = False
    ip_address: str = ""


class DeleteWebhook(Parameters):
    drop_pending_updates: bool = False


@method("getMe", NoParameters)
async def get_me(call: MethodCall, wanted: NoParameters) -> Json:
    abilities = {"can_join_groups": True, "can_read_all_group_messages": False, "supports_inline_queries": True}
    return {**call.telegram.bot, **abilities, "can_connect_to_business": False, "has_main_web_app": False}


@method("getUpdates", GetUpdates)
async def get_updates(call: MethodCall, wanted: GetUpdates) -> list[Json]:
    if call.webhook.active:
        raise conflict(
            "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
        )
    _allow(call, wanted.allowed_updates)
    limit = wanted.limit if 1 <= wanted.limit <= MAX_LIMIT else MAX_LIMIT
    return await call.telegram.updates.poll(wanted.offset, limit, min(max(wanted.timeout, 0), MAX_TIMEOUT))


def _allow(call: MethodCall, kinds: list[str] | None) -> None:
    """Stores the wanted kinds of updates: None keeps the earlier choice, an empty list means the default kinds."""
    if kinds is not None and kinds != call.telegram.repository.setting("allowed_updates", []):
        call.telegram.repository.set_setting("allowed_updates", kinds)


@method("setWebhook", SetWebhook)
async def set_webhook(call: MethodCall, wanted: SetWebhook) -> bool:
    if not wanted.url:
        return _remove_webhook(call, wanted.drop_pending_updates)
    _check_webhook(wanted)
    _allow(call, wanted.allowed_updates)
    if wanted.drop_pending_updates:
        call.telegram.repository.forget_all_updates()
    call.telegram.updates.terminate_poll("terminated by setWebhook request")
    call.webhook.set(wanted.url, wanted.secret_token, max(1, min(wanted.max_connections, 100)))
    return True


def _check_webhook(wanted: SetWebhook) -> None:
    """Checks a webhook by Telegram's rules; an address of this machine may use http and any port."""
    try:
        parts = urlsplit(wanted.url)
        port = parts.port or 443
    except ValueError:
        raise bad_request("bad webhook: invalid URL") from None
    here = parts.hostname in _LOOPBACK and parts.scheme == "http"
    if not parts.hostname or (parts.scheme != "https" and not here):
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    if port not in _WEBHOOK_PORTS and parts.hostname not in _LOOPBACK:
        raise bad_request("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
    if wanted.secret_token and not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", wanted.secret_token):
        long = len(wanted.secret_token) > 256
        raise bad_request("secret token is too long" if long else "secret token contains unallowed characters")


@method("deleteWebhook", DeleteWebhook)
async def delete_webhook(call: MethodCall, wanted: DeleteWebhook) -> bool:
    return _remove_webhook(call, wanted.drop_pending_updates)


def _remove_webhook(call: MethodCall, drop_pending_updates: bool) -> bool:
    if drop_pending_updates:
        call.telegram.repository.forget_all_updates()
    call.webhook.remove()
    return True


@method("getWebhookInfo", NoParameters)
async def get_webhook_info(call: MethodCall, wanted: NoParameters) -> Json:
    allowed = call.telegram.repository.setting("allowed_updates", [])
    return {**call.webhook.state(), **({"allowed_updates": allowed} if allowed else {})}


@method("close", NoParameters)
async def close(call: MethodCall, wanted: NoParameters) -> bool:
    return True


@method("logOut", NoParameters)
async def log_out(call: MethodCall, wanted: NoParameters) -> bool:
    return True
