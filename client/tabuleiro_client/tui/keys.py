"""The key map: what every key does, by the screens on which it works.

The footer shows the short text of a key, the help page on ``?`` its sentence.
"""

from __future__ import annotations

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


_HELP = "Show the keys that work here."

EVERYWHERE: Final = (
    key("question_mark", "help", "help", _HELP, sign="?"),
    # A line of text takes the question mark for a letter, and a dialog has no keys but its own.
    replace(key("f1", "help", "help", _HELP, sign="F1"), priority=True),
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
    key("left,h", "move(-1, 0)", "left", "Move the cursor left.", shown=False),
    key("down,j", "move(0, 1)", "down", "Move the cursor down.", shown=False),
    key("up,k", "move(0, -1)", "up", "Move the cursor up.", shown=False),
    key("right,l", "move(1, 0)", "right", "Move the cursor right.", shown=False),
    key("home,shift+tab", "jump_legal(-1)", "before", "Jump to the cell before that can be chosen.", shown=False),
    key("end,tab", "jump_legal(1)", "next", "Jump to the next cell that can be chosen.", shown=False),
    key("enter,space", "choose", "choose", "Choose the cell under the cursor, as a click does.", sign="Enter"),
)

MUTE: Final = key(
    "M", "mute", "mute", "Mute somebody in this room, or let them talk again.", shown=False, sign="M"
)

MATCH: Final = (
    key("u,backspace", "undo", "undo", "Undo the last step of your turn.", sign="u"),
    key("s", "send", "send", "Send what is composed of the turn now.", sign="s"),
    key("p", "pass_turn", "pass", "Pass, where the game has it.", sign="p"),
    key("i,colon", "type", "type", "Type actions, e.g. c3 d4.", shown=False, sign="i"),
    key(
        "w",
        "why",
        "why?",
        "Say what is known of a cell, and why it is forbidden.",
        sign="w",
    ),
    key("H", "hint", "hint", "Ask what to play, if this room gives hints; everybody is told.", sign="H"),
    key("t", "chat", "chat", "Write to the room.", sign="t"),
    key("d", "offer('draw')", "draw", "Offer a draw.", shown=False),
    key("b", "offer('takeback')", "take back", "Ask to take your last turn back.", shown=False),
    key("r", "offer('rematch')", "rematch", "Offer a rematch once the match is over.", sign="r"),
    key("y", "answer(True)", "yes", "Accept the offer on the banner.", shown=False),
    key("n", "answer(False)", "no", "Decline the offer on the banner, or withdraw your own.", shown=False),
    key("R", "resign", "resign", "Give the match up, after a question.", shown=False, sign="R"),
    key("A", "abort", "abort", "End a match hardly begun without a result.", shown=False, sign="A"),
    key("C", "claim", "claim", "Claim the win over an opponent who stays away.", shown=False, sign="C"),
    key("c", "copy_code", "copy code", "Copy the code of the room.", shown=False),
    MUTE,
    key(
        "left_square_bracket",
        "scroll(-1)",
        "earlier",
        "Look at the position one action earlier.",
        shown=False,
        sign="[",
    ),
    key(
        "right_square_bracket",
        "scroll(1)",
        "later",
        "Look at the position one action later.",
        shown=False,
        sign="]",
    ),
)

SHIPS: Final = (
    key("1", "ship(1)", "1", "Place a ship of value 1.", shown=False),
    key("2", "ship(2)", "2", "Place a ship of value 2.", shown=False),
    key("3", "ship(3)", "3", "Place a ship of value 3.", shown=False),
    key("f", "boost", "boost", "Rocket Boost: run on by the value of the ship landed on.", shown=False),
    key("x", "reprogram", "reprogram", "Reprogram Coordinates: put the ship landed on elsewhere.", shown=False),
)

STEPPING: Final = (
    key("left_square_bracket,comma", "scroll(-1)", "step", "One action back.", sign="[ ]"),  # for the next as well
    key("right_square_bracket,full_stop", "scroll(1)", "step on", "One action on.", shown=False, sign="]"),
    key("left_curly_bracket,pageup", "scroll_turn(-1)", "turn back", "One turn back.", shown=False, sign="{"),
    key("right_curly_bracket,pagedown", "scroll_turn(1)", "turn on", "One turn on.", shown=False, sign="}"),
    key("0", "scroll_to_start", "start", "To the start.", shown=False),
    key(
        "dollar_sign,9",
        "scroll_to_end",
        "end",
        "To the end; in a running match: live again.",
        shown=False,
        sign="$",
    ),
    key("g", "go_to", "go to", "Go to a turn, e.g. 5, or to an action, e.g. a34.", shown=False, sign="g"),
)

REPLAY: Final = (
    key("a", "autoplay", "play", "Play the record by itself, or stop.", sign="a"),
    key("plus,equals_sign", "faster(1)", "faster", "Autoplay faster.", shown=False, sign="+"),
    key("minus", "faster(-1)", "slower", "Autoplay slower.", shown=False, sign="-"),
    key("v", "branch", "try", "Branch off here and try moves; again: back to the record.", sign="v"),
    key("u,backspace", "undo", "undo", "Undo the last move tried.", shown=False, sign="u"),
    key("e", "export", "save", "Write the record into a file.", sign="e"),
    key("m", "pick_match", "match", "Look through another match of this room.", shown=False, sign="m"),
    key(
        "less_than_sign",
        "other_match(-1)",
        "match before",
        "The match of this room before.",
        shown=False,
        sign="<",
    ),
    key(
        "greater_than_sign", "other_match(1)", "next match", "The next match of this room.", shown=False, sign=">"
    ),
)

HOME: Final = (
    key("1", "open('bot')", "bot", "Play against a bot, on this machine.", shown=False),
    key("2", "open('both')", "two here", "Play with two people at this keyboard.", shown=False),
    key("o", "open('connect')", "online", "Connect to a server.", sign="o"),
    key("j", "open('join')", "join", "Join or watch a room by its code.", shown=False),
    key("w", "open('watch')", "watch", "See which matches are being played on the server.", shown=False),
    key("p", "open('replays')", "replays", "Look through matches that were played.", sign="p"),
    key("r", "open('rules')", "rules", "Read the rules of the games, and try them.", sign="r"),
    key("s", "open('settings')", "settings", "Change the looks and ways of this program.", sign="s"),
    key("q", "app.quit", "quit", "Leave the program; seats in running matches stay yours.", sign="q"),
    key("delete,x", "forget", "forget", "Take the highlighted match off the list.", shown=False, sign="x"),
)

LOBBY: Final = (
    key("enter", "enter_room", "enter", "Enter the room: to play if a seat is free, else to watch.", sign="Enter"),
    key("w", "watch_room", "watch", "Watch the room.", sign="w"),
    key("n", "new_room", "new", "Make a room.", sign="n"),
    key("q", "quick_play", "quick", "Play with whoever waits for the same game, or wait.", sign="q"),
    key("c", "by_code", "code", "Join or watch a room by its code.", sign="c"),
    key("slash", "find", "find", "Show the rooms whose code, game or names have what you type.", sign="/"),
    key("g", "next_game", "game", "Show the rooms of the next game, or of every game.", shown=False),
    key("f", "next_state", "state", "Show other rooms: waiting, being played, over.", shown=False),
    key("escape", "find_all", "all", "Look for nothing any more: show all rooms again.", sign="Esc"),
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
    key("y", "answer(True)", "yes", "Accept the offer on the banner.", shown=False),
    key("n", "answer(False)", "no", "Decline the offer on the banner, or withdraw your own.", shown=False),
    key("enter,m", "open_match", "board", "Look at the board of the match.", sign="Enter"),
    key("t", "chat", "chat", "Write to the room.", sign="t"),
    MUTE,
)

SUBMIT: Final = key("ctrl+s", "submit", "start", "Ask for what is filled in.", sign="^s")

FORM: Final = (
    SUBMIT,
    key("down", "next_field", "next", "Go to the next field.", shown=False),
    key("up", "field_before", "before", "Go to the field before.", shown=False),
)
