"""Russian and Ukrainian in Latin letters are read, whatever the spelling; English is left as it is."""

from __future__ import annotations

import pytest

from internal.language.search.transliteration import may_be_latin, read_latin


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Gde ya ostavil klyuchi ot mashiny?", "Где я оставил ключи от машины?"),
        ("Gde ja ostavil kluchi?", "Где я оставил ключи?"),
        ("kogda Nastya pereehala k Ruslanu", "когда Настя переехала к Руслану"),
        ("Kogda Nastia pereyekhala k Ruslanu?", "Когда Настя переехала к Руслану?"),
        ("4to zhdet menya na rabote", "что ждёт меня на работе"),
        ("skolko stoila escho odna loshad'?", "сколько стоила ещё одна лошадь?"),
        ("skol'ko stoila eshchyo odna loshad?", "сколько стоила ещё одна лошадь?"),
        ("Yak zvaly sobaku Oksany?", "Як звали собаку Оксани?"),
        ("Shcho Taras kupyv u Kyievi?", "Що Тарас купив у Києві?"),
        ("chto on skazal pro iPhone", "что он сказал про iPhone"),
        ("kak dela", "как дела"),
    ],
)
def test_a_question_is_read_however_it_is_spelt(written: str, read: str) -> None:
    """Soft signs may be missing, letters are written in several ways, and foreign names stay."""
    assert read_latin(written) == read


@pytest.mark.parametrize(
    "text",
    [
        "Where is my son?",
        "When did Maria get in a car accident?",
        "Has Dmitri led a settled life up to now?",
        "Oslo hotel",
        "on my way",
        "Tom",
        "doctor",
        "Где мой iPhone?",
        "",
        "?!",
        "a" * 5_000,
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    """Also where single words could be read: "hotel" is written like "хотел"."""
    assert read_latin(text) == text


def test_most_texts_need_no_dictionary() -> None:
    """English is told by its function words, everything in Cyrillic by its letters: nothing is asked of a process."""
    for text in ("Where does Tom live?", "Где живёт Том?", "what did I say about the flat", "Привіт, це я"):
        assert not may_be_latin(text)
    assert may_be_latin("gde zhivet Tom?")
