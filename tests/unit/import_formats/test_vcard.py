"""vCards of three versions and Google's CSV are read, and written back without loss."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st
from support.paths import DATA

from internal.import_formats.contact_card import CardItem, ItemKind, contact_of, new_card, property_of
from internal.import_formats.google_contacts import is_google_csv, read_google_csv
from internal.import_formats.model import Unreadable
from internal.import_formats.vcard import Property, decoded, escaped, is_vcard, read_cards, unescaped, write_cards

SAMPLES = ("icloud.vcf", "nextcloud.vcf", "old_phone.vcf")

_TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=120)
_PLAIN = st.text(st.characters(categories=("Lu", "Ll", "Nd")), min_size=1, max_size=20)
_NAMES = st.from_regex(r"X-[A-Z]{1,8}", fullmatch=True)
_PARAMS = st.lists(st.tuples(st.sampled_from(("TYPE", "LABEL", "X-A")), _TEXT.map(str.strip)), max_size=3).map(tuple)
_PROPERTIES = st.builds(Property, _NAMES, _TEXT.map(escaped), _PARAMS, st.sampled_from(("", "item1")))


def sample(name: str) -> str:
    return decoded((DATA / "contacts" / name).read_bytes())


@given(st.lists(st.lists(_PROPERTIES, min_size=1, max_size=6), min_size=1, max_size=3))
def test_whatever_a_card_holds_comes_back(cards: Sequence[Sequence[Property]]) -> None:
    """Properties, groups and parameters in their order, long lines and every letter."""
    written = [[Property("VERSION", "4.0"), *card] for card in cards]
    text = write_cards(written)
    assert read_cards(text) == written
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=200))
def test_a_text_survives_its_escaping(text: str) -> None:
    """Line breaks of other systems become one kind."""
    assert unescaped(escaped(text)) == text.replace("\r\n", "\n").replace("\r", "\n")


@given(
    _PLAIN,
    st.lists(st.tuples(st.sampled_from(("phone", "email", "title", "note", "url", "address")), _PLAIN), max_size=6),
)
def test_a_new_card_says_what_it_was_made_of(name: str, items: Sequence[tuple[ItemKind, str]]) -> None:
    """Each item is read as it was written."""
    wanted = tuple(dict.fromkeys(CardItem(kind, value) for kind, value in items))
    contact = contact_of(read_cards(write_cards([new_card(name, "id-1", (), wanted)]))[0])
    assert (contact.name, contact.uid, contact.items) == (name, "id-1", wanted)


@pytest.mark.parametrize("name", SAMPLES)
def test_real_cards_come_back_as_they_were(name: str) -> None:
    """Photos, groups and properties that nobody knows included; 2.1 is written as 3.0 from then on."""
    cards = read_cards(sample(name))
    again = read_cards(write_cards(cards))
    assert [contact_of(one) for one in again] == [contact_of(one) for one in cards]
    rest = [[line for line in card if line.name not in ("VERSION", "NOTE")] for card in cards]
    assert [[line for line in card if line.name not in ("VERSION", "NOTE")] for card in again] == rest
    assert write_cards(again) == write_cards(cards)


def test_what_icloud_says_is_understood() -> None:
    """Labels of groups, a birthday without a year, a Telegram account, a company that is nobody."""
    masha = contact_of(read_cards(sample("icloud.vcf"))[0])
    assert (masha.name, masha.names, masha.username) == ("Марія Петренко", ("Маша",), "masha_p")
    assert masha.values("birthday") == ["--03-02"]
    assert masha.values("note") == ["Любить ромашки, не любить троянди"]
    assert CardItem("relation", "Олег Петренко", "_$!<Brother>!$_") in masha.items
    assert masha.values("address") == ["вул. Хрещатик 1, Київ, 01001, Україна"]


def test_what_nextcloud_says_is_understood() -> None:
    """Addresses of phones, and a relation to another card by its id."""
    tom = contact_of(read_cards(sample("nextcloud.vcf"))[0])
    assert tom.values("phone") == ["+1-212-555-0187"]
    assert tom.values("birthday") == ["1970-08-12"]
    assert CardItem("relation", "", "co-worker", "urn:uuid:c2f0f2c6-0b0c-4f0e-8a55-1a2b3c4d5e6f") in tom.items
    assert CardItem("relation", "Anna Baker", "spouse") in tom.items


def test_old_phones_write_quoted_printable() -> None:
    """Words in pieces, types without a name."""
    ivan = contact_of(read_cards(sample("old_phone.vcf"))[0])
    assert (ivan.name, ivan.values("note"), ivan.values("birthday")) == (
        "Иван Петров",
        ["one\ntwo, three"],
        ["1990-06-05"],
    )


@pytest.mark.parametrize(
    ("name", "people", "relation"),
    [
        ("google.csv", ["Anna Kowalska", "Ewa Kowalska"], CardItem("relation", "Ewa Kowalska", "Sister")),
        ("google_old.csv", ["Ivan Petrov"], CardItem("relation", "Olha Koval", "Manager")),
    ],
)
def test_googles_csv_of_both_kinds_is_read(name: str, people: list[str], relation: CardItem) -> None:
    """Several mails in one cell, columns that nobody knows; as cards they come back without loss."""
    text = sample(name)
    assert is_google_csv(text)
    cards = read_google_csv(text)
    found = [contact_of(card) for card in cards]
    assert [one.name for one in found] == people
    assert any(
        item.value == relation.value and item.label.casefold() == relation.label.casefold() for item in found[0].items
    )
    again = read_cards(write_cards(cards))
    assert again == cards
    if name == "google.csv":
        assert found[0].values("email") == ["anna@allegro.example", "ania@home.example"]
        assert found[0].values("birthday") == ["1988-02-29"]
        assert {line.param("LABEL") for line in cards[0] if line.name == "X-GOOGLE-FIELD"} >= {"Labels", "Photo"}


@pytest.mark.parametrize(
    ("lines", "day"),
    [
        ("item1.X-ABDATE;type=pref:2010-06-05\nitem1.X-ABLabel:_$!<Anniversary>!$_", ["2010-06-05"]),
        ("item1.X-ABDATE:2010-06-05\nitem1.X-ABLabel:First day", []),
        ("ANNIVERSARY:20100605", ["2010-06-05"]),
        ("X-MS-ANNIVERSARY;VALUE=DATE:20100605", ["2010-06-05"]),
        ("ANNIVERSARY:20100431", []),
        ("ANNIVERSARY:1985-02-29", []),
        ("ANNIVERSARY:1984-02-29", ["1984-02-29"]),
        ("ANNIVERSARY:--0229", ["--02-29"]),
        ("ANNIVERSARY:0000-02-29", ["--02-29"]),
        ("ANNIVERSARY;X-APPLE-OMIT-YEAR=1985:1985-02-29", ["--02-29"]),
    ],
)
def test_an_anniversary_is_read_as_each_program_writes_it(lines: str, day: list[str]) -> None:
    """Other days of a card, and days that no year has, are none."""
    [card] = read_cards(f"BEGIN:VCARD\nVERSION:3.0\nFN:X\n{lines}\nEND:VCARD")
    assert contact_of(card).values("anniversary") == day
    assert all(contact_of([property_of(item), Property("FN", "X")]).items == (item,) for item in contact_of(card).items)


def test_a_picture_of_version_2_1_is_written_as_version_3_has_it() -> None:
    """Readers of version 3 know the encoding as b."""
    [card] = read_cards("BEGIN:VCARD\nVERSION:2.1\nFN:X\nPHOTO;JPEG;ENCODING=BASE64:\n AAEC\n AwQF\n\nEND:VCARD")
    assert "PHOTO;TYPE=JPEG;ENCODING=b:AAECAwQF" in write_cards([card])


@pytest.mark.parametrize("kind", ["birthday", "relation"])
def test_days_and_relations_are_written_as_they_are_read(kind: str) -> None:
    """A day with and without its year."""
    items = [CardItem("birthday", "--06-05"), CardItem("birthday", "1990-06-05")]
    if kind == "relation":
        items = [CardItem("relation", "Anna, B.", "sister"), CardItem("relation", "", "friend", "urn:uuid:1")]
    for item in items:
        assert contact_of([property_of(item), Property("FN", "X")]).items == (item,)


def test_what_is_no_card_is_refused() -> None:
    """A page, an empty file, a card without its end."""
    assert not is_vcard("<html>")
    assert not is_google_csv("a,b\n1,2")
    for text in ("", "BEGIN:VCARD\nFN:X\n"):
        with pytest.raises(Unreadable):
            read_cards(text)
    with pytest.raises(Unreadable):
        read_google_csv("First Name,E-mail 1 - Value\n")
