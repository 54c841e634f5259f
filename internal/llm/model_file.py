"""A model file for the extra `local`: a path on this machine, or a file of a model hub, which is downloaded once."""

import asyncio
import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpx

from internal.certificates import ssl_context
from internal.errors import ConfigurationError, LaplacedError
from internal.llm import transport

HUB: Final = "https://huggingface.co"
"""The hub of model files, unless the hub's variable HF_ENDPOINT names a mirror."""

_OF_A_HUB = re.compile(r"([\w.-]+/[\w.-]+)/([\w./-]+\.gguf)")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CONNECT_S, _SILENT_S = 15.0, 60.0
_ATTEMPTS: Final = 5
"""The number of times that a broken download is continued."""

Progress = Callable[[int, int], None]
"""Called with the number of downloaded bytes and of all bytes (0: unknown)."""


class DownloadFailed(LaplacedError):
    """The model file could not be downloaded."""


async def model_file(named: str, folder: Path, progress: Progress) -> Path:
    """The file of `llm.local`: a path, or OWNER/REPO/FILE.gguf of the hub, kept in `folder`.

    Raises ConfigurationError for other names, and DownloadFailed; a partial download is kept and continued later.
    """
    path = await asyncio.to_thread(Path(named).expanduser)
    if await asyncio.to_thread(path.is_file):
        return path
    found = _OF_A_HUB.fullmatch(named)
    if found is None:
        raise ConfigurationError(f"llm.local: there is no file {named}, and it is no OWNER/REPO/FILE.gguf of a hub")
    target = folder / named
    if not await asyncio.to_thread(target.is_file):
        await asyncio.to_thread(target.parent.mkdir, parents=True, exist_ok=True)
        url = f"{os.environ.get('HF_ENDPOINT', HUB).rstrip('/')}/{found[1]}/resolve/main/{found[2]}"
        await _download(url, target, progress)
    return target


async def _download(url: str, target: Path, progress: Progress) -> None:
    part = target.with_name(f"{target.name}.part")
    local = httpx.URL(url).host in {"127.0.0.1", "localhost"}
    if not (transport.ALLOW_MODEL_REQUESTS or local):
        raise transport.ModelRequestsForbidden
    async with httpx.AsyncClient(
        timeout=httpx.Timeout(_SILENT_S, connect=_CONNECT_S), trust_env=not local, verify=ssl_context(url)
    ) as client:
        wanted = ""
        for attempt in range(_ATTEMPTS):
            try:
                wanted = await _go_on(client, url, part, progress)
                break
            except httpx.HTTPError as error:
                if attempt == _ATTEMPTS - 1:
                    raise DownloadFailed(f"{target.name}: the download broke ({type(error).__name__})") from None
    if wanted and await asyncio.to_thread(_sha256, part) != wanted:
        part.unlink()
        raise DownloadFailed(f"{target.name}: what was downloaded has another checksum than the hub says")
    part.replace(target)


async def _go_on(client: httpx.AsyncClient, url: str, part: Path, progress: Progress) -> str:
    """Downloads the missing rest of a file. Returns the SHA-256 that the hub reports, or nothing.

    The hub reports it in the answer that redirects to the file, and so is asked first.
    """
    head = await client.head(url)
    if head.status_code >= 400:
        raise DownloadFailed(f"{url}: the hub answered {head.status_code}")
    said = (head.headers.get("X-Linked-Etag") or head.headers.get("ETag", "")).strip('W/"')
    whole = int(head.headers.get("X-Linked-Size", 0))
    there = _size(part)
    if there and there == whole:
        return said if _SHA256.fullmatch(said) else ""
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={there}-"} if there else {})
    async with client.stream("GET", url, headers=headers, follow_redirects=True) as answer:
        if answer.status_code == 416:  # the part is longer than the hub's file, which is another one by now
            os.unlink(part)
            raise httpx.ReadError("begun again")
        if answer.status_code >= 400:
            raise DownloadFailed(f"{url}: the hub answered {answer.status_code}")
        there = there if answer.status_code == 206 else 0
        whole = whole or there + int(answer.headers.get("Content-Length", 0))
        with part.open("ab" if there else "wb") as file:
            async for piece in answer.aiter_bytes():
                file.write(piece)
                progress(there := there + len(piece), whole)
    return said if _SHA256.fullmatch(said) else ""


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
