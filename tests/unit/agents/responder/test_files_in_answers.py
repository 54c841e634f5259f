"""Without a model, questions about a picture and about a file are answered with the words in it, and no others."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from internal.access.model import Language
from internal.agents.model import DialogueLine, OwnerProfile, PassageLine, RecalledPassage, ResponderRequest
from internal.agents.responder.offline.agent import compose

NOW = datetime(2026, 3, 16, 12, tzinfo=UTC)
TRIP = """Trip plan for June.

Hotel: Grand Palace, check-in on 12 June after 14:00. Breakfast is included and served until 10.

Luggage allowance
23 kg for each of us

Rental car: a red Fiat, the deposit is 300 euro."""


def answer(lang: Language, question: str, *said: str, file: str = "", passages: Sequence[RecalledPassage] = ()) -> str:
    line = PassageLine(NOW, "trip.txt", file, "other")
    told = [one for text in said for one in (DialogueLine("user", text, at=NOW), DialogueLine("assistant", "…"))]
    return compose(
        ResponderRequest(
            owner=OwnerProfile(1, "Owner", None, lang, "UTC"),
            persona_name="Laplaced",
            persona_tone="",
            inner_circle=(),
            relevant_people=(),
            dialogue=[*told, DialogueLine("user", question, at=NOW)],
            now=NOW,
            query=question,
            passages=[RecalledPassage(1, "episode", "e1", [line])] if file else passages,
        )
    )


@pytest.mark.parametrize(
    ("lang", "question", "read", "nothing"),
    [
        ("en", "what's on the photo?", "In the picture: “BUY MILK 42”", "no words in that one"),
        ("en", "Can you read what the screenshot says?", "In the picture: “BUY MILK 42”", "no words in that one"),
        ("ru", "что написано на картинке?", "На картинке: «BUY MILK 42»", "слов на этой не нашлось"),
        ("ru", "Прочитай, что на скриншоте", "На картинке: «BUY MILK 42»", "слов на этой не нашлось"),
        ("uk", "Що на світлині?", "На картинці: «BUY MILK 42»", "слів на цій не знайшлося"),
    ],
)
def test_the_words_in_a_picture_are_quoted(lang: Language, question: str, read: str, nothing: str) -> None:
    """Of the last picture; one without words has an honest line."""
    said = ("[photo] | OLD ONE", "Look at this\n[photo] | BUY MILK 42")
    assert answer(lang, question, *said).startswith(read)
    assert nothing in answer(lang, question, *said, "[photo]")


def test_another_question_with_the_word_photo_is_not_about_the_picture() -> None:
    """What somebody did with a photo does not stand in it."""
    assert "BUY MILK" not in answer("en", "Did Anna get the photo from Tom?", "[photo] | BUY MILK 42")


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Is breakfast included?", "“… Breakfast is included and served until 10.”"),
        ("what does the file say about the hotel?", "“… Hotel: Grand Palace, check-in on 12 June after 14:00.”"),
        ("What is the luggage allowance?", "“… Luggage allowance 23 kg for each of us”"),
    ],
)
def test_only_the_passage_that_answers_is_quoted(question: str, said: str) -> None:
    """However short the file is; a heading leads to what stands below it."""
    assert said in answer("en", question, file=TRIP)


@pytest.mark.parametrize(
    ("lang", "text", "question", "said"),
    [
        (
            "en",
            "our new bakery\n[photo] | Poppy / open from 7 to 19",
            "When is Poppy open?",
            "In a picture of 2026-03-14: “Poppy / open",
        ),
        (
            "ru",
            "[photo] | Пекарня Мак / открыта с 7",
            "Когда открыта пекарня?",
            "На картинке от 2026-03-14: «Пекарня Мак",
        ),
        (
            "uk",
            "[photo] | Пекарня Мак / відчинена з 7",
            "Коли відчинена пекарня?",
            "На картинці від 2026-03-14: «Пекарня",
        ),
        (
            "en",
            "Poppy is open till eight\n[photo] | Bread",
            "When is Poppy open?",
            "You wrote on 2026-03-14: “Poppy is open",
        ),
    ],
)
def test_words_in_a_picture_are_not_quoted_as_the_owners(lang: Language, text: str, question: str, said: str) -> None:
    """A day later the answer says where they stood."""
    line = PassageLine(NOW - timedelta(days=2), "Owner", text, "own", found=True)
    assert answer(lang, question, passages=[RecalledPassage(1, "message", "m", [line])]).startswith(said)


@pytest.mark.parametrize(
    ("lang", "text", "later", "words"),
    [
        ("en", "Which zone is the permit for?\n[photo] | PARKING PERMIT 77 ZONE B", "What number has my permit?", "77"),
        ("ru", "До скольки открыто кафе?\n[photo] | Кафе Мак с 9 до 21", "Как называется кафе?", "Кафе Мак"),
        ("uk", "Скільки коштує вхід?\n[photo] | Вхід до саду 40 гривень", "Куди вхід за 40?", "Вхід до саду"),
    ],
)
def test_a_question_beside_a_picture_hides_no_words_in_it(lang: Language, text: str, later: str, words: str) -> None:
    """They answer that question and later ones; without words there is nothing to quote."""
    assert f"🖼 {text.partition(' | ')[2]}" in answer(lang, text)
    assert words in answer(lang, later, text)
    line = PassageLine(NOW - timedelta(days=2), "Owner", text, "own", found=True)
    assert words in answer(lang, later, passages=[RecalledPassage(1, "message", "m", [line])])
    assert "🖼" not in answer(lang, text.partition(" | ")[0])


def test_what_a_member_of_a_group_said_today_is_his() -> None:
    """An answer names the speaker: to whoever asks, "I" in a quotation would be somebody else."""
    said = DialogueLine("user", "Я працюю в Розетці", {"speaker": "Тарас Бульба"}, NOW)
    asked = DialogueLine("user", "де працює Тарас?", {"speaker": "Олена"}, NOW)
    owner = OwnerProfile(-5, "Дача", None, "uk", "UTC")
    request = ResponderRequest(owner, "Laplaced", "", (), (), [said, DialogueLine("assistant", "…"), asked], NOW)
    assert compose(request).startswith("Тарас Бульба, 2026-03-16: «Я працюю в Розетці»")
