"""The configuration: file, environment, durations, lists, secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st
from pydantic import BaseModel
from support.paths import ROOT

from internal.agents.ask_model import Limits
from internal.agents.prompts import instructions
from internal.config.agents import AgentConfig, AgentsConfig
from internal.config.edit import edited
from internal.config.settings import Config, load
from internal.errors import ConfigurationError

LIMITS = ("temperature", "max_tokens", "timeout", "reasoning_effort", "short_prompt")
SHIPPED = ROOT / "config.yaml"
SECRET = "123456:do-not-show-me"


def from_yaml(tmp_path: Path, text: str, **environ: str) -> Config:
    path = tmp_path / "config.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path, environ)


def from_environment(**environ: str) -> Config:
    return load(None, {f"LAPLACED_{name}": value for name, value in environ.items()})


def fault(**environ: str) -> str:
    with pytest.raises(ConfigurationError) as raised:
        from_environment(**environ)
    return str(raised.value)


def keys(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in section.model_fields.items():
        if issubclass(section, AgentConfig) and name in LIMITS:
            continue  # said once for all agents
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from keys(field.annotation, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def written_keys(tree: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from written_keys(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_shipped_file_holds_exactly_the_defaults() -> None:
    """What config.yaml shows as defaults are the defaults."""
    assert load(SHIPPED, {}) == Config()


def test_shipped_file_holds_every_key() -> None:
    """Every key of the configuration stands in config.yaml, in the order of the program."""
    assert list(written_keys(yaml.safe_load(SHIPPED.read_text(encoding="utf-8")))) == list(keys(Config))


def test_shipped_file_says_the_limits_of_every_agent() -> None:
    """The table above the agents has the temperature, the tokens and the timeout that stand beside each prompt."""
    text = SHIPPED.read_text(encoding="utf-8")
    for name, _ in AgentsConfig().each():
        limits = import_module(f"internal.agents.{name}.agent").LIMITS
        seconds = round(limits.timeout.total_seconds())
        assert f"\n# | {name} | {limits.temperature} | {limits.max_tokens} | {seconds}s |\n" in text


def test_limits_of_an_agent_are_overridden_one_by_one() -> None:
    """What is set of an agent counts, zero too; the rest stays as it is beside the prompt."""
    config = from_environment(AGENTS__RESPONDER__TEMPERATURE="0", AGENTS__RESPONDER__TIMEOUT="5s").agents.responder
    limits = Limits(0.7, 99, timedelta(minutes=2)).overridden_by(config)
    assert limits == Limits(0.0, 99, timedelta(seconds=5))


def test_shipped_file_explains_every_key() -> None:
    """The line above each key that holds a value is a comment."""
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    leaves = [n for n, line in enumerate(lines) if re.match(r" *\w+:", line) and not line_opens_section(lines, n)]
    assert len(leaves) == len(list(keys(Config)))
    assert [lines[n] for n in leaves if not lines[n - 1].lstrip().startswith("#")] == []


def line_opens_section(lines: list[str], n: int) -> bool:
    following = next((line for line in lines[n + 1 :] if line.strip() and not line.lstrip().startswith("#")), "")
    return lines[n].endswith(":") and indent(following) > indent(lines[n])


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


@given(micros=st.integers(min_value=0, max_value=10**15))
def test_durations_are_exact_to_the_microsecond(micros: int) -> None:
    """A duration in seconds with up to six decimals is read without rounding."""
    text = f"{micros // 1_000_000}.{micros % 1_000_000:06d}s"
    assert from_environment(DIALOGUE__IDLE_TIMEOUT=text).dialogue.idle_timeout == timedelta(microseconds=micros)


@given(
    number=st.integers(min_value=0, max_value=9999),
    unit=st.sampled_from([("ms", "milliseconds"), ("s", "seconds"), ("m", "minutes"), ("h", "hours"), ("d", "days")]),
)
def test_every_unit_of_duration_is_read(number: int, unit: tuple[str, str]) -> None:
    """Milliseconds, seconds, minutes, hours and days all mean what they say."""
    read = from_environment(TELEGRAM__GROUP_WINDOW=f"{number}{unit[0]}").telegram.group_window
    assert read == timedelta(**{unit[1]: number})


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_other_text_is_no_duration(text: str) -> None:
    """Whatever is not a number and a unit is refused with the key's name, never with a traceback."""
    if re.fullmatch(r"\s*[0-9]+(\.[0-9]+)?(ms|s|m|h|d)\s*", text):
        text += "x"
    assert fault(DIALOGUE__IDLE_TIMEOUT=text).startswith("dialogue.idle_timeout: ")


@pytest.mark.parametrize("text", ["30", "-5s", "1h30m", "5 s", "1e3s", "", "9" * 400 + "h", "٣s"])
def test_doubtful_durations_are_refused(text: str) -> None:
    """A bare number, a sign, a compound, an exponent, an endless one: all are refused."""
    assert "dialogue.idle_timeout" in fault(DIALOGUE__IDLE_TIMEOUT=text)


def test_bare_number_in_the_file_is_no_duration(tmp_path: Path) -> None:
    """Nobody can tell whether 30 means seconds or minutes."""
    with pytest.raises(ConfigurationError, match=r"dialogue\.idle_timeout: a duration is a number and a unit"):
        from_yaml(tmp_path, "dialogue: {idle_timeout: 30}")


@pytest.mark.parametrize("key", ["SCHEDULER__TICK", "AGENTS__RERANKER__TIMEOUT"])
def test_zero_is_refused_where_it_would_spin_or_fail(key: str) -> None:
    """A tick or a timeout of nothing is a mistake."""
    assert key.lower().replace("__", ".") in fault(**{key: "0s"})


def test_environment_wins_over_the_file(tmp_path: Path) -> None:
    """A variable overrides its key and leaves the neighbours in the file alone."""
    text = "agents: {reranker: {timeout: 5s, candidates: 7}}"
    config = from_yaml(tmp_path, text, LAPLACED_AGENTS__RERANKER__TIMEOUT="60s")
    assert (config.agents.reranker.timeout, config.agents.reranker.candidates) == (timedelta(seconds=60), 7)


def test_one_changed_key_keeps_the_other_defaults_of_its_agent() -> None:
    """An agent's own defaults do not fall back to the common ones when one of them is set."""
    changed = from_environment(AGENTS__ENRICHER__MODEL="m").agents.enricher
    assert changed == Config().agents.enricher.model_copy(update={"model": "m"})


@pytest.mark.parametrize("text", ["1,2", "[1, 2]", " 1 , 2, ", "[1,2] "])
def test_lists_come_as_json_or_with_commas(text: str) -> None:
    """Both ways of writing a list in the environment give the same."""
    assert from_environment(ACCESS__ALLOWED_USER_IDS=text).access.allowed_user_ids == [1, 2]


@given(ids=st.lists(st.integers(min_value=1, max_value=2**52)))
def test_any_list_of_ids_is_read_back(ids: list[int]) -> None:
    """Any list of ids survives the comma-separated form."""
    assert from_environment(ACCESS__ALLOWED_USER_IDS=",".join(map(str, ids))).access.allowed_user_ids == ids


def test_empty_list_in_the_environment_empties_the_one_in_the_file(tmp_path: Path) -> None:
    """An empty variable is an empty list, not an absent one."""
    config = from_yaml(tmp_path, "server: {allowed_hosts: [a.example]}", LAPLACED_SERVER__ALLOWED_HOSTS="")
    assert config.server.allowed_hosts == []


@pytest.mark.parametrize(
    "text", ['[{"name": "Project", "description": ""}, {"name": "Team"}]', "Project, Team", '["Project", "Team"]']
)
def test_nested_lists_come_from_the_environment_too(text: str) -> None:
    """A list of sections is JSON; where a name is enough, names are."""
    assert [kind.name for kind in from_environment(GRAPHITI__ENTITY_TYPES=text).graphiti.entity_types] == [
        "Project",
        "Team",
    ]


def test_whole_section_comes_as_json() -> None:
    """A section may be one variable, and a more exact variable wins over it."""
    config = from_environment(RUNS='{"max_attempts": 3, "retry_base": "1s"}', RUNS__MAX_ATTEMPTS="4")
    assert (config.runs.max_attempts, config.runs.retry_base) == (4, timedelta(seconds=1))


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"TELEGRAM__TOKN": "x"}, "unknown key telegram.tokn (from LAPLACED_TELEGRAM__TOKN)"),
        ({"NOTHING_FILE": "/nowhere"}, "unknown key nothing"),
        ({"TELEGRAM": '{"tokn": "x"}'}, "unknown key telegram.tokn"),
        ({"DATA_DIR__X": "x"}, "unknown key data_dir.x"),
        ({"RUNS": "nonsense", "RUNS__MAX_ATTEMPTS": "4"}, "runs must hold keys and values"),
        ({"RUNS": "nonsense"}, "runs: "),
        ({"SERVER__PORT": "70000"}, "server.port: "),
        ({"ACCESS__ALLOWED_USER_IDS": "[1,"}, "access.allowed_user_ids: "),
        ({"ACCESS__ALLOWED_USER_IDS": "1,x"}, "access.allowed_user_ids.1: "),
        ({"TELEGRAM__MODE": "webhook"}, "telegram: mode webhook needs telegram.webhook.url"),
        ({"TELEGRAM__WEBHOOK__SECRET": "with space"}, "telegram.webhook: secret may hold"),
        ({"LLM__BASE_URL": "localhost:11434"}, "llm.base_url: an address begins with http"),
        ({"LLM__BASE_URL": ""}, "llm.base_url: an address is needed"),
        ({"STORAGE__URL": "mysql://u:p@h/d"}, "storage.url: sqlite:///PATH, postgresql://"),
        ({"STORAGE__URL": "sqlite:///"}, "storage.url: "),
        ({"DATA_DIR": ""}, "data_dir: a folder is needed"),
    ],
)
def test_faults_name_their_key(environ: dict[str, str], said: str) -> None:
    """Whatever cannot be used is refused in words that begin with the key."""
    assert fault(**environ).startswith(said)


def test_all_faults_are_told_at_once() -> None:
    """Two mistakes are both named."""
    said = fault(SERVER__PORT="x", TELEGRAM__MODE="pigeon")
    assert "server.port" in said
    assert "telegram.mode" in said


@pytest.mark.parametrize("text", ["telgram: {token: x}", "telegram: {tokn: x}", "telegram: {webhook: {urll: x}}"])
def test_unknown_keys_in_the_file_are_named(tmp_path: Path, text: str) -> None:
    """A misspelt key is an error that names it, at any depth."""
    with pytest.raises(ConfigurationError, match=r"unknown key tel(gram|egram\.tokn|egram\.webhook\.urll)$"):
        from_yaml(tmp_path, text)


@pytest.mark.parametrize(
    "text", ["", "telegram:\n", "telegram:\n  token:\nrag:\n  retrieval:\n    people_threshold:\n"]
)
def test_a_key_with_nothing_behind_it_keeps_its_default(tmp_path: Path, text: str) -> None:
    """An empty file, section or value changes nothing."""
    assert from_yaml(tmp_path, text) == Config()


@pytest.mark.parametrize("text", ["- a", "just words", "telegram: 5", "telegram: [1]"])
def test_files_of_another_shape_are_refused(tmp_path: Path, text: str) -> None:
    """A list or a word where keys belong is told, also when a variable is set beside it."""
    with pytest.raises(ConfigurationError, match=r"must hold keys and values|telegram: "):
        from_yaml(tmp_path, text, LAPLACED_TELEGRAM__TOKEN="x")


def test_broken_file_is_told_by_its_line_alone(tmp_path: Path) -> None:
    """What stands on a line that cannot be read may be a secret."""
    with pytest.raises(ConfigurationError) as raised:
        from_yaml(tmp_path, f"telegram:\n  token: !{SECRET}\n")
    assert "(line 2)" in str(raised.value)
    assert "show-me" not in str(raised.value)


def test_missing_or_unreadable_file_is_told(tmp_path: Path) -> None:
    """A file that is not there, or no text, is named."""
    with pytest.raises(ConfigurationError, match=r"cannot read .*absent\.yaml: No such file"):
        load(tmp_path / "absent.yaml", {})
    (tmp_path / "config.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="not readable YAML"):
        load(tmp_path / "config.yaml", {})


def test_secret_is_read_from_a_file(tmp_path: Path) -> None:
    """The line break that editors add at the end is no part of the secret."""
    (tmp_path / "token").write_text(f"{SECRET}\n", encoding="utf-8")
    config = from_environment(TELEGRAM__TOKEN_FILE=str(tmp_path / "token"))
    assert config.telegram.token.get_secret_value() == SECRET


def test_secret_files_that_cannot_serve_are_refused(tmp_path: Path) -> None:
    """An absent, empty or doubled secret is told: silence would start the local Telegram instead of the real one."""
    (tmp_path / "empty").write_text(" \n", encoding="utf-8")
    assert "cannot read" in fault(TELEGRAM__TOKEN_FILE=str(tmp_path / "absent"))
    assert "is empty" in fault(TELEGRAM__TOKEN_FILE=str(tmp_path / "empty"))
    assert "both set" in fault(TELEGRAM__TOKEN_FILE=str(tmp_path / "empty"), TELEGRAM__TOKEN=SECRET)


def test_configuration_file_names_the_file_of_a_secret(tmp_path: Path) -> None:
    """The environment wins over it; what cannot serve is told with its key, and no other key may end in _file."""
    (tmp_path / "key").write_text(f"{SECRET}\n", encoding="utf-8")
    named = f"llm:\n  api_key: ''\n  api_key_file: {tmp_path}/key"
    assert from_yaml(tmp_path, named).llm.api_key.get_secret_value() == SECRET
    assert from_yaml(tmp_path, named, LAPLACED_LLM__API_KEY="other").llm.api_key.get_secret_value() == "other"
    for text, said in (
        (f"{named}\n  model_folder_file: x", "unknown key llm.model_folder_file"),
        (named.replace("''", "both"), "llm.api_key_file and llm.api_key are both set"),
        (named.replace("/key", "/absent"), "llm.api_key_file: cannot read"),
    ):
        with pytest.raises(ConfigurationError, match=said):
            from_yaml(tmp_path, text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "llm:\n  model: m\n"),
        ("# mine\nrag:\n  x: 1", "# mine\nrag:\n  x: 1\nllm:\n  model: m\n"),
        ("llm:\n    base_url: u  # why\nrag: 1\n", "llm:\n    base_url: u  # why\n    model: m\nrag: 1\n"),
        ("llm: {base_url: u} # why\n", "llm: {model: m, base_url: u} # why\n"),
        ("llm: # why\n", "llm:\n  model: m # why\n"),
        ("llm:\n  model: 'old' # why\n  api_key: x\n", "llm:\n  model: m # why\n  api_key: ''\n"),
        ("a: &a {b: 1}\nllm: *a\nmore: [*a]\n", None),
        ("- a list", None),
    ],
)
def test_editing_changes_no_other_line(before: str, after: str | None) -> None:
    """A file that cannot be changed safely is refused, and the keys are named."""
    if after is not None:
        assert edited(before, "llm", {"model": "m", "api_key": ""}) == after
        return
    with pytest.raises(ConfigurationError, match="cannot be changed in this file"):
        edited(before, "llm", {"model": "m", "api_key": ""})


def test_model_file_suits_its_agents_unless_they_are_set(tmp_path: Path) -> None:
    """Also where a file holds every default; a value of one's own stays, and a server beside the file is refused."""
    written = SHIPPED.read_text(encoding="utf-8").replace('local: ""', "local: models/tiny-q4.gguf")
    config = from_yaml(tmp_path, written, LAPLACED_AGENTS__ANALYST__TIMEOUT="9s")
    agents = config.agents
    assert {agent.model for _, agent in agents.each()} == {"tiny-q4"}
    assert (config.offline_models, config.offline_embeddings) == (False, True)
    assert (agents.reranker.enabled, agents.enricher.enabled, agents.archivist.enabled) == (False, False, True)
    assert (agents.responder.first_token_timeout, agents.responder.short_prompt) == (timedelta(minutes=10), True)
    assert (agents.archivist.max_tokens, agents.responder.tools) == (1024, False)
    assert (agents.archivist.timeout, agents.analyst.timeout) == (timedelta(hours=1), timedelta(seconds=9))
    forced = from_yaml(tmp_path, written, LAPLACED_AGENTS__RERANKER__ENABLED="true", LAPLACED_LLM__MODEL="mine")
    assert (forced.agents.reranker.enabled, forced.agents.reranker.model) == (True, "mine")
    with pytest.raises(ConfigurationError, match="base_url and local are both set"):
        from_yaml(tmp_path, written, LAPLACED_LLM__BASE_URL="http://127.0.0.1:1/v1")


@pytest.mark.parametrize("agent", ["archivist", "responder", "task_manager", "context_manager", "analyst"])
def test_short_prompts_ask_for_keys_of_the_long_ones(agent: str) -> None:
    """A short prompt is a fifth to a half of the long one, and names no key, kind or block that this does not."""
    package = f"internal.agents.{agent}"
    fields = {"persona_name": "Laplaced", "persona_tone": "warm", "custom_types": ""}
    long, short = instructions(package, **fields), instructions(package, short=True, **fields)
    assert 0.1 < len(short) / len(long) < 0.5
    keys = set(re.findall(r'"(\w+)":', short)) | set(re.findall(r"`([a-z_]+)`", short))
    assert {key for key in keys if not re.search(rf"\b{key}\b", long)} == set()


def test_secrets_are_shown_nowhere(tmp_path: Path) -> None:
    """Neither the printed configuration nor a fault beside it holds a secret."""
    places = {
        "TELEGRAM__TOKEN": SECRET,
        "LLM__API_KEY": SECRET,
        "EMBEDDING__API_KEY": SECRET,
        "SERVER__API_KEY": SECRET,
        "TELEGRAM__WEBHOOK__SECRET": "do-not-show-me",
        "GRAPH__MIRROR_URL": "falkor://:do-not-show-me@host:6379",
        "STORAGE__URL": "postgresql://u:do-not-show-me@host/d",
    }
    config = from_environment(**places)
    assert "show-me" not in repr(config) + str(config)
    assert set(config.secrets()) == {SECRET, "do-not-show-me"}
    assert "show-me" not in fault(**places, SERVER__PORT="x")
    assert "show-me" not in fault(TELEGRAM=f'["{SECRET}"]')
    assert "show-me" not in fault(SERVER__PORT=SECRET)
    assert "show-me" not in fault(STORAGE__URL="mysql://u:do-not-show-me@host/d")


def test_yaml_reads_off_as_a_word_here(tmp_path: Path) -> None:
    """`identity: off` is false to YAML and still means off."""
    assert from_yaml(tmp_path, "metrics: {identity: off}").metrics.identity == "off"


def test_one_setting_names_the_model_of_every_agent() -> None:
    """Whose own is another than the default keeps it, though the file spells out every default."""
    environ = {"LAPLACED_LLM__MODEL": "qwen3", "LAPLACED_AGENTS__ANALYST__MODEL": "big"}
    agents = dict(load(SHIPPED, environ).agents.each())
    assert agents.pop("analyst").model == "big"
    assert {agent.model for agent in agents.values()} == {"qwen3"}


@pytest.mark.parametrize(
    ("environ", "offline_chat", "offline_embeddings"),
    [
        ({}, True, True),
        ({"LLM__BASE_URL": "https://openrouter.ai/api/v1/"}, True, True),
        ({"LLM__API_KEY": "k"}, False, False),
        ({"LLM__BASE_URL": "http://localhost:11434/v1"}, False, False),
        ({"EMBEDDING__API_KEY": "k"}, True, False),
        ({"EMBEDDING__BASE_URL": "http://localhost:11434/v1"}, True, False),
        ({"LLM__API_KEY": "k", "EMBEDDING__PROVIDER": "offline"}, False, True),
        ({"EMBEDDING__PROVIDER": "api"}, True, False),
        ({"LLM__BASE_URL": "http://localhost:11434/v1", "LLM__MODEL": "qwen3"}, False, True),
        ({"LLM__API_KEY": "k", "LLM__MODEL": "qwen3", "EMBEDDING__MODEL": "bge-m3"}, False, False),
    ],
)
def test_which_models_answer(environ: dict[str, str], offline_chat: bool, offline_embeddings: bool) -> None:
    """Offline models answer while neither a key nor another server is set."""
    config = from_environment(**environ)
    assert (config.offline_models, config.offline_embeddings) == (offline_chat, offline_embeddings)


@pytest.mark.parametrize(
    ("environ", "path"),
    [
        ({}, "data/laplaced.db"),
        ({"DATA_DIR": "/srv/l"}, "/srv/l/laplaced.db"),
        ({"STORAGE__URL": "sqlite:///here.db"}, "here.db"),
        ({"STORAGE__URL": "sqlite:////srv/there.db"}, "/srv/there.db"),
    ],
)
def test_where_the_database_is(environ: dict[str, str], path: str) -> None:
    """Three slashes are a path from the working directory, four an absolute one."""
    assert from_environment(**environ).database_path == Path(path)


def test_home_folder_is_understood() -> None:
    """A tilde is the home folder, not a folder of that name."""
    assert from_environment(DATA_DIR="~/l").data_dir == Path.home() / "l"
