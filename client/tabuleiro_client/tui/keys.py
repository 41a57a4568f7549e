"""The key map: what every key does, by the screens on which it works.

The footer shows the short text of a key, the help page on ``F1`` its sentence. Over a board letters and digits
are typed: there a command has a function key, a key with Ctrl, or a letter in the menu. No key needs AltGr on the
keyboards of Europe without another beside it, and none is a control code that terminals send for Enter, Tab,
Backspace or Esc.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from textual.binding import Binding


def key(
    keys: str, action: str, label: str, sentence: str, *, shown: bool = True, sign: str | None = None
) -> Binding:
    """Return the binding of a key (or several, separated by commas) to ``action``.

    ``label`` goes into the footer if ``shown``, ``sentence`` into the help page. ``sign`` is how the key is
    written, ``None`` for its own name.
    """
    return Binding(keys, action, label, show=shown, tooltip=sentence, key_display=sign)


_SIGNS: Final = {
    "question_mark": "?",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "comma": ",",
    "full_stop": ".",
    "slash": "/",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "dollar_sign": "$",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "colon": "a-z 0-9 :",
    "escape": "Esc",
    "pageup": "PgUp",
    "pagedown": "PgDn",
}


def key_sign(binding: Binding) -> str:
    """Return the name of a binding's key for people."""
    name = binding.key
    if name in _SIGNS or len(name) == 1:
        return _SIGNS.get(name, name)
    if name.startswith("ctrl+") and len(name) == len("ctrl+") + 1:
        return f"^{name[-1]}"
    return "-".join(part.capitalize() for part in name.split("+"))


MENU_LETTERS: Final[Mapping[str, str]] = {
    "app.rules": "i",
    "send": "s",
    "undo": "u",
    "pass_turn": "p",
    "why": "w",
    "hint": "H",
    "explain": "x",
    "chat": "t",
    "offer('draw')": "d",
    "offer('takeback')": "b",
    "offer('rematch')": "r",
    "answer(True)": "y",
    "answer(False)": "n",
    "resign": "R",
    "abort": "A",
    "claim": "C",
    "copy_code": "c",
    "copy_position": "P",
    "mute": "M",
    "go_to": "g",
    "branch": "v",
    "autoplay": "o",
}
"""The letters by which the menu picks actions; an action of another key that is a letter has that one."""

_HELP = "Show the keys that work here."
_MENU = "List the commands of this screen; a letter picks one."

EVERYWHERE: Final = (
    key("question_mark", "help", "help", _HELP, sign="?"),
    # A line of text takes the question mark for a letter, and a dialog has no keys but its own.
    replace(key("f1", "help", "help", _HELP, sign="F1"), priority=True),
    key("f2", "rules", "rules", "Open the rules of the games.", shown=False),
    key("f9,ctrl+o", "menu", "menu", _MENU, shown=False),
    key("ctrl+z", "suspend_process", "suspend", "Suspend: go to the shell; fg continues.", shown=False, sign="^z"),
    key(
        "ctrl+q", "quit", "quit", "Leave the program; seats in running matches stay yours.", shown=False, sign="^q"
    ),
    # Before any widget has a say: a line of text would take it for a wish to copy.
    replace(key("ctrl+c", "quit", "quit", "Leave the program.", shown=False, sign="^c"), priority=True),
)

DIALOG_HELP: Final = key("question_mark", "app.help", "help", _HELP, sign="?")
"""The question mark in a dialog, which the keys of the application do not reach."""

BACK: Final = key("escape", "back", "back", "Go back one step, or to the screen before.", sign="Esc")

BOARD: Final = (
    key("left", "move(-1, 0)", "left", "Move the cursor left.", shown=False, sign="<-"),
    key("down", "move(0, 1)", "down", "Move the cursor down.", shown=False),
    key("up", "move(0, -1)", "up", "Move the cursor up.", shown=False),
    key("right", "move(1, 0)", "right", "Move the cursor right.", shown=False, sign="->"),
    key("home,shift+tab", "jump_legal(-1)", "before", "Go to the previous cell that can be chosen.", shown=False),
    key("end,tab", "jump_legal(1)", "next", "Go to the next cell that can be chosen.", shown=False),
    key("enter,space", "choose", "choose", "Choose the cell under the cursor, as a click does.", sign="Enter"),
    key("shift+left", "point(-1, 0)", "left", "Move the cursor left.", shown=False),
    key("shift+down", "point(0, 1)", "down", "Move the cursor down.", shown=False),
    key("shift+up", "point(0, -1)", "up", "Move the cursor up.", shown=False),
    key("shift+right", "point(1, 0)", "right", "Move the cursor right.", shown=False),
)

MENU: Final = key("f9", "app.menu", "menu", _MENU, sign="F9")
RULES: Final = key("f2", "app.rules", "rules", "Open the rules of this game.", sign="F2")
CHAT: Final = (
    key("f4", "chat", "chat", "Write to the room.", sign="F4"),
    key("ctrl+t", "chat", "chat", "Write to the room.", shown=False),
)
ANSWERS: Final = (
    key("f7", "answer(True)", "yes", "Accept the offer on the banner.", sign="F7"),
    key("ctrl+y", "answer(True)", "yes", "Accept the offer on the banner.", shown=False),
    key("f8", "answer(False)", "no", "Decline the offer on the banner, or withdraw your own.", sign="F8"),
    key("ctrl+n", "answer(False)", "no", "Decline the offer on the banner, or withdraw your own.", shown=False),
)
REMATCH: Final = key("ctrl+r", "offer('rematch')", "rematch", "Offer a rematch once the match is over.", sign="^r")
COPY_CODE: Final = key("ctrl+k", "copy_code", "copy code", "Copy the code of the room.", shown=False)
COPY_POSITION: Final = key(
    "ctrl+b", "copy_position", "copy position", "Copy the position as text, for the option position.", shown=False
)
MUTE: Final = key("ctrl+l", "mute", "mute", "Mute somebody in this room, or let them chat again.", shown=False)
WHY: Final = key("f3", "why", "why?", "Explain this cell (why it cannot be played).", sign="F3")

_EXPLAIN: Final = "Tell what each choice is worth to a bot, and why."
EXPLAIN: Final = key("f10,ctrl+f", "explain", "explain", _EXPLAIN, shown=False, sign="F10")

MATCH: Final = (
    key("colon", "type", "type", "Any letter or digit begins a line: type cells, e.g. c3 d4.", shown=False),
    key("ctrl+e", "send", "send", "Send the actions chosen so far, before the turn is complete.", sign="^e"),
    key("backspace", "undo", "undo", "Undo the last action of your turn.", sign="Bksp"),
    MENU,
    *ANSWERS,
    REMATCH,
    RULES,
    WHY,
    EXPLAIN,
    *CHAT,
    key("f5", "hint", "hint", "Ask for a hint, if this room gives hints; everybody is told.", sign="F5"),
    key("f6", "pass_turn", "pass", "Pass, where the game has it; you are asked first.", sign="F6"),
    key("ctrl+d", "offer('draw')", "draw", "Offer a draw; you are asked first.", shown=False),
    key("ctrl+u", "offer('takeback')", "take back", "Ask to take your last turn back.", shown=False),
    key("ctrl+x", "resign", "resign", "Resign the match; you are asked first.", shown=False),
    key("ctrl+a", "abort", "abort", "End a match that has hardly begun, without a result.", shown=False),
    COPY_CODE,
    COPY_POSITION,
    MUTE,
)

CLAIM: Final = key("f7", "claim", "claim", "Claim the win over an absent opponent.", sign="F7")
"""The yes to the banner that says so; where an offer waits, its yes comes first."""

CHOOSER: Final = (
    key("b,f", "screen.boost", "boost", "Rocket Boost: run on by the value of the ship landed on."),
    key("r,x", "screen.reprogram", "reprogram", "Reprogram Coordinates: put the ship landed on elsewhere."),
    key("backspace,u,escape", "screen.undo", "undo", "Land somewhere else.", sign="Bksp"),
)
"""The keys of the choice that a ship landed on another leaves open; while it stands it has the focus."""

STEPPING: Final = (
    key("left", "scroll(-1)", "step", "One action back.", sign="<->"),  # for the next as well
    key("left_square_bracket,comma,ctrl+left", "scroll(-1)", "step", "One action back.", shown=False),
    key("right,right_square_bracket,full_stop,ctrl+right", "scroll(1)", "step on", "One action on.", shown=False),
    key("pageup,up,left_curly_bracket", "scroll_turn(-1)", "turn back", "One turn back.", shown=False),
    key("pagedown,down,right_curly_bracket", "scroll_turn(1)", "turn on", "One turn on.", shown=False),
    key("home,ctrl+home", "scroll_to_start", "start", "To the start.", shown=False),
    key(
        "end,ctrl+end,dollar_sign",
        "scroll_to_end",
        "end",
        "To the end; in a running match: the present.",
        shown=False,
    ),
    key("ctrl+g", "go_to", "go to", "Go to a turn, e.g. 5, or to an action, e.g. a34.", shown=False),
)
"""Stepping through what was played. Over a board whose cursor the arrows move, Ctrl and Page keys do it."""

LOOKING: Final = (
    key("0", "scroll_to_start", "start", "To the start.", shown=False),
    key("9", "scroll_to_end", "end", "To the end; in a running match: the present.", shown=False),
    key("g", "go_to", "go to", "Go to a turn, e.g. 5, or to an action, e.g. a34.", shown=False),
)
"""Keys of a replay alone: over a board to play on they are typed."""

REPLAY: Final = (
    key("space", "autoplay", "play", "Play the record by itself, or stop.", sign="Space"),
    key("a", "evaluate", "value", "Show what the position is worth and the best turn; again: no more.", sign="a"),
    key("A", "judge", "judge", "Judge every turn: a graph, the worst ones marked; again: stop.", shown=False),
    key("x,f10,ctrl+f", "explain", "explain", _EXPLAIN, shown=False, sign="x"),
    key("t,f12,ctrl+w", "tree", "tree", "Show the tree of a search from here.", shown=False, sign="t"),
    key("plus,equals_sign", "faster(1)", "faster", "Autoplay faster.", shown=False),
    key("minus", "faster(-1)", "slower", "Autoplay slower.", shown=False),
    MENU,
    key("f6,enter", "branch", "try", "Branch off here and try moves; again: back to the record.", sign="F6"),
    key("v", "branch", "try", "Branch off here and try moves; again: back to the record.", shown=False),
    key("backspace", "undo", "undo", "Undo the last move tried.", shown=False, sign="Bksp"),
    replace(RULES, show=False),
    key("e", "export", "save", "Write the record into a file.", sign="e"),
    COPY_POSITION,
    key("m", "pick_match", "match", "Look through another match of this room.", shown=False, sign="m"),
    key("less_than_sign", "other_match(-1)", "match before", "The match of this room before.", shown=False),
    key("greater_than_sign", "other_match(1)", "next match", "The next match of this room.", shown=False),
)

SPEED: Final = (
    key("plus,equals_sign", "speed(1)", "faster", "Show what bots play faster.", sign="+"),
    key("minus", "speed(-1)", "slower", "Show what bots play slower.", sign="-"),
)

READING: Final = (
    key("down,j", "scroll_page(1)", "down", "Scroll the page down.", shown=False),
    key("up,k", "scroll_page(-1)", "up", "Scroll the page up.", shown=False),
    key("space,pagedown", "scroll_page(10)", "read on", "Scroll the page on.", sign="Space"),
    key("pageup", "scroll_page(-10)", "back up", "Scroll the page back.", shown=False),
)

THINKING: Final = (
    key("right,tab", "choose(1)", "next", "Ask the next bot.", sign="->"),
    key("left,shift+tab", "choose(-1)", "before", "Ask the bot before.", shown=False, sign="<-"),
    key("colon,e", "type", "another", "Type another, e.g. alpha-beta depth=3 or minimax-2.", sign="e"),
)

TREE: Final = (
    key("1", "grow(1)", "depth", "Show one action ahead.", sign="1 2 3"),
    key("2", "grow(2)", "depth", "Show two actions ahead.", shown=False),
    key("3", "grow(3)", "depth", "Show three actions ahead.", shown=False),
)

TUTORIAL: Final = (
    key("pagedown", "go(1)", "next", "Go to the next lesson.", sign="PgDn"),
    key("pageup", "go(-1)", "before", "Go to the lesson before.", shown=False),
    key("f5", "answer", "answer", "Show a right turn.", sign="F5"),
    key("backspace", "undo", "undo", "Undo the last action of your turn.", sign="Bksp"),
    key("colon", "type", "type", "Any letter or digit begins a line: type cells, e.g. c3 d4.", shown=False),
    key("f6", "pass_turn", "pass", "Pass, where the game has it.", shown=False),
    MENU,
    RULES,
)

RULES_PANEL: Final = (key("escape,f2", "close", "close", "Close the rules.", sign="Esc"),)
"""The keys of the rules beside a board, which has the focus again afterwards."""

HOME: Final = (
    key("1", "open('bot')", "bot", "Play against a bot, on this machine.", shown=False),
    key("2", "open('both')", "two here", "Play with two people at this keyboard.", shown=False),
    key("o", "open('connect')", "online", "Connect to a server.", sign="o"),
    key("j", "open('join')", "join", "Join or watch a room by its code.", shown=False),
    key("w", "open('watch')", "watch", "See which matches are being played on the server.", shown=False),
    key("p", "open('replays')", "replays", "Look through matches that were played.", sign="p"),
    key("t", "open('tutorial')", "learn", "Learn a game: find the move in a few positions.", sign="t"),
    key("r", "open('rules')", "rules", "Read the rules of the games, and try them.", sign="r"),
    key("s", "open('settings')", "settings", "Change colours, characters, bell and name.", sign="s"),
    key("q", "app.quit", "quit", "Leave the program; seats in running matches stay yours.", sign="q"),
    key("delete,x", "ask_about", "end", "End or delete the highlighted match; you are asked first.", sign="x"),
)

LOBBY: Final = (
    key("enter", "enter_room", "enter", "Enter the room: to play if a seat is free, else to watch.", sign="Enter"),
    key("w", "watch_room", "watch", "Watch the room.", sign="w"),
    key("n", "new_room", "new", "Make a room.", sign="n"),
    key("q", "quick_play", "quick", "Play with whoever waits for the same game, or wait.", sign="q"),
    key("j", "by_code", "join", "Join or watch a room by its code.", sign="j"),
    key("f3", "find", "find", "Show the rooms whose code, game or names have what you type.", sign="F3"),
    key("slash", "find", "find", "Show the rooms whose code, game or names have what you type.", shown=False),
    key("t", "chat", "chat", "Write to everybody in the lobby.", sign="t"),
    key("f4,ctrl+t", "chat", "chat", "Write to everybody in the lobby.", shown=False),
    key("M,ctrl+l", "hide_writer", "hide", "Hide what somebody writes here, or show it again.", shown=False),
    key("g", "next_game", "game", "Show the rooms of the next game, or of every game.", shown=False),
    key("f", "next_state", "state", "Show other rooms: waiting, being played, over.", shown=False),
    key("escape", "find_all", "all", "Clear the search: show all rooms again.", sign="Esc"),
    BACK,
)

ROOM: Final = (
    key("c", "copy_code", "code", "Copy the code of the room, with the secret of a private one.", sign="c"),
    key("i", "copy_invitation", "invite", "Copy the command by which somebody else joins, or watches.", sign="i"),
    key("b", "seat_bot", "bot", "Put a bot on the free seat, or another in its place.", sign="b"),
    key("x", "unseat_bot", "bot off", "Take the bot off its seat.", sign="x"),
    key("s", "swap", "swap", "Let the players change seats.", sign="s"),
    key("e", "change_settings", "setup", "Change the settings for the matches to come.", sign="e"),
    key("r", "rematch", "rematch", "Offer a rematch.", sign="r"),
    *ANSWERS,
    key("y", "answer(True)", "yes", "Accept the offer on the banner.", shown=False),
    key("n", "answer(False)", "no", "Decline the offer on the banner, or withdraw your own.", shown=False),
    key("enter,m", "open_match", "board", "Look at the board of the match.", sign="Enter"),
    key("t", "chat", "chat", "Write to the room.", sign="t"),
    *CHAT,
    replace(RULES, show=False),
    key("M", "mute", "mute", "Mute somebody in this room, or let them chat again.", shown=False),
    MUTE,
)

SUBMIT: Final = key("ctrl+s", "submit", "start", "Go ahead with what is filled in.", sign="^s")

FORM: Final = (
    SUBMIT,
    key("down", "next_field", "next", "Go to the next field.", shown=False),
    key("up", "field_before", "before", "Go to the field before.", shown=False),
)
