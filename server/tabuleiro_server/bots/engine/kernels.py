"""Compilation of kernels, the cache of their machine code, and the bits and random numbers that all of them use.

Needs the extra ``bots``.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, cast

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray
from platformdirs import user_cache_path

Array: TypeAlias = NDArray[Any]
"""An array in a kernel. Names and docstrings say how wide its numbers are."""

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def _source_digest() -> str:
    """Return a fingerprint of the sources of all kernels."""
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.rglob("*.py")):
        text = source.read_bytes()
        if b"kernel" in text:
            digest.update(text)
    return digest.hexdigest()


def _set_cache_folder() -> Path:
    """Keep machine code in a folder of its own for each version of the sources, and return the folder.

    numba notices when the file of a kernel changes, but not when a kernel that was compiled into it does.
    An explicit ``NUMBA_CACHE_DIR`` is the user's choice of the place; the version is added to it too.
    """
    config: Any = numba.config
    place = Path(config.CACHE_DIR) if config.CACHE_DIR else user_cache_path("tabuleiro") / "kernels"
    folder = place / _source_digest()
    config.CACHE_DIR = str(folder)
    return folder


CACHE_FOLDER: Final = _set_cache_folder()
"""The folder for the machine code of this version's kernels."""


def _takes_files(folder: Path) -> bool:
    """Return True if this process may write to ``folder``, which is made if it is absent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


IS_KEPT: Final = _takes_files(CACHE_FOLDER)
"""False for a process that may not write there, e.g. a service without a home: it compiles again at each start."""


def kernel(function: Kernel) -> Kernel:
    """Compile ``function`` at its first call, or load it from the cache folder.

    A kernel releases the global interpreter lock while it runs. Indexes are not checked: every kernel must keep
    to its arrays.
    """
    return _compiled(function, counts_references=True)


def lean_kernel(function: Kernel) -> Kernel:
    """Compile as :func:`kernel` does a ``function`` that makes no arrays and assigns to no slices.

    References are not counted in it, as its caller holds all arrays: that makes small kernels twice as fast.
    """
    return _compiled(function, counts_references=False)


def _compiled(function: Kernel, counts_references: bool) -> Kernel:
    # Always set: otherwise a kernel would take it over from its first caller. The annotations of numba
    # leave the option out.
    options: dict[str, Any] = {"_nrt": counts_references}
    return cast(Kernel, numba.njit(cache=IS_KEPT, nogil=True, error_model="numpy", **options)(function))


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
"""Return the number of bits that are set."""
lowest_bit = cast(Callable[[np.uint64 | int], int], intrinsic(_lowest_bit))
"""Return the index of the lowest bit that is set; there must be one."""
as_int = cast(Callable[[np.uint64 | int], int], intrinsic(_as_int))
"""Return a number below 2**63 as a signed one: numba makes a float of ``uint64`` plus ``int64``."""
as_index = cast(Callable[[int], int], intrinsic(_as_index))
"""Return an index, not negative, as an unsigned number: numba then does not test if it counts from the end."""


RandomState = Array
"""The state of xorshift64*: one number, never 0."""

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def new_rng(seed: int) -> RandomState:
    """Return a state for ``seed``; neighbouring seeds give unrelated numbers."""
    mixed = (seed * _GOLDEN + _GOLDEN) & _MASK
    mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & _MASK
    return np.array([mixed ^ mixed >> 31 or _GOLDEN], dtype=np.uint64)


@kernel
def random_below(rng: RandomState, count: int) -> int:
    """Return a number from 0 to ``count`` - 1, all equally likely; ``count`` from 1 to 2**31."""
    word = rng[0]
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    rng[0] = word
    high = (word * np.uint64(0x2545F4914F6CDD1D)) >> np.uint64(32)
    # int() alone would leave the number unsigned, and unsigned and signed numbers add up to floating ones.
    return int(np.int64((high * np.uint64(count)) >> np.uint64(32)))
