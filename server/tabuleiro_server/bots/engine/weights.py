"""The files of weights that the level ``master`` learnt from games; ``make train`` makes them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec


def read_weights(file: Path) -> list[float]:
    """Return the weights in ``file``."""
    return msgspec.json.decode(file.read_bytes(), type=list[float])


def read_feature_weights(file: Path, count: int) -> list[float]:
    """Return the weights of ``count`` features: ``file`` holds them in hundredths by feature, 0 if it has none."""
    hundredths = msgspec.json.decode(file.read_bytes(), type=dict[int, int])
    return [hundredths.get(feature, 0) / 100 for feature in range(count)]


def weights_hash(file: Path) -> str:
    """Return 8 digits that tell the weights in ``file`` from others."""
    return hashlib.blake2b(file.read_bytes(), digest_size=4).hexdigest()
