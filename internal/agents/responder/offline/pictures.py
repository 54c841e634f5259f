"""Questions about a picture, or about what a file says: words that name only the medium are no subject."""

import re
from typing import Final

from internal.agents.model import ResponderRequest
from internal.agents.responder.offline.intent import intent_of
from internal.language.search.terms import terms_in, topic_terms
from internal.language.text.spelling import with_signs, without_attachments, words

_PICTURES: Final = words(
    "photo picture image screenshot pic snapshot фото фотка фотография картинка изображение снимок скриншот скрин "
    "фотографія світлина зображення знімок"
)
_READING: Final = words(
    "see show read write written text word say depict видеть видно написать написано изобразить изображено показать "
    "показано прочитать читать сказать сказано текст слово написати зобразити зображено показати прочитати сказати "
    "бачити"
)
_FILES: Final = _PICTURES | words("file document pdf файл документ")

_SHOWN: Final = re.compile(r"^\[photo\] ?(?P<words>.*)", re.MULTILINE | re.DOTALL)


def subjects_of_file(meant: list[set[str]]) -> list[set[str]]:
    """The terms of a question, those left out that name a file or picture and its being read, if others remain."""
    if not any(word & _FILES for word in meant):
        return meant
    return [word for word in meant if not word & (_FILES | _READING)] or meant


def in_last_picture(said: str, request: ResponderRequest) -> str | None:
    """What was read or seen in the dialogue's last picture, "" for nothing.

    None where there is none, or where a question asks for something else than what is in it.
    """
    meant = [{term for term, _ in word} for word in topic_terms(said)]
    if not any(word & _PICTURES for word in meant) or not all(word & (_PICTURES | _READING) for word in meant):
        return None
    shown = [match for line in request.dialogue if line.role == "user" for match in _SHOWN.finditer(line.text)]
    return shown[-1]["words"].removeprefix("| ").strip() if shown else None


def without_question(text: str) -> str:
    """A line without the question beside its picture: what was read or seen there states something all the same."""
    match = _SHOWN.search(text)
    if match is None or intent_of(text[: match.start()]).wish != "question":
        return text
    return match.group() if match["words"].strip("| ") else ""


def answering_picture(said: str, text: str) -> str:
    """What was read or seen in a line's picture, if more words of a question stand there than beside it; else ""."""
    match = _SHOWN.search(text)
    shown = match["words"].removeprefix("| ").strip() if match else ""
    asked = {term for word in topic_terms(said) for term, _ in word}
    return with_signs(shown) if shown and _shared(asked, shown) > _shared(asked, without_attachments(text)) else ""


def _shared(asked: set[str], text: str) -> int:
    return len(asked & terms_in(text))
