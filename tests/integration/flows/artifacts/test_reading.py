"""A file that is sent is read once, whatever happens on the way, and becomes passages with their pages."""

from __future__ import annotations

import asyncio
import io
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select
from support.flows.file_stage import CONTRACT, LOCKED, FileStage
from support.flows.flow_stage import BOT, OTHER, OWNER, Talk, until
from support.flows.office_files import archive, book, presentation, workbook

from bot.telegram.i18n import label
from internal.artifacts.model import FAILED, ArtifactState, Received
from internal.dialogue import turn_repository as turns
from internal.errors import ModelUnavailable
from internal.flows.artifacts.voice import VoiceReader
from internal.flows.turn.files import read_file
from internal.flows.views import artifacts as view
from internal.knowledge import episode_repository as episodes
from internal.storage.tables import artifacts, outbox, runs, search_items


@pytest.fixture
def stage(talk: Talk, tmp_path: Path) -> FileStage:
    return FileStage(talk, tmp_path)


def word_file(text: str, unpacked: int | None = None) -> bytes:
    """A Word document of one paragraph, whose text says to unpack to so many bytes."""
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    body = f"<w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body>"
    name = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override'
        f' PartName="/word/document.xml" ContentType="{kind}"/></Types>',
        "word/document.xml": f'<w:document xmlns:w="{name}">{body}</w:document>',
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in parts.items():
            archive.writestr(path, content)
        archive.filelist[-1].file_size = unpacked or archive.filelist[-1].file_size
    return packed.getvalue()


async def test_a_pdf_becomes_passages_with_their_pages(stage: FileStage) -> None:
    """Its message says that it came, the archivist is to read it as the document's words, each page is found."""
    file = await stage.sent_and_read("договор.pdf", CONTRACT.read_bytes())
    assert (file.state, file.pages, file.name) == (ArtifactState.READ, 3, "договор.pdf")
    [message] = [one for one in await stage.talk.messages() if one.role == "user"]
    assert message.content == "[file договор.pdf]"
    text = await stage.text(file)
    assert [page for page, _ in text] == [1, 2, 3]
    assert "14 500 гривен" in text[1][1]
    segments = await stage.talk.read(lambda c: episodes.episode_segments(c, OWNER, file.id, 1, 9))
    assert [(one.speaker, one.own) for one in segments] == [(f"договор.pdf, p. {n}", False) for n in (1, 2, 3)]
    found = await stage.talk.read(lambda c: c.execute(select(search_items.c.ref_id)).scalars().all())
    assert {f"{file.id}#{n}" for n in (1, 2, 3)} <= set(found)
    [run] = await stage.talk.read(lambda c: c.execute(select(runs).where(runs.c.episode_id == file.id)).all())
    assert (run.agent, run.first_n, run.last_n) == ("archivist", 1, 3)
    assert stage.kept() == [file.sha256]
    assert "договор.pdf" in (await stage.talk.owed())[0]


async def test_files_of_many_formats_are_read(stage: FileStage) -> None:
    """Word, a web page, text in an old Cyrillic encoding, code, a contact card without its picture, a calendar."""
    card = b"BEGIN:VCARD\r\nFN:Olha\r\nBDAY:1990-05-04\r\nPHOTO;ENCODING=b:AAAA\r\n BBBB\r\nEND:VCARD\r\n"
    event = b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nSUMMARY:Dentist\nDTSTART:20261201T090000Z\nEND:VEVENT"
    sent = {
        "cv.docx": (word_file("Seven years"), "Seven years"),
        "page.html": (b"<html><body><script>x()</script><h1>Soup</h1><p>Beet</p></body></html>", "Soup\n\nBeet"),
        "old.txt": ("Привет, мир. Встреча в пятницу у Оли.".encode("cp1251"), "Привет, мир. Встреча в пятницу у Оли."),
        "f.py": (b"def f(x):\n    return x\n", "def f(x):\n    return x"),
        "o.vcf": (card, "FN:Olha\nBDAY:1990-05-04"),
        "d.ics": (event, "SUMMARY:Dentist\nDTSTART:20261201T090000Z"),
    }
    for name, (content, expected) in sent.items():
        file = await stage.read(await stage.send(name, content))
        assert [text.strip() for _, text in await stage.text(file)] == [expected], name


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("locked.pdf", LOCKED.read_bytes(), "encrypted"),
        ("locked.docx", b"\xd0\xcf\x11\xe0" + bytes(600), "encrypted"),
        ("torn.pdf", CONTRACT.read_bytes()[:5000], "damaged"),
        ("disguised.pdf", b"MZ" + bytes(range(256)) * 9, "unknown"),
        ("bytes.bin", bytes(range(256)) * 9, "unknown"),
        ("packed.zip", b"PK\x05\x06" + bytes(18), "unknown"),
        ("nested.zip", archive({"in.zip": archive({"a.txt": b"a"})}), "unknown"),
        ("blank.txt", b"  \n ", "empty"),
        ("brackets.json", b"[" * 500 + b"]" * 500, "empty"),
        ("large.txt", b"x" * 2_000_001, "large"),
    ],
)
async def test_what_cannot_be_read_gets_one_clear_line(
    talk: Talk, tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    """The turn of a file without a word is that line, in the owner's language; its bytes are not kept."""
    stage = FileStage(talk, tmp_path, max_bytes=2_000_000)
    file = await stage.sent_and_read(name, content)
    assert (file.state, file.reason, file.sha256) == (ArtifactState.FAILED, reason, None)
    assert await talk.owed() == [label("en", "artifact-failed", reason=reason, name=name)]
    await stage.unused.delete_due()
    assert (stage.kept(), await stage.noted()) == ([], [])


async def test_a_bomb_is_not_unpacked(stage: FileStage) -> None:
    """A Word file of a few kilobytes that unpacks to more than 200 MB is too large."""
    file = await stage.read(await stage.send("bomb.docx", word_file("Bomb", 210 << 20)))
    assert file.reason == "large"


SHEETS = {"Витрати": (3, [["Що", "Сума"], ["Потяг", "300"], *([f"Обід {n}", "9" * 40] for n in range(12))]),
          "Доходи": (1, [["Хто", "Сума"], ["Олена", "9000"]])}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        (
            "costs.xlsx", workbook(SHEETS),
            {"Потяг | 300": "costs.xlsx, sheet 1 (Витрати), row 3–13",
             "Обід 11": "costs.xlsx, sheet 1 (Витрати), row 14–16",
             "Олена | 9000": "costs.xlsx, sheet 2 (Доходи), row 1–2"},
        ),
        ("trip.pptx", presentation("Hotel", "We leave at 7:40"), {"7:40": "trip.pptx, slide 2"}),
        (
            "two.zip", archive({"note.txt": b"Mill", "in/trip.pptx": presentation("Hotel", "We leave at 7:40")}),
            {"Mill": "two.zip, note.txt", "7:40": "two.zip, p. 2 (in/trip.pptx)"},
        ),
        ("cat.epub", book({"One": "A cat.", "Two": "It fled to Lviv."}), {"Lviv": "cat.epub, ch. 2 (Two)"}),
    ],
)  # fmt: skip
async def test_a_place_is_cited_as_its_format_has_it(
    stage: FileStage, name: str, content: bytes, places: dict[str, str]
) -> None:
    """Sheet and rows as the program numbers them, slide, chapter; and `read_file` finds it by that number."""
    file = await stage.sent_and_read(name, content)
    parts = await stage.talk.read(lambda c: view.text_of(c, OWNER, file))
    assert {words: next(part.position for part in parts if words in part.text) for words in places} == places
    last = max(part.page or 0 for part in parts)
    read = await stage.talk.read(lambda c: read_file(c, OWNER, name, last, None))
    assert read is not None
    assert [line.speaker for line in read[0].lines] == [list(places.values())[-1]]


@pytest.mark.parametrize(("most", "failed"), [(2, "long"), (3, None)])
async def test_only_so_many_pages_are_read(talk: Talk, tmp_path: Path, most: int, failed: str | None) -> None:
    """The file knows how many it has, and its sender is told that not all of them are read."""
    stage = FileStage(talk, tmp_path, max_pages=most)
    file = await stage.read(await stage.send("contract.pdf", CONTRACT.read_bytes()))
    assert (file.pages, [page for page, _ in await stage.text(file)]) == (3, [1, 2, 3][:most])
    [message] = await talk.messages()
    assert [one.get(FAILED) for one in message.attachments] == [failed]


async def test_a_file_whose_reading_was_cut_short_is_read_once(stage: FileStage) -> None:
    """A process that ends while it fetches leaves the file due; the next one reads it, and nothing is there twice."""
    sent = await stage.send("contract.pdf", CONTRACT.read_bytes(), "Here it is")
    stage.shelf.open.clear()
    killed = asyncio.create_task(stage.read(sent))
    await until(lambda: stage.shelf.fetched)
    killed.cancel()
    await asyncio.gather(killed, return_exceptions=True)
    stage.shelf.open.set()
    both = await asyncio.gather(stage.read(sent), stage.read(sent))
    assert [one.state for one in both] == [ArtifactState.READ] * 2
    [message] = await stage.talk.messages()
    assert message.content == "Here it is\n[file contract.pdf]"
    assert len(await stage.talk.events("artifact_read")) == 1
    assert len(await stage.text(both[0])) == 3


async def test_a_file_that_keeps_ending_the_process_is_given_up(stage: FileStage) -> None:
    """After four attempts that no process lived to end it counts as damaged."""
    sent = await stage.send("evil.pdf", CONTRACT.read_bytes())
    await stage.talk.write(lambda c: c.execute(artifacts.update().values(attempts=4)))
    assert (await stage.read(sent)).reason == "damaged"


async def test_an_outage_of_telegram_is_waited_for(stage: FileStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second attempt a moment later succeeds; an outage that lasts is said."""
    monkeypatch.setattr("internal.flows.artifacts.read_files.retry_delay", lambda *_: timedelta(0))
    stage.shelf.outages = 1
    assert (await stage.read(await stage.send("a.txt", b"Words"))).state == ArtifactState.READ
    stage.shelf.outages = 9
    assert (await stage.read(await stage.send("b.txt", b"Words"))).reason == "unavailable"


async def test_a_voice_is_heard_after_an_outage(stage: FileStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line that it cannot be heard now is said once; when the service is back the transcript takes its place."""
    monkeypatch.setattr("internal.flows.artifacts.read_files.retry_delay", lambda *_: timedelta(0))
    back = False

    async def transcribe(received: Received, sound: bytes) -> str:
        if not back:
            raise ModelUnavailable("connection refused")
        return "Call mum tomorrow"

    stage.readers = [VoiceReader(transcribe, timedelta(seconds=9))]
    sent = await stage.send("v.ogg", b"OggS sound", kind="voice")
    assert (await stage.read(sent)).state == ArtifactState.DUE
    assert sent.turn is not None
    stage.talk.clock.advance(10)
    await stage.talk.flow().answer(sent.turn)
    assert await stage.talk.owed() == [label("en", "voice-failed", reason="unavailable")]
    for seconds in (400, 500, 1000):
        stage.talk.clock.advance(seconds)
        assert await stage.reading().read_waiting() == 1
    assert len(await stage.talk.owed()) == 1
    back = True
    stage.talk.clock.advance(7200)
    assert await stage.reading().read_waiting() == 1
    [message] = [one for one in await stage.talk.messages() if one.role == "user"]
    assert message.content == "[voice] Call mum tomorrow"
    assert "failed" not in message.attachments[0]
    rows = await stage.talk.read(lambda c: c.execute(select(outbox.c.payload).order_by(outbox.c.n)).scalars().all())
    assert [(row.get("replaces"), row["text"]) for row in rows][1:] == [
        (f"turn:{sent.turn.id}:0", "🎙 Call mum tomorrow")
    ]
    assert (await stage.of(message)).state == ArtifactState.READ
    [again] = await stage.talk.read(lambda c: turns.unfinished(c, BOT))
    await stage.talk.flow().answer(again)
    assert stage.talk.responder.questions == ["[voice] Call mum tomorrow"]
    *_, answer = await stage.talk.outbox()
    assert (answer.outgoing.text, answer.outgoing.reply_to) == ("Answer.", message.tg_id)
    assert await stage.talk.read(lambda c: turns.unfinished(c, BOT)) == []


async def test_a_file_without_a_turn_is_read_by_a_job(stage: FileStage) -> None:
    """What came over a limit is kept and read all the same; of what cannot be read one line tells."""
    await stage.send("first.txt", b"Words", messages_per_minute=1)
    await stage.send("second.txt", b"Others", messages_per_minute=1)
    await stage.send("third.bin", bytes(range(256)), messages_per_minute=1)
    stage.talk.clock.advance(600)
    assert await stage.reading().read_waiting() == 3
    assert await stage.reading().read_waiting() == 0
    *_, last = await stage.talk.owed()
    assert last == label("en", "artifact-failed", reason="unknown", name="third.bin")


async def test_an_edited_caption_keeps_its_file(stage: FileStage) -> None:
    """What was read stays part of the message."""
    sent = await stage.send("a.txt", b"Words", "Look")
    await stage.read(sent)
    assert sent.message is not None
    changed = await stage.talk.edit(sent.message, "Look here")
    assert changed is not None
    assert changed.content == "Look here\n[file a.txt]"


async def test_a_file_stands_in_the_prompt_of_its_question(stage: FileStage) -> None:
    """The model is shown its passages with their pages, as somebody else's words, and may read more."""
    await stage.sent_and_read("contract.pdf", CONTRACT.read_bytes(), "За сколько дней предупредить о выезде?")
    [request] = stage.talk.responder.asked
    [passage] = [one for one in request.passages if one.kind == "episode"]
    assert [line.speaker for line in passage.lines] == [f"contract.pdf, p. {n}" for n in (1, 2, 3)]
    assert {line.kind for line in passage.lines} == {"other"}
    assert "came_with_unread" not in (request.dialogue[-1].metadata or {})
    assert request.toolbox is not None
    assert "read_file" in {tool.name for tool in request.toolbox.tools}


async def test_equal_bytes_are_kept_once_and_until_the_last_owner_forgets_them(stage: FileStage) -> None:
    """Each owner has his own file and text; neither finds the other's."""
    mine = await stage.sent_and_read("contract.pdf", CONTRACT.read_bytes())
    others = await stage.sent_and_read("same.pdf", CONTRACT.read_bytes(), user_id=OTHER)
    assert (mine.sha256, stage.kept()) == (others.sha256, [others.sha256])
    assert await stage.talk.read(lambda c: episodes.episode(c, OTHER, mine.id)) is None
    for user_id, file, left in ((OWNER, mine, [others.sha256]), (OTHER, others, [])):
        await stage.eraser.erase_now(user_id, "message", file.message_id)
        await stage.unused.delete_due()
        assert stage.kept() == left
    assert await stage.noted() == []
