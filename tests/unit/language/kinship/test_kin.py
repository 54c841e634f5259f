"""Relations between people: their words, what follows from them, and questions that go by them, in three languages."""

from __future__ import annotations

import pytest

from internal.language.facts.kin_questions import Ties, kin_lines, people_of_chain
from internal.language.kinship.chains import KinMap, StatedTie, tie_words
from internal.language.kinship.kinds import Kin, composed, kin_of_label, kin_of_relation, kin_of_word, kin_word
from internal.language.names.mentions import find_people
from internal.language.text.spelling import Language
from internal.language.text.tables import table

KINDS = [row[0] for row in table("internal.language.kinship", "kinds")["kinds"]]
SHOWN = {"m": "Маша", "c": "Коля", "i": "Игорь", "p": "Пётр Сидоров", "s": "Светлана", "n": "Нина", "mm": "Ольга"}


def word(text: str) -> Kin:
    kin = kin_of_word(text)
    assert kin is not None
    return kin


TIES = Ties(
    "owner",
    {node: [name] for node, name in SHOWN.items()},
    [
        StatedTie("m", word("сестра"), "owner"),
        StatedTie("c", word("сын"), "m"),
        StatedTie("i", Kin("spouse"), "m"),
        StatedTie("p", word("начальник"), "owner"),
        StatedTie("s", Kin("spouse"), "p"),
        StatedTie("mm", word("мама"), "owner"),
        StatedTie("n", word("mother"), "mm"),
    ],
)


@pytest.mark.parametrize(
    ("words", "node"),
    [
        ("моя сестра", "m"), ("my sister", "m"), ("моєї сестри", "m"),
        ("my sister's husband", "i"), ("сестрин муж", "i"), ("чоловік моєї сестри", "i"),
        ("мамина мама", "n"), ("бабуся", "n"), ("my boss's wife", "s"),
        ("my sister's daughter", None), ("мамин брат", None), ("брат", None), ("Маша", None),
    ],
)  # fmt: skip
def test_people_are_called_by_relations_in_any_language(words: str, node: str | None) -> None:
    """A possessive adjective is a step of the chain too; nobody is meant by half of a chain."""
    assert (people_of_chain(words, TIES) or [None]) == [node]


def test_the_sum_of_a_chain_stands_for_one_whose_middle_is_unknown() -> None:
    """The mother is nobody's profile, and still her brother is the uncle."""
    ties = Ties("owner", {"u": ["Stepan"]}, [StatedTie("u", word("uncle"), "owner")])
    assert people_of_chain("мамин брат", ties) == people_of_chain("my mother's brother", ties) == ["u"]
    assert people_of_chain("мамина сестра", ties) == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_words_in_three_languages_and_an_inverse(kind: str) -> None:
    """Each shown word is read back as the kind, and the inverse of the inverse is the kind itself."""
    for gender in ("masc", "femn", None):
        kin = Kin(kind, gender)  # type: ignore[arg-type] # a closed list
        assert kin.inverse in KINDS
        assert Kin(kin.inverse).inverse == kind
        languages: tuple[Language, ...] = ("en", "ru", "uk")
        for language in languages:
            assert kin_word(kin, language), (kin, language)
        assert kin_of_relation(kin.relation) is not None


def test_rules_speak_of_known_kinds() -> None:
    """A rule with a slip of the pen would never apply."""
    rules = [
        rule.replace(" of ", " ").replace(" = ", " ").split()
        for rule in table("internal.language.kinship", "kinds")["rules"]
    ]
    assert {kind for rule in rules for kind in rule} <= set(KINDS)
    assert composed("child", "sibling") == "niece-or-nephew"
    assert composed("spouse", "boss") is None


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("_$!<Sister>!$_", "sibling"),
        ("Domestic Partner", "partner"),
        ("мама", "parent"),
        ("Step sister", "step-sibling"),
    ],
)
def test_labels_of_address_books_are_relations(label: str, kind: str) -> None:
    """Apple's marks, words with blanks and other languages; a word of another kind is none."""
    kin = kin_of_label(label)
    assert kin is not None
    assert kin.kind == kind
    assert kin_of_label("assistant to nobody") is None


def test_a_relation_says_which_end_is_it() -> None:
    """Models name a relation from either end."""
    assert kin_of_relation("HAS_SISTER") == (Kin("sibling", "femn"), "target")
    assert kin_of_relation("IS_BOSS_OF") == (Kin("boss"), "source")
    assert kin_of_relation("LIVES_IN") is None


def test_what_follows_is_shown_with_its_chain() -> None:
    """A sister's son is a nephew, a boss's wife is only that; in each language with its gender."""
    ties = TIES.map().ties("owner")
    said = {lang: {node: tie_words(tie, SHOWN, lang) for node, tie in ties.items()} for lang in ("ru", "uk", "en")}  # type: ignore[arg-type]
    assert said["ru"]["c"] == "племянник (сестра Маша → сын)"
    assert said["uk"]["c"] == "племінник (сестра Маша → син)"
    assert said["en"]["n"] == "grandmother (mother Ольга → mother)"
    assert said["ru"]["s"] == "начальник Пётр Сидоров → жена"
    assert said["ru"]["m"] == "сестра"
    assert not ties["m"].inferred
    assert ties["c"].inferred


def test_words_for_a_spouses_family_depend_on_the_spouse() -> None:
    """His mother is свекровь, hers тёща."""
    for spouse, mother in (("жена", "тёща (жена → мама)"), ("муж", "свекровь (муж → мама)")):
        kin = KinMap([StatedTie("s", word(spouse), "o"), StatedTie("m", word("мама"), "s")])
        assert tie_words(kin.ties("o")["m"], {}, "ru") == mother


@pytest.mark.parametrize(
    ("language", "question", "answer"),
    [
        ("ru", "Кто муж моей сестры?", ["Игорь — зять (сестра Маша → муж)"]),
        ("ru", "как зовут сына моей сестры", ["Коля — племянник (сестра Маша → сын)"]),
        ("ru", "Как у моей сестры мужа зовут?", ["Игорь — зять (сестра Маша → муж)"]),
        ("ru", "Кто жена начальника?", ["Светлана — начальник Пётр Сидоров → жена"]),
        ("ru", "Кто муж Маши?", ["Игорь — Маша → муж"]),
        ("ru", "Кем мне приходится Коля?", ["Коля — племянник (сестра Маша → сын)"]),
        ("uk", "Хто чоловік моєї сестри?", ["Игорь — зять (сестра Маша → чоловік)"]),
        ("uk", "Як звати мого племінника?", ["Коля — племінник (сестра Маша → син)"]),
        ("en", "Who is my sister's son?", ["Коля — nephew (sister Маша → son)"]),
        ("en", "What's the name of the son of my sister?", ["Коля — nephew (sister Маша → son)"]),
        ("en", "Who is my mom's mom?", ["Нина — grandmother (mother Ольга → mother)"]),
        ("ru", "а Коля мне тогда кто", ["Коля — племянник (сестра Маша → сын)"]),
        ("uk", "Коля мені хто?", ["Коля — племінник (сестра Маша → син)"]),
        ("en", "remind me what Коля is to me", ["Коля — nephew (sister Маша → son)"]),
        ("ru", "Кто моя тётя?", []),
        ("ru", "Кто такой Игорь?", []),
    ],
)
def test_questions_by_a_relation_are_answered_from_the_map(
    language: Language, question: str, answer: list[str]
) -> None:
    """Also where the relation was never stated; a question of another kind gets nothing."""
    assert kin_lines(question, TIES, language) == answer


def test_what_somebody_has_is_not_called_as_he_is() -> None:
    """The cat of a mother is no mother; her husband is one."""
    assert [one.role for one in find_people("У моей бабушки пёс Байкал", "ru")] in ([], [None])
    assert find_people("у сестры муж Олег", "ru")[0].kin
