"""Print the size and structure of a checkout: modules, lines, import circles, small satellites, odd docstrings.

usage: python tools/structure.py [FOLDER]     FOLDER is the root of a checkout; default: this one
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from pathlib import Path

PACKAGES = ("shared/tabuleiro", "server/tabuleiro_server", "client/tabuleiro_client")
SATELLITE_MAX_LINES = 75
"""A module below this size with a single importer usually belongs to its importer."""
NOUN_CLAUSE = re.compile(r"(Who|What|Whether|When|How|Where|Which)\b")


class Checkout:
    """The modules of a checkout with their trees and their imports of each other, by dotted names."""

    def __init__(self, root: Path) -> None:
        self.paths = {
            _module_name(path, root / package): path
            for package in PACKAGES
            for path in (root / package).rglob("*.py")
        }
        self.trees = {name: ast.parse(path.read_text()) for name, path in self.paths.items()}
        self.imports = {name: self._imports_of(name) for name in self.paths}

    def _imports_of(self, name: str) -> set[str]:
        """Return the modules that a module imports anywhere in its code, lazily too."""
        found: set[str] = set()
        for node in ast.walk(self.trees[name]):
            if isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    inner = f"{node.module}.{alias.name}"
                    found.add(inner if inner in self.paths else node.module)
        return (found & self.paths.keys()) - {name}

    def circles(self) -> list[list[str]]:
        """Return the groups of modules that import each other in a circle, the largest first."""
        reached = {name: self._reached_from(name) for name in self.paths}
        groups = {
            frozenset(other for other in reached[name] if name in reached[other])
            for name in self.paths
            if name in reached[name]
        }
        return sorted((sorted(group) for group in groups), key=len, reverse=True)

    def _reached_from(self, name: str) -> set[str]:
        found: set[str] = set()
        waiting = list(self.imports[name])
        while waiting:
            module = waiting.pop()
            if module not in found:
                found.add(module)
                waiting.extend(self.imports[module])
        return found

    def satellites(self) -> list[str]:
        """Return the small modules that a single other module imports."""
        importers = Counter(module for imported in self.imports.values() for module in imported)
        return sorted(
            name
            for name, path in self.paths.items()
            if path.name != "__init__.py" and importers[name] == 1 and _line_count(path) < SATELLITE_MAX_LINES
        )

    def odd_docstrings(self) -> list[str]:
        """Return the places whose docstring opens with a noun clause instead of an imperative or a noun."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
        return [
            f"{name}:{getattr(node, 'lineno', 1)}"
            for name, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, kinds) and NOUN_CLAUSE.match(ast.get_docstring(node) or "")
        ]


def _module_name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _line_count(path: Path) -> int:
    return path.read_text().count("\n")


def report(root: Path) -> list[str]:
    """Return the lines to print about the checkout at ``root``."""
    checkout = Checkout(root)
    circles, satellites, odd = checkout.circles(), checkout.satellites(), checkout.odd_docstrings()
    product_count = sum(map(_line_count, checkout.paths.values()))
    tests = list((root / "tests").rglob("*.py"))
    lines = [
        f"modules: {len(checkout.paths)}",
        f"product lines: {product_count}",
        f"test files: {len(tests)}, lines: {sum(map(_line_count, tests))}",
        f"import circles: {len(circles)}",
        *(f"  {len(circle)} modules: {', '.join(circle)}" for circle in circles),
        f"modules under {SATELLITE_MAX_LINES} lines with one importer: {len(satellites)}",
        *(f"  {name}" for name in satellites),
        f"docstrings that open with who, what, whether, when, how, where, which: {len(odd)}",
        *(f"  {place}" for place in odd),
    ]
    for package in PACKAGES:
        top = package.split("/")[1]
        own = [path for name, path in checkout.paths.items() if name.split(".")[0] == top]
        lines.append(f"{top}: {len(own)} modules, {sum(map(_line_count, own))} lines")
    return lines


if __name__ == "__main__":
    print("\n".join(report(Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parents[1])))
