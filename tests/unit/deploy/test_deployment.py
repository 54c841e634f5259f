"""The compose file and the systemd unit: valid, hardened, and agreeing with what they start."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.paths import ROOT

from deploy import falkordb
from internal.config.settings import load
from internal.errors import ConfigurationError

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ON_TOP: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.postgresql.yaml").read_text(encoding="utf-8"))
MORE: dict[str, dict[str, Any]] = {name: one for name, one in ON_TOP["services"].items() if name not in SERVICES}
ALL = SERVICES | MORE
UNIT = (DEPLOY / "laplaced.service").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
DRAIN_S = 25
"""What docs/operations.md promises that the bot needs at most."""


def test_compose_files_follow_their_specification() -> None:
    """The schema of the Compose specification has nothing to say."""
    checker = Path(sys.executable).with_name("check-jsonschema")
    files = [DEPLOY / "compose.yaml", DEPLOY / "compose.postgresql.yaml"]
    command = [checker, "--builtin-schema", "vendor.compose-spec", *files]
    told = subprocess.run(command, check=False, capture_output=True, text=True)
    assert told.returncode == 0, told.stdout + told.stderr


@pytest.mark.parametrize("name", ALL)
def test_no_service_has_more_rights_than_it_needs(name: str) -> None:
    """Not root, nothing to gain, nothing to write but volumes; watched, and restarted."""
    service = ALL[name]
    assert int(service["user"].split(":")[0]) > 0
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["restart"] == "unless-stopped"
    assert service["logging"]["options"]["max-size"]


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_open_to_this_machine_only(name: str) -> None:
    """Whatever is published is bound to loopback."""
    assert SERVICES[name]["ports"]
    assert all(port.startswith("127.0.0.1:") for port in SERVICES[name]["ports"])


def test_database_and_workers_are_reached_from_inside_alone() -> None:
    """Several of one service could not share a port of the machine, and nobody outside needs the database."""
    assert set(MORE) == {"postgresql", "worker"}
    assert not any("ports" in service for service in MORE.values())


@pytest.mark.parametrize("name", ALL)
def test_what_is_mounted_is_there(name: str) -> None:
    """A volume is declared; a file or folder of the repository exists and cannot be written."""
    for mount in ALL[name]["volumes"]:
        source, _, *mode = mount.split(":")
        if source.startswith("."):
            assert (DEPLOY / source).exists()
            assert mode == ["ro"]
        else:
            assert source in COMPOSE["volumes"] | ON_TOP["volumes"]


def test_images_are_pinned() -> None:
    """An image from elsewhere is one release; the bot's own is built from this checkout."""
    assert SERVICES["bot"]["build"] == {"context": ".."}
    own = SERVICES["bot"]["image"]
    others = [service["image"] for service in SERVICES.values() if service["image"] != own]
    assert len(others) == 2
    assert all(re.search(r":v?\d+\.\d+\.\d+$", image) for image in others)
    assert re.search(r"^postgres:\d+\.\d+$", MORE["postgresql"]["image"])


def test_bot_is_started_as_its_image_expects() -> None:
    """User, port and data folder are those of the Dockerfile; Prometheus scrapes that port under the service's name."""
    bot = SERVICES["bot"]
    assert f"USER {bot['user']}" in DOCKERFILE
    assert "data:/data" in bot["volumes"]
    assert "VOLUME /data" in DOCKERFILE
    assert bot["ports"] == ["127.0.0.1:9081:9081", "127.0.0.1:9082:9082", "127.0.0.1:30547:30547"]
    assert "EXPOSE 9081 9082 30547" in DOCKERFILE
    assert "http://127.0.0.1:9081/healthz" in bot["healthcheck"]["test"][-1]
    [job] = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    assert job["static_configs"] == [{"targets": ["bot:9081"]}]


def test_workers_share_the_store_and_the_folder_of_the_bot() -> None:
    """Image, user, secrets, settings and keys are the bot's; each waits for the server, and is watched by its page."""
    bot, worker = SERVICES["bot"], MORE["worker"]
    for shared in ("image", "user", "volumes", "stop_grace_period"):
        assert worker[shared] == bot[shared]
    bot = ON_TOP["services"]["bot"]
    assert worker["env_file"] == [*SERVICES["bot"]["env_file"], *bot["env_file"]]
    assert worker["depends_on"] == bot["depends_on"] == {"postgresql": {"condition": "service_healthy"}}
    told = dict(worker["environment"])
    port = told.pop("LAPLACED_SERVER__WORKER_PORT")
    assert told == bot["environment"]
    assert load(None, told).store == "postgresql://laplaced@postgresql/laplaced"
    assert f"http://127.0.0.1:{port}/healthz" in worker["healthcheck"]["test"][-1]


def test_role_of_the_database_passes_by_no_policy() -> None:
    """The server's own superuser cannot log in from anywhere, and the role is the one of the address."""
    made = (DEPLOY / "postgresql.sh").read_text(encoding="utf-8")
    assert "CREATE ROLE laplaced LOGIN NOSUPERUSER NOBYPASSRLS" in made
    assert "CREATE DATABASE laplaced OWNER laplaced ENCODING 'UTF8'" in made
    assert "ALTER ROLE postgres PASSWORD NULL" in made


def test_grafana_finds_what_is_provisioned() -> None:
    """Its source is the Prometheus of the compose file, and its dashboards are where the provider looks."""
    provisioning = DEPLOY / "grafana/provisioning"
    [source] = yaml.safe_load((provisioning / "datasources/prometheus.yml").read_text(encoding="utf-8"))["datasources"]
    [provider] = yaml.safe_load((provisioning / "dashboards/laplaced.yml").read_text(encoding="utf-8"))["providers"]
    grafana, inside = SERVICES["grafana"], provider["options"]["path"]
    assert source["url"] == "http://prometheus:9090"
    assert f"./grafana/dashboards:{inside}:ro" in grafana["volumes"]
    home = Path(grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    assert home.parent == Path(inside)
    assert (DEPLOY / "grafana/dashboards" / home.name).exists()


def test_falkordb_is_started_if_asked_for_and_needs_a_password() -> None:
    """By a profile of its own; the engine that the bot has answers to whoever knows the password, and keeps nothing."""
    assert SERVICES["falkordb"]["profiles"] == ["graph"]
    with pytest.raises(SystemExit, match="FALKORDB_PASSWORD"):
        falkordb.configuration({"FALKORDB_PASSWORD": "short"}, 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, DEPLOY / "falkordb.py", str(port)]
    with subprocess.Popen(command, env={**os.environ, "FALKORDB_PASSWORD": "0123456789abcdef"}) as server:
        try:
            assert asked(port, "PING").startswith(b"-NOAUTH")
            told = asked(port, "AUTH 0123456789abcdef", 'GRAPH.QUERY g "RETURN 42"', "CONFIG GET save")
            assert b"\r\n:42\r\n" in told
            assert told.endswith(b"$4\r\nsave\r\n$0\r\n\r\n+OK\r\n")
        finally:
            server.terminate()


def asked(port: int, *commands: str) -> bytes:
    """What a server answers to these, once it listens."""
    for _ in range(200):
        with contextlib.suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port), 5) as client:
            client.sendall("".join(f"{command}\r\n" for command in (*commands, "QUIT")).encode())
            return b"".join(iter(lambda: client.recv(4096), b""))
        time.sleep(0.05)
    raise TimeoutError("the server does not listen")


def test_secrets_come_from_files_that_are_never_committed() -> None:
    """Each env file has an example without a value, is ignored by git, and the bot's names keys that it knows."""
    for name in (path for service in ALL.values() for path in service.get("env_file", [])):
        lines = (DEPLOY / f"{name}.example").read_text(encoding="utf-8").splitlines()
        assert all(line.startswith("#") or line.endswith("=") or not line for line in lines)
        ignored = subprocess.run(["git", "check-ignore", "-q", f"deploy/{name}"], cwd=ROOT, check=False)
        assert ignored.returncode == 0
    names = re.findall(
        r"^(LAPLACED_\w+)=$", (DEPLOY / "laplaced.env.example").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert load(None, dict.fromkeys(names, "")) == load(None, {})
    with pytest.raises(ConfigurationError, match="tokn"):
        load(None, {"LAPLACED_TELEGRAM__TOKN": ""})


def test_there_is_time_to_drain() -> None:
    """Whoever stops the bot waits a little longer than it needs."""
    docs = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    assert f"finishes running work for up to {DRAIN_S} s" in docs
    assert SERVICES["bot"]["stop_grace_period"] == "30s"
    assert "TimeoutStopSec=30s" in UNIT


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here to ask")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """systemd-analyze finds nothing wrong, once the program stands where an installation puts it."""
    installed = tmp_path / "laplaced.service"
    installed.write_text(UNIT.replace("/opt/laplaced/bin/laplaced", sys.executable), encoding="utf-8")
    told = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", installed], check=False, capture_output=True, text=True
    )
    assert (told.returncode, told.stderr) == (0, "")


@pytest.mark.parametrize(
    "line",
    [
        "User=laplaced", "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes",
        "PrivateDevices=yes", "CapabilityBoundingSet=", "RestrictNamespaces=yes", "MemoryDenyWriteExecute=yes",
        "SystemCallFilter=@system-service", "UMask=0077", "StateDirectoryMode=0700",
    ],
)  # fmt: skip
def test_service_is_locked_in(line: str) -> None:
    """The unit gives up each right that the bot does without."""
    assert line in UNIT.splitlines()
