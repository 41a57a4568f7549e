"""How kernels are compiled, and the folder where machine code is kept between runs. Needs the extra ``bots``.

Which kernels there are, and when they are compiled, is left to the games' modules.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, cast

import numba
from numpy.typing import NDArray
from platformdirs import user_cache_path

Array: TypeAlias = NDArray[Any]
"""An array in a kernel. Its elements are numbers of whatever width; names and docstrings say of which."""

Kernel = TypeVar("Kernel", bound=Callable[..., object])


def _source_digest() -> str:
    """A fingerprint of the sources of all kernels."""
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(Path(__file__).parent.glob("*.py")):
        text = source.read_bytes()
        if b"kernel" in text:
            digest.update(text)
    return digest.hexdigest()


def _set_cache_folder() -> Path:
    """Keep machine code in a folder of its own for each version of the sources, and return the folder.

    numba notices when the file of a kernel changes, but not when a kernel that was compiled into it does.
    An explicit ``NUMBA_CACHE_DIR`` is the user's wish for the place; the version is added to it all the same.
    """
    config: Any = numba.config
    place = Path(config.CACHE_DIR) if config.CACHE_DIR else user_cache_path("tabuleiro") / "kernels"
    folder = place / _source_digest()
    config.CACHE_DIR = str(folder)
    return folder


CACHE_FOLDER: Final = _set_cache_folder()
"""Where the machine code of this version's kernels is kept."""


def _takes_files(folder: Path) -> bool:
    """Whether this process may write to ``folder``, which is made if it is absent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


IS_KEPT: Final = _takes_files(CACHE_FOLDER)
"""False for a process that may not write there, e.g. a service without a home: it compiles anew at each start."""


def kernel(function: Kernel) -> Kernel:
    """Compile ``function`` at its first call, or load it from the cache folder.

    The global interpreter lock is given up while a kernel runs. Indexes are not checked: every kernel must keep
    to its arrays.
    """
    return _compiled(function, counts_references=True)


def lean_kernel(function: Kernel) -> Kernel:
    """Compile as :func:`kernel` does a ``function`` that makes no arrays and assigns to no slices.

    References are not counted in it, as its caller holds all arrays: small kernels are twice as fast for that.
    """
    return _compiled(function, counts_references=False)


def _compiled(function: Kernel, counts_references: bool) -> Kernel:
    # Said either way: else kernels would take it over from whichever calls them first. The annotations of numba
    # leave the option out.
    options: dict[str, Any] = {"_nrt": counts_references}
    return cast(Kernel, numba.njit(cache=IS_KEPT, nogil=True, error_model="numpy", **options)(function))
