#!/bin/sh
# install.sh PYTHON VENV play|develop: make the environment VENV, or repair it, or leave it if it is sound and new.
#
# `play` installs the client, the server and the bots; `develop` adds the tools of the developers. Run in the root of
# the repository. What this prints is for people who have never seen the repository.
set -eu
python=$1 venv=$2 stage=$3

needs="tabuleiro needs Python 3.11 or newer"
inside=$venv/bin/python
unfinished=$venv/.unfinished
case $stage in
    play) stamp=$venv/.playing command=play ;;
    develop) stamp=$venv/.installed command=test ;;
esac

# A stamp is written when all is installed. Developers have all that players need.
has_stamp() {
    [ -e "$venv/.installed" ] || { [ "$stage" = play ] && [ -e "$stamp" ]; }
}

is_new() {
    for written in "$stamp" "$venv/.installed"; do
        if [ "$written" -nt pyproject.toml ] && [ "$written" -nt constraints.txt ]; then return 0; fi
    done
    return 1
}

# Fails where Python was upgraded or removed under the environment, or the folder was moved or copied.
works() {
    "$inside" -c '
import os, pip
from importlib.util import find_spec
for package in "shared/tabuleiro", "server/tabuleiro_server", "client/tabuleiro_client":
    (place,) = find_spec(os.path.basename(package)).submodule_search_locations
    assert os.path.samefile(place, package)' 2>/dev/null
}

can_be_installed_into() {
    [ ! -e "$unfinished" ] && "$inside" -c 'import sys, pip; assert sys.version_info >= (3, 11)' 2>/dev/null
}

say() { printf '%s\n' "$*" >&2; }

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

require_python() {
    if ! is_new_enough "$python"; then
        if found=$("$python" --version 2>&1); then
            say "$needs; \`$python\` is $found."
        else
            say "$needs; there is no \`$python\` here."
        fi
        for other in python3.14 python3.13 python3.12 python3.11; do
            if is_new_enough "$other"; then
                say "Another one is here: make $command PYTHON=$other"
                exit 1
            fi
        done
        say "Install one, e.g. from https://www.python.org/downloads/, or name one: make $command PYTHON=/path/to/python3"
        exit 1
    fi
    if ! missing=$("$python" -c 'import ctypes, ensurepip, sqlite3, ssl, venv' 2>&1); then
        say "\`$python\` is not complete: $(printf '%s\n' "$missing" | tail -n 1)"
        say "Debian and Ubuntu have the missing part in a package: apt install python3-venv"
        exit 1
    fi
}

make_environment() {
    require_python
    if [ -d "$venv" ] && [ ! -e "$venv/pyvenv.cfg" ] && ! rmdir "$venv" 2>/dev/null; then
        say "$venv is in the way: it is no environment of Python. Move it, and run this again."
        exit 1
    fi
    if [ -e "$venv" ]; then
        say "The environment in $venv is of no use any more (another Python, another place, or not finished): making a new one."
    fi
    "$python" -m venv --clear "$venv"
}

# To compile all modules of all libraries takes longer than to install them; most of them are never imported.
pip_install() {
    "$inside" -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt "$@"
}

if has_stamp && works; then
    if is_new; then exit 0; fi
elif has_stamp || ! can_be_installed_into; then
    make_environment
fi

say "Installing tabuleiro into $venv; this takes about half a minute ..."
: >"$unfinished"
rm -f "$venv/.playing" "$venv/.installed"
# Compiled bots need wheels of these three: to build them takes compilers that hardly anybody has.
if ! trouble=$(pip_install --only-binary numba,llvmlite,numpy -e '.[server,bots]' 2>&1); then
    pip_install -e '.[server]'
    say "The bots are installed without their compiled search: the strong levels will think less deep. The reason:"
    say "  $(printf '%s\n' "$trouble" | grep '^ERROR' | tail -n 1)"
fi
if [ "$stage" = develop ]; then
    "$inside" -m pip install --quiet --upgrade pip # older ones do not know dependency groups
    pip_install -e '.[pictures]' --group dev
fi
: >"$stamp"
rm "$unfinished"
