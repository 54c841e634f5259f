"""Words in pictures are read in the alphabet in which they are written."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageDraw, ImageFont

from internal.access.model import Language
from internal.artifacts.media.text_in_pictures import languages, text_in

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"


def drawn(words: str) -> bytes:
    picture = Image.new("RGB", (900, 120), "#204060")
    ImageDraw.Draw(picture).text((20, 15), words, fill="#ffe0a0", font=ImageFont.truetype(FONT, 40))
    jpeg = io.BytesIO()
    picture.save(jpeg, "JPEG", quality=70)
    return jpeg.getvalue()


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("uk", "ВХІД ЧЕРЕЗ ПОДВІР'Я"),
        ("uk", "РЕСТОРАН"),
        ("uk", "METRO"),
        ("ru", "РОСА"),
        ("ru", "Мост Пешеходный"),
        ("ru", "Wi-Fi пароль: kestrel77"),
        ("ru", "OPEN"),
        ("en", "CLOSED ON MONDAY"),
        ("en", "Menu"),
        ("en", "КАВА ТА ЧАЙ"),
    ],
)
async def test_words_are_read_in_their_own_alphabet(lang: Language, words: str) -> None:
    """Those of the owner's language and others, alone and mixed; needs tesseract with its three languages."""
    assert languages() == "ukr+rus+eng"
    assert await text_in(drawn(words), lang) == words
