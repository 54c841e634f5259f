"""Who is what to whom, as the offline archivist reads it beside names, in three languages."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from support.agents.offline_cases import request_of

from internal.agents.archivist.offline.agent import propose
from internal.agents.archivist.output import parse
from internal.language.kinship.kinds import kin_of_relation


def relations(lang: str, *said: str) -> list[tuple[str, str, str]]:
    request = request_of({"lang": lang, "say": list(said)})
    reply = parse(propose(request), request.transcript, set())
    assert reply.refused == ()
    return [(one.source, one.relation, one.target) for one in reply.facts if kin_of_relation(one.relation)]


@pytest.mark.parametrize(
    ("lang", "said", "stated"),
    [
        ("ru", ["Моя сестра Маша замужем за Игорем"], ["Маша SISTER_OF owner", "Игорь MARRIED_TO Маша"]),
        ("ru", ["Моя сестра Маша", "У Маши есть сын Коля"], ["Маша SISTER_OF owner", "Коля SON_OF Маша"]),
        ("ru", ["Моя сестра Маша тут", "Сына моей сестры зовут Коля"], ["Маша SISTER_OF owner", "Коля SON_OF Маша"]),
        ("ru", ["Моя жена Катя", "Маму Кати зовут Тамара"], ["Катя MARRIED_TO owner", "Тамара MOTHER_OF Катя"]),
        ("ru", ["Мой босс Пётр", "Жену Петра зовут Светлана"], ["Пётр BOSS_OF owner", "Светлана MARRIED_TO Пётр"]),
        ("ru", ["Сына моей сестры зовут Коля"], ["Коля NEPHEW_OF owner"]),
        ("ru", ["Мой шеф Пётр Котов", "Жена Петра — Ира"], ["Пётр Котов BOSS_OF owner", "Ира MARRIED_TO Пётр Котов"]),
        ("uk", ["Назар, чоловік мій, поїхав до своєї мами Стефи"], ["Назар MARRIED_TO owner", "Стефа MOTHER_OF Назар"]),
        ("ru", ["жена моя, Оля, у своего отца Фёдора"], ["Оля MARRIED_TO owner", "Фёдор FATHER_OF Оля"]),
        ("ru", ["позвонил своей маме Нине"], ["Нина MOTHER_OF owner"]),
        ("uk", ["Мою маму звати Ольга"], ["Ольга MOTHER_OF owner"]),
        ("uk", ["Сусід Василь знову шумить"], ["Василь NEIGHBOUR_OF owner"]),
        ("uk", ["Моя сестра Надія одружена з Тарасом"], ["Надія SISTER_OF owner", "Тарас MARRIED_TO Надія"]),
        ("en", ["My sister Anna", "Anna's son Leo started school"], ["Anna SISTER_OF owner", "Leo SON_OF Anna"]),
        ("en", ["My boss is David", "David's wife Rachel"], ["David BOSS_OF owner", "Rachel MARRIED_TO David"]),
        ("ru", ["Моя сестра Катя живёт с мужем Андреем"], ["Катя SISTER_OF owner", "Андрей MARRIED_TO Катя"]),
        ("uk", ["Моя сестра Надія живе з чоловіком Тарасом"], ["Надія SISTER_OF owner", "Тарас MARRIED_TO Надія"]),
        ("en", ["My sister Kate lives here, they have a son Mark"], ["Kate SISTER_OF owner"]),
        ("ru", ["Живу с мужем Андреем"], ["Андрей MARRIED_TO owner"]),
        ("en", ["My ex-husband Mark called"], ["Mark EX_HUSBAND_OF owner"]),
        ("en", ["I'm dating Sam Brown"], ["Sam Brown PARTNER_OF owner"]),
        ("uk", ["Чоловік моєї сестри, Роман, працює пожежником"], ["Роман SIBLING_SPOUSE_OF owner"]),
        ("ru", ["Муж сестры, Роман, пожарный"], ["Роман SIBLING_SPOUSE_OF owner"]),
        ("en", ["My sister's husband, Roman, is a firefighter"], ["Roman SIBLING_SPOUSE_OF owner"]),
        ("en", ["The husband of my sister, Roman, came"], ["Roman SIBLING_SPOUSE_OF owner"]),
        ("uk", ["Мій брат Орест", "Дочка Ореста, Настя, хвора"], ["Орест BROTHER_OF owner", "Настя DAUGHTER_OF Орест"]),
        ("en", ["My brother Owen", "Owen's daughter, Mia, got in"], ["Owen BROTHER_OF owner", "Mia DAUGHTER_OF Owen"]),
        ("ru", ["Мамин брат Олег приехал"], ["Олег UNCLE_OF owner"]),
        ("en", ["Mom has it. Uncle Ray wore it"], ["Ray UNCLE_OF owner"]),
        ("en", ["My sister Kate lives with her husband Andriy"], ["Kate SISTER_OF owner", "Andriy MARRIED_TO Kate"]),
        ("ru", ["Зоя родила дочку Аню"], ["Аня DAUGHTER_OF Зоя"]),
        ("ru", ["Сын Елисей пошёл в школу, учительницу зовут Марина Олеговна"], ["Елисей SON_OF owner"]),
        ("ru", ["Сестра Катя вышла замуж, мужа зовут Олег"], ["Катя SISTER_OF owner", "Олег MARRIED_TO Катя"]),
        ("ru", ["Сестра живёт с мужем Андреем"], ["Андрей SIBLING_SPOUSE_OF owner"]),
    ],
)  # fmt: skip
def test_relations_beside_names_become_typed_facts(lang: str, said: Sequence[str], stated: Sequence[str]) -> None:
    """To the owner, to somebody named, and through a relative whose name is known."""
    assert [" ".join(one) for one in relations(lang, *said)] == stated


@pytest.mark.parametrize(
    ("lang", "said"),
    [
        ("ru", "Кто муж моей сестры Маши?"),
        ("ru", "Кажется, мой начальник Пётр увольняется"),
        ("ru", "Мой бывший начальник Пётр написал"),
        ("en", "Is Tom your brother?"),
        ("en", "His sister Anna came"),
        ("en", "She has a brother Paul"),
        ("ru", "Встретил Олю с сыном Мишей"),
        ("uk", "Якби моя сестра Надія приїхала"),
        ("en", "Quillon's brother Teddy is our dentist"),
        ("ru", "Олин брат Петя приехал"),
        ("en", "His grandpa Lou and his sister Joanie came"),
        ("en", "Anna lives in Berlin and her mother works for Zalando"),
        ("ru", "Катя поругалась с тренером Иваном"),
        ("uk", "Катя говорила з братом Олегом"),
        ("en", "Anna wrote to Kate that her husband Mark is ill"),
    ],
)
def test_questions_guesses_and_what_is_over_state_nothing(lang: str, said: str) -> None:
    """Nor does somebody else's sister: a wrong relation is believed for years."""
    assert relations(lang, said) == []


def test_the_relation_to_the_owner_has_words_of_its_own() -> None:
    """The sentence that states it may state something else of the same person, in the same words."""
    request = request_of({"lang": "ru", "say": ["Моя сестра Ольга живёт в Туле."]})
    facts = parse(propose(request), request.transcript, set()).facts
    assert [one.fact for one in facts] == ["Моя сестра Ольга живёт в Туле.", "Ольга — моя сестра."]
