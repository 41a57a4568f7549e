# Another version of Python has an environment of its own: `make test PYTHON=python3.13` makes and uses .venv-3.13.
PYTHON ?= python3
version = $(shell $(1) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
VENV ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(call version,$(PYTHON)))
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: play test test-slow test-browser test-browser-long browser-tools torture torture-cluster fairness swarm check format bench bench-cluster bench-rules bench-tui bench-page older structure trace strength train picture page-pictures dist clean always

# Needs no tools of the developers: those come with what they are for.
play:
	@tools/install.sh $(PYTHON) $(VENV) play
	@$(BIN)/tabuleiro play

# How many processes the tests are shared out to; 0 runs them in one, all in order.
TEST_PROCESSES ?= 2

# Which tests, and what else pytest is to be told: `make test TESTS=tests/room OPTIONS=--durations=9`.
TESTS ?= tests
OPTIONS ?=

test: $(STAMP)
	$(BIN)/pytest -q -m "not slow and not browser" -n $(TEST_PROCESSES) --dist worksteal $(OPTIONS) $(TESTS)

test-slow: $(STAMP)
	$(BIN)/pytest -q -m "slow and not browser" -n $(TEST_PROCESSES) --dist worksteal $(OPTIONS) $(TESTS)

KILLS ?= 200

BROWSER_TESTS ?= tests/browser
in_browser = $(BIN)/pytest -q -n $(TEST_PROCESSES) --dist worksteal $(OPTIONS) $(BROWSER_TESTS)

# The page in a real browser, skipped with a reason where there is no chromium; with npm also its types, and axe.
test-browser: browser-tools
	$(in_browser) -m "browser and not slow"

# The same and longer matches: every game on a bigger board, on a desktop and on a phone.
test-browser-long: browser-tools
	$(in_browser) -m browser

browser-tools: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt playwright
	@if command -v npm >/dev/null; then npx --yes --package typescript@5 tsc -p tests/browser/tsconfig.json && \
		npm install --silent --no-audit --no-fund --prefix build/axe axe-core@4; \
		else echo "npm is not installed: the types of the page are not checked, nor is it by axe"; fi

torture: $(STAMP)
	$(BIN)/python -m tests.e2e.torture --kills $(KILLS)

ROUNDS ?= 200

# Nodes and databases fail one after the other while they are played on; ROUNDS=6 has each fault once.
torture-cluster: $(STAMP)
	$(BIN)/python -m tests.e2e.torture_cluster --rounds $(ROUNDS)

fairness: $(STAMP)
	$(BIN)/python -m tests.e2e.fairness --matches 100

SEEDS ?= 200
FIRST ?= 1
ROOMS ?= 50

swarm: $(STAMP)
	$(BIN)/python -m tests.e2e.swarm --first $(FIRST) --seeds $(SEEDS) --rooms $(ROOMS)

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -q --doctest-modules shared server client tools

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# AGAINST='COMMIT' plays the load on the server as it is and as it was there, and prints ratios; it may name several.
bench: $(STAMP)
	$(BIN)/python -m tests.bench.bench_server $(if $(AGAINST),--against $(AGAINST))

# Servers on a file and on PostgreSQL, one node and several, by turns.
bench-cluster: $(STAMP)
	$(BIN)/python -m tests.bench.bench_cluster

# Size of the page, time to its first board on a slow phone, and what watching browsers cost beside terminals.
bench-page: browser-tools
	$(BIN)/python -m tests.bench.bench_page

bench-tui: $(STAMP)
	$(BIN)/python -m tests.bench.bench_tui_start
	$(BIN)/python -m tests.bench.bench_tui_lag

bench-rules: $(STAMP)
	$(BIN)/python -m tests.bench.bench_rules

# This version and an older one play each other, and this one plays on in a file of the older: AGAINST=COMMIT.
older: $(STAMP)
	$(BIN)/python -m tests.e2e.older_release $(AGAINST)

# Size and structure of the code; of another checkout with CHECKOUT=FOLDER.
structure:
	@$(PYTHON) tools/structure.py $(CHECKOUT)

# The files of the product that one `play` passes through, from its frame to the disk and back.
trace: $(STAMP)
	@$(BIN)/python tools/trace_play.py

# The pictures of the documents: matches are played and recorded on the screens.
picture: $(STAMP)
	@$(BIN)/python -m tools.moving_picture client/pictures

# Pictures of the page for README and docs; they need chromium.
page-pictures: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt playwright
	@$(BIN)/python -m tools.page_pictures client/pictures

GAMES ?= 200
RESULTS ?= build/strength.jsonl

# An hour or two on one core. It may be interrupted: the next run continues.
# ONLY='iris minefield' plays some games only, NODES='iris=20000' lets levels search further, JOBS=2 uses two cores.
strength: $(STAMP)
	mkdir -p $(dir $(RESULTS))
	$(BIN)/python -m tools.strength server/STRENGTH.md --results $(RESULTS) --games $(GAMES) \
		$(foreach game,$(ONLY),--game $(game)) $(foreach cap,$(NODES),--max-nodes $(cap)) $(if $(JOBS),--jobs $(JOBS))

# Weights of `master`, learnt from games of bots; SEED=1 chooses all chance, JOBS=2 uses two cores.
SEED ?= 1
train: $(STAMP)
	$(BIN)/python -m tools.train $(GAME) --seed $(SEED) $(if $(JOBS),--jobs $(JOBS))

# The wheel for friends, and the sources: dist/tabuleiro-VERSION-py3-none-any.whl and .tar.gz.
dist:
	@tools/install.sh $(PYTHON) $(VENV) play
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt hatchling
	$(BIN)/python -m hatchling build -d dist

# Whether there is anything to do is for the script to say: an environment can break while its files are new.
$(STAMP): always
	@tools/install.sh $(PYTHON) $(VENV) develop

clean:
	rm -rf $(VENV) dist build
