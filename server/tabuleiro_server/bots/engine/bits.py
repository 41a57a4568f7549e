"""Counting and finding the bits of 64-bit words inside kernels, each one machine instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic

from tabuleiro_server.bots.engine.compiled import Array

Words = Array
"""Bit sets, 64 members a word."""


def _count_bits(_typing: Any, word: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(word), generate


def _lowest_bit(_typing: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], context.get_constant(types.boolean, 1))

    return types.int64(word), generate


def _as_int(_typing: Any, word: Any) -> Any:
    def generate(_context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return types.int64(word), generate


def _as_index(_typing: Any, number: Any) -> Any:
    def generate(_context: Any, _builder: Any, _signature: Any, arguments: Any) -> Any:
        return arguments[0]

    return types.uint64(types.int64), generate


count_bits = cast(Callable[[np.uint64 | int], int], intrinsic(_count_bits))
"""How many bits are set."""
lowest_bit = cast(Callable[[np.uint64 | int], int], intrinsic(_lowest_bit))
"""The index of the lowest bit that is set; there must be one."""
as_int = cast(Callable[[np.uint64 | int], int], intrinsic(_as_int))
"""A number below 2**63 as one that may be added to others: numba makes a float of ``uint64`` plus ``int64``."""
as_index = cast(Callable[[int], int], intrinsic(_as_index))
"""An index, not negative, as a number that cannot be: numba then has no look whether it counts from the end."""
