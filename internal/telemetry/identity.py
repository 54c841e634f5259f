"""Ids of users and people in metric labels: raw, hashed, or left out, up to a limit of ids."""

import hashlib
import hmac

from internal.config.settings import MetricsConfig

OTHER = "other"
HASH_LENGTH = 16
"""Hex digits: 64 bits keep thousands of ids apart."""


class Identities:
    """The labels of one kind of id. `key` salts the hash, because all Telegram ids could be tried out."""

    def __init__(self, config: MetricsConfig, key: str) -> None:
        self._config = config
        self._key = key.encode()
        self._labels: dict[int, str] = {}

    def label(self, identity: int) -> str:
        """The id's label; `other` once `max_identities` ids have one, and empty when identities are off."""
        if self._config.identity == "off":
            return ""
        known = self._labels.get(identity)
        if known is None and len(self._labels) < self._config.max_identities:
            known = self._labels[identity] = self._write(identity)
        return OTHER if known is None else known

    def _write(self, identity: int) -> str:
        if self._config.identity == "raw":
            return str(identity)
        return hmac.new(self._key, str(identity).encode(), hashlib.sha256).hexdigest()[:HASH_LENGTH]
