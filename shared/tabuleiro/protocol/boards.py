"""Positions and games for clients without rules: the picture of a position, the choices in it, the forms of games.

Made from `State.view` and the descriptors of options; see `State.choice` for the choices.
"""

from __future__ import annotations

import msgspec

from tabuleiro.descriptors import ChoiceSetting, DurationSetting, GameOption, NumberSetting, YesNoSetting
from tabuleiro.ids import Player, Ply
from tabuleiro.rules import Game, State
from tabuleiro.rules.page import PartKind, parts_of, words_of
from tabuleiro.rules.view import BoardView, EdgeSide, Target, Topology
from tabuleiro.settings import ROOM_SETTINGS, RoomSetting


class PieceKind(msgspec.Struct, frozen=True, omit_defaults=True):
    """A kind of piece. ``owner`` is ``None`` for pieces of nobody."""

    name: str
    owner: Player | None = None


class BoardLayout(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of a board that stays the same for a whole match.

    ``names``, ``xs`` and ``ys`` have one entry a cell: ``y`` is the line from the top, ``x`` the place in the line
    in half cells. ``grounds`` names the colours printed on cells, by index. ``row_labels`` has one entry a line,
    ``column_labels`` pairs of ``x`` and label. ``pieces`` are the kinds of pieces by their letters.
    """

    topology: Topology
    names: tuple[str, ...]
    xs: tuple[int, ...]
    ys: tuple[int, ...]
    row_labels: tuple[str, ...]
    column_labels: tuple[tuple[int, str], ...]
    pieces: dict[str, PieceKind]
    grounds: dict[str, tuple[int, ...]] = {}


class BoardEdge(msgspec.Struct, frozen=True, omit_defaults=True):
    """A side of the board that means something. ``is_target``: a legal action leads there now."""

    side: EdgeSide
    owner: Player
    text: str
    is_target: bool = False


class BoardNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fact about cells, with a sentence. ``target`` is the cell that it forbids or requires."""

    kind: str
    text: str
    cells: tuple[int, ...] = ()
    owner: Player | None = None
    target: int | None = None


class BoardChoice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A legal action: its text, the cells (or sides) it names in order, and a word where these do not name it."""

    text: str
    targets: tuple[Target, ...] = ()
    word: str = ""


class Board(msgspec.Struct, frozen=True, omit_defaults=True):
    """A position of a match. ``cells`` has one letter a cell, ``.`` where it is empty.

    ``marks`` lists the cells of each mark. ``actions_left`` is ``None`` when the rules don't fix it. ``scores``
    are the group scores of both players. ``choices`` is ``None`` for everybody but the player to move.
    """

    ply: Ply
    cells: str
    to_move: Player | None
    marks: dict[str, tuple[int, ...]] = {}
    actions_left: int | None = None
    edges: tuple[BoardEdge, ...] = ()
    notes: tuple[BoardNote, ...] = ()
    notices: tuple[str, ...] = ()
    scores: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    choices: tuple[BoardChoice, ...] | None = None


class OptionForm(msgspec.Struct, frozen=True, omit_defaults=True):
    """An option of a game or a setting of a room, as a form shows it.

    ``kind`` is ``number``, ``choice``, ``yes-no``, ``clock``, ``duration``, ``level``, ``late-bot`` or
    ``position``. ``field`` is the field of the room's settings; ``is_fixed``: it can't change later. ``low`` and
    ``high`` bound a number, or a duration in ms. ``values`` are those of no and yes. ``default`` is ``None``
    where the game computes it.
    """

    key: str
    label: str
    help: str
    kind: str
    expected: str
    field: str = ""
    is_fixed: bool = False
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()
    values: tuple[bool | str, ...] = ()
    default: int | str | None = None


class RulesStage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A position of a diagram. ``route`` are the cells on the way of what is played next."""

    board: Board
    route: tuple[int, ...] = ()


class RulesDiagram(msgspec.Struct, frozen=True):
    """A diagram of a rules page: its caption, its board and one or two positions on it."""

    caption: str
    layout: BoardLayout
    stages: tuple[RulesStage, ...]


class RulesPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part of a rules page: text of a kind, or diagrams."""

    kind: PartKind
    text: str = ""
    diagrams: tuple[RulesDiagram, ...] = ()


class GameForm(msgspec.Struct, frozen=True, omit_defaults=True):
    """A game as a form shows it: its options, presets and rules page."""

    name: str
    title: str
    sides: tuple[str, str]
    options: tuple[OptionForm, ...]
    presets: dict[str, dict[str, int | str]]
    rules: str


def layout_of(state: State) -> BoardLayout:
    """Return the layout of the board that ``state`` is on."""
    view = state.view()
    grounds: dict[str, list[int]] = {}
    for cell in view.cells:
        if cell.ground:
            grounds.setdefault(cell.ground, []).append(cell.index)
    kinds = [piece for piece, _ in state.pieces()]
    return BoardLayout(
        topology=view.topology,
        names=tuple(cell.name for cell in view.cells),
        xs=tuple(cell.x for cell in view.cells),
        ys=tuple(cell.y for cell in view.cells),
        row_labels=view.row_labels,
        column_labels=view.column_labels,
        pieces={piece.letter: PieceKind(piece.name, piece.owner) for piece in kinds},
        grounds={ground: tuple(cells) for ground, cells in grounds.items()},
    )


def board_of(state: State, ply: int, *, with_choices: bool = False) -> Board:
    """Return a position as clients without rules see it, after ``ply`` actions of its match."""
    choices = None
    if with_choices:
        offered = map(state.choice, state.legal_actions())
        choices = tuple([BoardChoice(choice.text, choice.targets, choice.word) for choice in offered])
    return _board(state.view(), ply, choices)


def _board(view: BoardView, ply: int = 0, choices: tuple[BoardChoice, ...] | None = None) -> Board:
    return Board(
        ply=Ply(ply),
        cells="".join([cell.piece for cell in view.cells]),
        to_move=view.to_move,
        marks=_marks(view),
        actions_left=view.actions_left,
        edges=tuple([BoardEdge(edge.side, edge.owner, edge.text, edge.is_target) for edge in view.edges]),
        notes=tuple([BoardNote(note.kind, note.text, note.cells, note.owner, note.target) for note in view.notes]),
        notices=view.notices,
        scores=view.scores,
        choices=choices,
    )


def _marks(view: BoardView) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    for cell in view.cells:
        for mark in cell.marks:
            found.setdefault(mark.value, []).append(cell.index)
    return {name: tuple(found[name]) for name in sorted(found)}


def game_form(game: type[Game]) -> GameForm:
    """Return the form of a game."""
    return GameForm(
        name=game.name,
        title=game.title,
        sides=game.sides,
        options=tuple(map(_option_form, game.option_specs)),
        presets={name: dict(options) for name, options in game.presets.items()},
        rules=words_of(game.rules_page, game.diagrams),
    )


def rules_parts(game: type[Game]) -> tuple[RulesPart, ...]:
    """Return the rules page of a game with its diagrams."""
    parts = []
    for part in parts_of(game.rules_page):
        if part.kind == "diagrams":
            parts.append(RulesPart(part.kind, diagrams=tuple(_diagram(game, name) for name in part.text.split())))
        else:
            parts.append(RulesPart(part.kind, part.text))
    return tuple(parts)


def _diagram(game: type[Game], name: str) -> RulesDiagram:
    diagram = game.diagrams[name]
    stages = tuple(RulesStage(_board(stage.view), stage.route) for stage in game.stages(name))
    start = game.from_options(diagram.options).initial_state()
    return RulesDiagram(diagram.caption, layout_of(start), stages)


def room_settings_form() -> tuple[OptionForm, ...]:
    """Return the form of the settings of a room."""
    return tuple(map(_option_form, ROOM_SETTINGS))


def _option_form(setting: GameOption | RoomSetting) -> OptionForm:
    low: int | None = None
    high: int | None = None
    default: int | str | None = None
    choices: tuple[str, ...] = ()
    values: tuple[bool | str, ...] = ()
    match setting:
        case NumberSetting():
            low, high, default = setting.low, setting.high, setting.default
        case ChoiceSetting():
            choices, default = setting.choices, setting.default
        case DurationSetting():
            low, high = setting.low_ms, setting.high_ms
        case YesNoSetting():
            values = setting.values
    return OptionForm(
        key=setting.key,
        label=setting.label,
        help=setting.help,
        kind=setting.kind,
        expected=setting.expected,
        field=setting.target,
        is_fixed=setting.is_promise,
        low=low,
        high=high,
        choices=choices,
        values=values,
        default=default,
    )
