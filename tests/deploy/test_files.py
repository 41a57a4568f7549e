"""The files in deploy/ fit the program: they parse, and what they name exists."""

from __future__ import annotations

import ast
import configparser
import inspect
import ipaddress
import re
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
import yaml

from tabuleiro.protocol.codec import CLIENT_FRAME_MAX_BYTES
from tabuleiro_server import config as config_module
from tabuleiro_server.config import Config, load_config

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DATA_PATHS = {"host", "db"}
"""Keys of the example that differ from the defaults, as it says itself."""


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Containerfile with continued lines joined."""
    text = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(maxsplit=1)[0], line.split(maxsplit=1)[1]) for line in lines]


def test_the_example_config_lists_every_key_with_its_default() -> None:
    path = DEPLOY / "tabuleiro.toml"
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    assert list(written) == list(Config.__struct_fields__)
    defaults = msgspec.to_builtins(Config())
    assert {key: value for key, value in written.items() if key not in DATA_PATHS} == {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in defaults.items()
        if key not in DATA_PATHS
    }
    assert load_config(path, environment={}).client_frame_bytes == CLIENT_FRAME_MAX_BYTES


def descriptions() -> dict[str, str]:
    """Return the text under each setting in the code, without its full stop."""
    (config,) = [
        node
        for node in ast.parse(inspect.getsource(config_module)).body
        if isinstance(node, ast.ClassDef) and node.name == "Config"
    ]
    found = {}
    for setting, text in pairwise(config.body):
        if isinstance(setting, ast.AnnAssign) and isinstance(setting.target, ast.Name):
            assert isinstance(text, ast.Expr)
            found[setting.target.id] = ast.literal_eval(text.value).removesuffix(".")
    return found


def test_a_setting_is_described_alike_in_the_code_the_example_and_the_readme() -> None:
    lines = (DEPLOY / "tabuleiro.toml").read_text(encoding="utf-8").splitlines()
    example = {line.split(" = ")[0]: line.rpartition("  # ")[2] for line in lines if " = " in line}
    rows = re.findall(
        r"^\| `(\w+)` \| `.*?` \| (.*)\. \|$", (DEPLOY / "README.md").read_text(encoding="utf-8"), re.M
    )
    described = descriptions()
    assert dict(rows) == described
    is_elsewhere = {"host"}  # the example listens on all addresses
    assert {key: text[0].upper() + text[1:] for key, text in example.items() if key not in is_elsewhere} == {
        key: text for key, text in described.items() if key not in is_elsewhere
    }


def test_the_container_copies_what_exists_and_installs_it() -> None:
    for name, arguments in instructions():
        if name == "COPY":
            *sources, _ = arguments.split()
            for source in sources:
                assert (ROOT / source).exists(), source
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    copied = {source for name, arguments in instructions() if name == "COPY" for source in arguments.split()[:-1]}
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert {package.split("/")[0] for package in packages} <= copied
    assert {project["project"]["readme"], *project["project"]["license-files"], "constraints.txt"} <= copied
    install = next(shlex.split(arguments) for name, arguments in instructions() if "pip install" in arguments)
    assert install[-1] == ".[server,bots,pictures,cluster]"
    assert install[install.index("-c") + 1] == "constraints.txt"


def test_the_container_is_built_from_what_it_copies_and_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    let_in = {line.removeprefix("!") for line in lines if line.startswith("!")}
    assert let_in == {
        source for name, arguments in instructions() if name == "COPY" for source in arguments.split()[:-1]
    }
    assert lines.index("*") < min(lines.index(f"!{source}") for source in let_in)


def test_the_container_starts_the_command_that_there_is() -> None:
    made = dict(instructions())
    assert msgspec.json.decode(made["ENTRYPOINT"]) == ["tabuleiro"]
    arguments = msgspec.json.decode(made["CMD"])
    assert arguments[0] == "serve"
    assert made["EXPOSE"] == arguments[arguments.index("--port") + 1]
    assert Path(arguments[arguments.index("--db") + 1]).parent == Path(made["VOLUME"]) == Path(made["WORKDIR"])
    assert f":{made['EXPOSE']}/health" in made["HEALTHCHECK"]


def test_the_composition_fits_together() -> None:
    composition = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    server, caddy = composition["services"]["tabuleiro"], composition["services"]["caddy"]
    assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).is_file()
    used = {volume.split(":")[0] for service in (server, caddy) for volume in service["volumes"]}
    assert {name for name in used if not name.startswith(".")} == set(composition["volumes"])
    assert all((DEPLOY / name).is_file() for name in used if name.startswith("."))
    config = load_config(None, environment=server["environment"])
    proxy = caddy["networks"]["tabuleiro"]["ipv4_address"]
    assert config.trusted_proxies == (proxy,)
    subnet = composition["networks"]["tabuleiro"]["ipam"]["config"][0]["subnet"]
    assert ipaddress.ip_address(proxy) in ipaddress.ip_network(subnet)
    grace_s = int(server["stop_grace_period"].removesuffix("s"))
    assert grace_s * 1000 > config.shutdown_limit_ms


def test_caddy_passes_on_to_the_server_of_the_composition() -> None:
    text = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    blocks = re.findall(r"^(\S+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    assert [site for site, _ in blocks] == ["play.example.org"]
    assert text.count("{") == text.count("}") == 1
    target = re.search(r"^\treverse_proxy (\w+):(\d+)$", blocks[0][1], re.MULTILINE)
    assert target is not None
    composition = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    assert f"{target[2]}:{target[2]}" in composition["services"][target[1]]["ports"]


def test_the_unit_runs_the_server_with_the_example_config() -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "tabuleiro.service", encoding="utf-8")
    service = unit["Service"]
    command = shlex.split(service["ExecStart"])
    assert Path(command[0]).name == "tabuleiro"
    assert command[1:] == ["serve", "--config", "/etc/tabuleiro.toml"]
    data = load_config(DEPLOY / "tabuleiro.toml", environment={})
    assert Path(data.db).parent == Path("/var/lib") / service["StateDirectory"]
    assert int(service["TimeoutStopSec"]) * 1000 > data.shutdown_limit_ms
    assert unit["Install"]["WantedBy"] == "multi-user.target"


@pytest.mark.parametrize(
    "name", ["compose.yaml", "Containerfile", "tabuleiro.service", "tabuleiro.toml", "Caddyfile"]
)
def test_the_readme_tells_of_every_file(name: str) -> None:
    assert name in (DEPLOY / "README.md").read_text(encoding="utf-8")
