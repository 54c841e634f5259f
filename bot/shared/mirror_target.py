"""The address of the configured mirror of the graph, without secrets."""

from typing import Final
from urllib.parse import urlsplit

from internal.config.settings import GraphConfig


def target_of(config: GraphConfig) -> str:
    """The configured mirror's address without its password, which also names its cursors; empty if there is none."""
    url = config.mirror_url
    if not url or url.startswith(EMBEDDED):
        return url
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


EMBEDDED: Final = "falkor+embedded://"
