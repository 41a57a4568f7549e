"""The tutorial: every position is one of its game, right turns do what is asked for, and wrong ones do not."""

from __future__ import annotations

import pytest

from tabuleiro.errors import IllegalActionError, NotationError
from tabuleiro.rules import registry
from tabuleiro_client.models.tutorial import Course, is_reached
from tabuleiro_client.text.lessons import LESSONS

EVERY_LESSON = [
    pytest.param(game, number, id=f"{game}-{lesson.title.replace(' ', '-')}")
    for game, lessons in LESSONS.items()
    for number, lesson in enumerate(lessons)
]


def course_at(game: str, number: int) -> Course:
    course = Course(game)
    assert number == 0 or course.go(number)
    return course


@pytest.mark.parametrize("game", registry.names())
def test_every_game_has_five_to_eight_lessons(game):
    assert 5 <= len(LESSONS[game]) <= 8


@pytest.mark.parametrize(("game", "number"), EVERY_LESSON)
def test_the_answer_is_a_legal_turn_that_does_what_is_asked_for(game, number):
    course = course_at(game, number)
    state = course.composer.base
    mover = state.to_move
    for text in course.lesson.answer.split():
        assert not is_reached(course.lesson, course.composer.base, state)
        assert state.to_move == mover
        state = state.apply(state.string_to_action(text))
    assert is_reached(course.lesson, course.composer.base, state)
    course.type_actions(course.lesson.answer)
    assert course.is_solved
    assert course.message == f"Right. {course.lesson.insight}"
    assert course.solved == {number}


@pytest.mark.parametrize(("game", "number"), EVERY_LESSON)
def test_the_slip_is_refused_by_the_rules_or_does_not_do_it(game, number):
    course = course_at(game, number)
    state, is_legal = course.composer.base, True
    try:
        for text in course.lesson.slip.split():
            state = state.apply(state.string_to_action(text))
            assert not is_reached(course.lesson, course.composer.base, state)
    except (IllegalActionError, NotationError):
        is_legal = False
    course.type_actions(course.lesson.slip)
    assert not course.is_solved
    assert not course.solved
    assert ("is allowed, but does not do it" in course.message) == is_legal
    assert not course.composer.actions


@pytest.mark.parametrize(("game", "number"), EVERY_LESSON)
def test_most_first_actions_do_not_do_it(game, number):
    course = course_at(game, number)
    lesson, state = course.lesson, course.composer.base
    right = [action for action in state.legal_actions() if is_reached(lesson, state, state.child(action))]
    assert 2 * len(right) <= state.legal_count()


def test_a_stop_really_stops_the_opponent_who_would_have_won():
    for game, lessons in LESSONS.items():
        for lesson in lessons:
            if lesson.aim != "stop":
                continue
            before = registry.load(game, lesson.options).initial_state()
            after_slip = before.apply(before.string_to_action(lesson.slip))
            winners = [after_slip.child(action).outcome for action in after_slip.legal_actions()]
            assert any(outcome is not None and outcome.winner == after_slip.to_move for outcome in winners)


def test_lessons_are_gone_through_and_set_up_again():
    course = Course("virus-wars")
    assert not course.go(-1)
    course.choose(next(cell.index for cell in course.view.cells if cell.name == "b2"))
    assert course.composer.texts() == ["b2"]
    course.step_back()
    assert not course.composer.actions
    course.show_answer()
    assert course.is_solved
    course.choose(0)
    course.step_back()
    assert course.is_solved
    assert course.go(1)
    assert (course.number, course.is_solved, course.solved) == (1, False, {0})
    assert course.go(len(course.lessons) - 2)
    assert not course.go(1)
