"""Fading as a function of time alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings, strategies as st

from internal.config.settings import MemoryConfig, load
from internal.errors import ConfigurationError
from internal.memory.plasticity.decay import PRESETS, Plasticity, plasticity_of, retention, settled, strengthened

NOON = datetime(2026, 2, 7, 12, tzinfo=UTC)
WEEK = timedelta(days=7)
SHARES = st.floats(0, 1)
HALF_LIVES = st.floats(0.01, 36_500).map(lambda days: timedelta(days=days))


@settings(deadline=None)
@given(SHARES, HALF_LIVES, st.integers(1, 200))
def test_hourly_weekly_and_once_come_to_the_same(strength: float, half_life: timedelta, steps: int) -> None:
    """How much a link decays is a matter of the time that passed, never of how often somebody looked."""
    end = NOON + WEEK
    often, since = strength, NOON
    for step in range(1, steps + 1):
        moment = NOON + step * (WEEK / steps)
        often, since = settled(often, since, moment, half_life), moment
    often = settled(often, since, end, half_life)
    assert often == pytest.approx(settled(strength, NOON, end, half_life), rel=1e-9, abs=1e-300)
    assert 0.0 <= often <= 1.0


@settings(deadline=None)
@given(SHARES, HALF_LIVES, st.lists(st.tuples(st.integers(0, 600), SHARES), max_size=6), st.data())
def test_maintenance_between_uses_changes_nothing(
    strength: float, half_life: timedelta, uses: list[tuple[int, float]], data: st.DataObject
) -> None:
    """A use first lets a link decay to its own moment: with and without nights in between the strength is the same."""
    seldom = often = (strength, NOON)
    now = NOON
    for hours, amount in uses:
        for share in sorted(data.draw(st.lists(st.floats(0, 1), max_size=4))):
            night = now + share * timedelta(hours=hours)
            often = (settled(*often, night, half_life), night)
        now += timedelta(hours=hours)
        seldom = (strengthened(settled(*seldom, now, half_life), amount), now)
        often = (strengthened(settled(*often, now, half_life), amount), now)
    assert often[0] == pytest.approx(seldom[0], rel=1e-9, abs=1e-300)
    assert 0.0 <= often[0] <= 1.0


@settings(deadline=None)
@given(st.floats(0, 1), HALF_LIVES, st.floats(0, 400))
def test_a_clock_that_was_wrong_is_forgiven(strength: float, half_life: timedelta, lives: float) -> None:
    """What decayed by a clock that was ahead is back once the clock is right."""
    ahead = NOON + min(lives * half_life, timedelta(days=365 * 5_000))
    wrong = settled(strength, NOON, ahead, half_life)
    assert settled(wrong, ahead, NOON, half_life) == pytest.approx(strength, rel=1e-6, abs=1e-12)


def test_the_curve() -> None:
    """Half after a half-life, a quarter after two; without a half-life nothing fades."""
    half_life = timedelta(days=90)
    for lives, left in ((0, 0.8), (1, 0.4), (2, 0.2), (20_000, 0.0)):
        assert settled(0.8, NOON, NOON + lives * half_life, half_life) == pytest.approx(left)
    assert settled(0.8, NOON, NOON + 1000 * half_life, None) == 0.8
    assert strengthened(0.95, 0.1) == 1.0


def test_use_and_certainty_retain_a_memory() -> None:
    """Idle time counts from the last use, the half-life grows with uses, uncertain memories go first."""
    half_life, later = timedelta(days=90), NOON + timedelta(days=180)
    assert retention(NOON, None, 0, 1.0, later, half_life) == pytest.approx(0.25)
    assert retention(NOON, None, 0, 0.4, later, half_life) == pytest.approx(0.1)
    assert retention(NOON, NOON + half_life, 0, 1.0, later, half_life) == pytest.approx(0.5)
    often = [retention(NOON, NOON, count, 1.0, later, half_life) for count in (0, 1, 10, 100)]
    assert often == sorted(often)
    assert often[1] == pytest.approx(2 ** -(2 / 1.6931471805599454))
    assert retention(NOON, None, 0, 0.7, NOON + 1000 * half_life, None) == 0.7
    assert retention(later, None, 0, 1.0, NOON, half_life) == 1.0


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_named_and_single_rates_stand_over_them(preset: str) -> None:
    """An empty value is the preset's, from the environment too; the rates are ordered as their names say."""
    given = {"LAPLACED_MEMORY__PLASTICITY": preset, "LAPLACED_MEMORY__STRENGTHEN": ""}
    assert plasticity_of(load(None, given).memory) == PRESETS[preset]  # type: ignore[index] # each key is one
    own = {"STRENGTHEN": "0.3", "HALF_LIFE_DAYS": "7", "PRUNE_BELOW": "0.2", "FORGET_BELOW": "0"}
    one_by_one = load(None, given | {f"LAPLACED_MEMORY__{name}": value for name, value in own.items()}).memory
    assert plasticity_of(one_by_one) == Plasticity(0.3, WEEK, 0.2, 0.0)


def test_the_presets_differ_as_they_are_called() -> None:
    """Aggressive learns and forgets faster than default, conservative more slowly, off not at all."""
    slow, normal, fast = (PRESETS[name] for name in ("conservative", "default", "aggressive"))
    assert slow.strengthen < normal.strengthen < fast.strengthen
    lives = [one.half_life or timedelta() for one in (slow, normal, fast)]
    assert lives[0] > lives[1] > lives[2]
    assert slow.prune_below < normal.prune_below < fast.prune_below
    assert PRESETS["off"] == Plasticity(0.0, None, 0.0, 0.0)
    assert plasticity_of(MemoryConfig()) == normal


@pytest.mark.parametrize(
    ("name", "value"),
    [("STRENGTHEN", "1.5"), ("HALF_LIFE_DAYS", "0"), ("HALF_LIFE_DAYS", "inf"), ("PRUNE_BELOW", "nan")],
)
def test_rates_outside_their_range_are_named(name: str, value: str) -> None:
    """The error names the key."""
    with pytest.raises(ConfigurationError, match=rf"memory\.{name.lower()}"):
        load(None, {f"LAPLACED_MEMORY__{name}": value})
