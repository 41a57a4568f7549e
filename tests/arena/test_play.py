"""Single games: engines that do well, and engines that crash, hang or cheat."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tabuleiro.engine_process import running_engine
from tabuleiro.rules import registry
from tabuleiro_server.arena.play import GameResult, play_game
from tabuleiro_server.arena.schedule import Entrant, Pairing, Terms, parse_entrant
from tests.net.bots_page import FAULTS, block, scripted, write_engine
from tests.patience import LIMIT_S

RANDOM = Entrant("random", level="random")
SMALL = {"minefield": {"size": 5}, "iris": {"side": 5}, "virus-wars": {"rows": 4, "cols": 4, "steps": 2}}


async def play(
    one: Entrant, other: Entrant, game: str = "minefield", *, limit_ms: int = 5_000, max_plies: int = 200
) -> GameResult:
    terms = Terms(game, SMALL[game], (one, other), 1, 1, limit_ms, max_plies)
    async with asyncio.timeout(LIMIT_S):
        return await play_game(terms, Pairing(1, 1, (0, 1), SMALL[game], (3, 4)))


def engine(folder: Path, source: str) -> Entrant:
    return parse_entrant("minefield", write_engine(folder, source))


@pytest.mark.parametrize("game", SMALL)
async def test_the_engine_of_the_page_plays_a_whole_game_and_the_same_again(tmp_path: Path, game: str) -> None:
    lucky = engine(tmp_path, block("python"))
    first = await play(lucky, RANDOM, game)
    assert first.fault is None
    state = registry.load(game, SMALL[game]).initial_state()
    for text in first.actions:
        state = state.apply(state.string_to_action(text))
    assert state.outcome is not None
    assert (state.outcome.winner, state.outcome.termination) == (first.winner, first.termination)
    assert await play(lucky, RANDOM, game) == first


@pytest.mark.parametrize(("on_go", "told"), FAULTS.items())
async def test_an_engine_that_does_not_choose_loses_with_the_reason(tmp_path: Path, on_go: str, told: str) -> None:
    limit_ms = 50 if "sleep" in on_go else 5_000
    result = await play(RANDOM, engine(tmp_path, scripted(on_go)), limit_ms=limit_ms)
    assert (result.winner, result.termination) == (0, "fault")
    assert result.fault is not None
    assert told in result.fault
    assert len(result.actions) == 1


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            "import nowhere_to_be_found",
            "ended with exit status 1: \"ModuleNotFoundError: No module named 'nowhere",
        ),
        ("import os, sys; os.close(1); sys.stdin.read()", "closed its standard output"),
        ("print('best a1', flush=True); input(); input()", "said best when ready was expected"),
        (scripted("pass", "print('error I know no games', flush=True)"), "reports an error: I know no games"),
        (scripted("print('ready', flush=True)"), "said ready when best was expected"),
    ],
)
async def test_an_engine_that_gets_the_conversation_wrong_loses(tmp_path: Path, source: str, told: str) -> None:
    result = await play(engine(tmp_path, source), RANDOM)
    assert result.fault is not None
    assert told in result.fault
    assert (result.winner, result.actions) == (1, ())


async def test_a_program_that_cannot_be_run_loses(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"\x7fELF nonsense")
    broken.chmod(0o755)
    result = await play(RANDOM, Entrant("broken", command=(str(broken),)))
    assert result.winner == 0
    assert result.fault is not None
    assert "cannot be started" in result.fault


async def test_a_game_is_cut_at_the_limit_of_plies() -> None:
    result = await play(RANDOM, RANDOM, max_plies=3)
    assert (result.winner, result.termination, len(result.actions)) == (None, "ply-limit", 3)


async def test_the_effort_of_both_sides_is_counted_by_turns() -> None:
    result = await play(Entrant("m", level="minimax depth=1"), RANDOM, "virus-wars", max_plies=6)
    first, second = result.efforts
    assert (first.turns, second.turns) == (2, 1)
    assert first.nodes is not None
    assert first.nodes >= 4
    assert second.nodes is None
    assert min(first.thought_ms, second.thought_ms) > 0


async def test_the_parts_of_a_turn_share_its_time(tmp_path: Path) -> None:
    source = scripted(
        "print('info', rest, flush=True); open('LIMITS', 'a').write(rest.split()[1] + '\\n'); "
        "time.sleep(0.05); print('best', CHOICES[len(played)], flush=True)"
    )
    limits = tmp_path / "limits.txt"
    state = registry.load("virus-wars", SMALL["virus-wars"]).initial_state()
    choices = []
    while state.actions_in_turn > 0 or not choices:
        choices.append(state.action_to_string(state.legal_actions()[0]))
        state = state.child(state.legal_actions()[0])
    patient = engine(tmp_path, source.replace("LIMITS", str(limits)).replace("CHOICES", repr(choices)))
    await play(patient, RANDOM, "virus-wars", max_plies=2)
    first, second = map(int, limits.read_text().split())
    assert first == 5_000
    assert second <= 4_950


async def test_an_engine_that_will_not_quit_is_killed(tmp_path: Path) -> None:
    source = scripted("pass").replace("break", "time.sleep(600)") + "time.sleep(600)\n"
    async with asyncio.timeout(LIMIT_S):
        async with running_engine(engine(tmp_path, source).command) as stubborn:
            await stubborn.greet()
        assert stubborn.exit_status is not None
        assert stubborn.exit_status < 0
