"""What can be done about a match that this user knows: continue, end or delete it, each asked for first."""

from __future__ import annotations

from typing import Any

from textual.app import App

from tabuleiro_client.models.saved_matches import SavedMatch, delete_match, end_match
from tabuleiro_client.text import matches
from tabuleiro_client.text.terminal import showable
from tabuleiro_client.tui.context import context_of
from tabuleiro_client.tui.entrance import go_on, go_to_server
from tabuleiro_client.tui.screens.questions import ConfirmScreen, PickerScreen


async def ask_about(app: App[Any], match: SavedMatch) -> None:
    """Ask what to do about a match, and do it.

    Raises: as :func:`go_on`; CommandError.
    """
    context = context_of(app)
    title = showable(match.title, context.writing)
    choices = {}
    if not match.is_over:
        choices["continue"] = f"c  {matches.CONTINUE_MATCH}"
    if not match.is_over and not match.players:
        choices["end"] = f"e  {matches.END_MATCH}"
    if match.is_local:
        choices["delete"] = f"d  {matches.DELETE_MATCH}"
    else:
        choices["forget"] = f"f  {matches.FORGET_MATCH}"
    letters = {way[0]: way for way in choices}
    way = await app.push_screen_wait(PickerScreen(title, choices, letters))
    if way == "continue":
        await go_on(app, match)
    elif way == "forget":
        context.saved_matches.forget(match)
    elif way == "end" and await _is_sure(app, matches.end_question(title), "end it"):
        venue = await go_to_server(context.session, match)
        await end_match(context.saved_matches, venue, match.room, match.secret, context.now_ms())
        context.tell(matches.ended_text(title))
    elif way == "delete" and await _is_sure(app, matches.delete_question(title), "delete it"):
        venue = await go_to_server(context.session, match)
        await delete_match(context.saved_matches, venue, match.room)
        context.tell(matches.deleted_text(title))


async def _is_sure(app: App[Any], question: str, yes: str) -> bool:
    return await app.push_screen_wait(ConfirmScreen(question, yes))
