"""Prepares pictures for models: small enough, turned as the camera says, without the camera's data about the place."""

import asyncio
import base64
import io
from typing import Final

from PIL import Image, ImageOps

LONGEST_SIDE: Final = 1280
"""Most pixels of a side. More costs tokens and shows hardly more: providers scale larger pictures down."""

MOST_PIXELS: Final = 50_000_000
"""Most pixels of a picture, which take 150 MB of memory; cameras of phones make up to 50 million."""


class NoPicture(Exception):
    """The bytes are no picture that can be opened, or one of too many pixels."""


async def small_jpeg(content: bytes) -> bytes:
    """The picture as a JPEG of at most LONGEST_SIDE pixels a side. Raises NoPicture."""
    return await asyncio.to_thread(_small_jpeg, content)


def data_url(jpeg: bytes) -> str:
    """The picture as a `data:` URL, the form in which models get pictures."""
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"


def _small_jpeg(content: bytes) -> bytes:
    try:
        with Image.open(io.BytesIO(content)) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise NoPicture
            picture.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))  # a JPEG is decoded at a fraction of its size
            turned = ImageOps.exif_transpose(picture)
            turned.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            flat = _without_transparency(turned)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise NoPicture from error
    written = io.BytesIO()
    flat.save(written, "JPEG", quality=85)
    return written.getvalue()


def _without_transparency(picture: Image.Image) -> Image.Image:
    """Puts the picture on white: a drawing on a transparent ground would be black on black."""
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    ground = Image.new("RGB", picture.size, "white")
    ground.paste(picture, mask=picture.convert("RGBA").getchannel("A"))
    return ground
