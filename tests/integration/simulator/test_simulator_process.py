"""The child process: its start and end, its parent, its memory over restarts and crashes."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from support.interfaces.simulator_stage import Stage, bot_for, eventually
from support.paths import ROOT
from support.patience import PATIENCE_S
from support.product.program import BEFORE_PYTHON, TELEGRAM, Process, local_telegram, started

from bot.simulator.client import ControlClient
from bot.simulator.launch import LocalTelegramFailed, start_local_telegram


async def child(folder: Path, *, fresh: bool = False) -> Process:
    arguments = ["--token", "5:x", "--data-dir", str(folder), "--port", "0"]
    return await started(TELEGRAM, arguments, os.environ | BEFORE_PYTHON, ROOT, fresh=fresh)


async def test_ready_line_is_all_it_prints_and_sigterm_ends_it_well(tmp_path: Path) -> None:
    """Standard output is one line with the address; SIGTERM ends the process with code 0 at once, even mid-poll."""
    process = await child(tmp_path, fresh=True)
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().removeprefix("READY ").strip()
    async with httpx.AsyncClient(base_url=url, timeout=30) as http:
        poll = asyncio.create_task(http.get("/bot5:x/getUpdates", params={"timeout": 50}))
        await asyncio.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        answer = await poll
        assert answer.json() == {"ok": True, "result": []}
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate()
    assert (out, err, process.returncode) == (b"", b"", 0)


async def test_sigterm_ends_it_while_a_webhook_waits_for_updates(tmp_path: Path) -> None:
    """A bot that went away without taking its webhook back keeps nobody from stopping."""
    process = await child(tmp_path)
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().removeprefix("READY ").strip()
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as http:
        answer = await http.post("/bot5:x/setWebhook", json={"url": "https://127.0.0.1:8443/hook"})
        assert answer.json()["result"] is True
    process.terminate()
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate()
    assert (out, err, process.returncode) == (b"", b"", 0)


async def test_a_request_that_is_cut_off_is_no_fault_of_the_local_telegram(tmp_path: Path) -> None:
    """A bot killed in the middle of a call leaves no trace: nothing is processed, nothing is complained of."""
    process = await child(tmp_path)
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().removeprefix("READY ").strip()
    port = int(url.rsplit(":", 1)[1])
    for kind in ("application/json", "application/x-www-form-urlencoded"):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"POST /bot5:x/sendMessage HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n".encode())
        writer.write(b"Content-Length: 100\r\n\r\ntext=half")
        await writer.drain()
        await asyncio.sleep(0.2)
        writer.transport.abort()
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as http:
        assert (await http.get("/sim/ledger")).json() == {"calls": []}
    process.terminate()
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate()
    assert (out, err, process.returncode) == (b"", b"", 0)


async def test_dies_with_its_parent(tmp_path: Path) -> None:
    """When the process that started it is killed, the local Telegram ends within a second or so."""
    script = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen([sys.executable, '-m', 'bot.simulator.local_telegram', '--token', '5:x', '--port', '0',"
        f" '--data-dir', {str(tmp_path)!r}], stdout=subprocess.PIPE)\n"
        "print(p.pid, p.stdout.readline().decode(), flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    assert parent.stdout is not None
    pid, url = (await parent.stdout.readline()).decode().replace("READY", "").split()
    parent.kill()
    await parent.communicate()
    await eventually(lambda: gone(int(pid)))
    async with httpx.AsyncClient(timeout=PATIENCE_S) as http:
        with pytest.raises(httpx.ConnectError):
            await http.get(url)


async def gone(pid: int) -> bool:
    """Whether a process has ended, if only waiting to be reaped."""
    stat = await asyncio.to_thread(subprocess.run, ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True)
    return not stat.stdout.strip() or stat.stdout.strip().startswith(b"Z")


async def test_taken_port_is_named(tmp_path: Path) -> None:
    """A port that another program holds is told in one line."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(LocalTelegramFailed, match=f"port {port} is taken"):
            async with local_telegram(tmp_path, port=port):
                pass


async def test_folder_has_one_owner(tmp_path: Path) -> None:
    """A second local Telegram on the same folder is refused."""
    async with local_telegram(tmp_path):
        with pytest.raises(LocalTelegramFailed, match="another local Telegram uses"):
            async with local_telegram(tmp_path):
                pass


async def test_everything_survives_a_crash(tmp_path: Path) -> None:
    """After SIGKILL and a restart on the same port: people, messages, queue, menus and growing ids are all there."""
    async with local_telegram(tmp_path) as local, ControlClient(local.url) as control:
        before = await control.say(1001, "до аварії")
        await control.request("POST", "/users", {"id": 55, "first_name": "Ганна"})
        bot = bot_for(local)
        await bot.get_updates(offset=-1, allowed_updates=["message"])
        url = local.url
        await local.kill()
        await local.restart()
        assert local.url == url
    async with local_telegram(tmp_path) as local, ControlClient(local.url) as control:
        await bot.session.close()
        stage = Stage(local)
        after = await stage.say(55, "після")
        updates = await stage.take_updates()
        assert [u.message.text for u in updates if u.message] == ["до аварії", "після"]
        assert updates[1].update_id == updates[0].update_id + 1
        assert after["message_id"] > before["message_id"]
        assert [m["text"] for m in await stage.messages(1001)] == ["до аварії"]
        await stage.close()


async def test_supervised_child_comes_back(tmp_path: Path) -> None:
    """With keep_alive a child that is killed is started again on the same address."""
    async with start_local_telegram(tmp_path, keep_alive=True) as local, ControlClient(local.url) as control:
        assert local.pid is not None
        first = local.pid
        os.kill(first, signal.SIGKILL)

        async def answers_again() -> bool:
            try:
                await control.request("GET", "/state")
            except httpx.HTTPError:
                return False
            return local.pid != first

        await eventually(answers_again)


async def test_first_people(tmp_path: Path) -> None:
    """A fresh data folder has one person for each language."""
    async with local_telegram(tmp_path) as local, ControlClient(local.url) as control:
        users = (await control.request("GET", "/users"))["users"]
    assert [(user["first_name"], user["language_code"]) for user in users] == [
        ("Олена", "uk"),
        ("Иван", "ru"),
        ("Emma", "en"),
    ]


def test_starts_without_aiogram() -> None:
    """The child never imports aiogram, which alone would take seconds."""
    code = (
        "import sys, bot.simulator.local_telegram, bot.simulator.server.server, bot.simulator.page.chat_page;"
        "sys.exit('aiogram' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False).returncode == 0


async def test_what_people_wrote_is_closed_to_other_users(tmp_path: Path) -> None:
    """Every file and folder it makes is its owner's alone, and what an earlier start left open is closed."""
    folder = tmp_path / "local-telegram"
    folder.mkdir()
    folder.chmod(0o755)
    (folder / "local_telegram.db").touch(0o644)
    async with local_telegram(folder) as local, ControlClient(local.url) as people:
        await people.add_user("Марія")
        modes = {path.name: path.stat().st_mode & 0o777 for path in (folder, *folder.rglob("*"))}
    assert {"local-telegram", "local_telegram.db", "local_telegram.db-wal"} <= modes.keys()
    assert {mode & 0o077 for mode in modes.values()} == {0}
