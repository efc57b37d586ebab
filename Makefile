# Every target makes and uses its own .venv; Python 3.11 or newer and make are all it takes.
PYTHON ?= python3
BIN := .venv/bin

# The slow targets are scripts that take uv and pre-commit from the .venv.
SLOW := PATH="$(CURDIR)/$(BIN):$$PATH"

.PHONY: demo test lint bench binary counts reference schema codes clean
.PHONY: dist lowest pythons coverage hooks lock
.DEFAULT_GOAL := test

demo: .venv/installed
	@$(BIN)/kubespread demo

# Compiled files are kept whatever the environment says: each process that tests start would compile the package again.
test: .venv/dev
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/typos
	$(BIN)/mypy

bench: .venv/installed
	$(BIN)/python -m bench

# One file that runs with the Python it is made with, and proof that it does; docs/adr/0024 says why shiv.
binary: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'shiv>=1.0.8'
	mkdir -p dist
	$(BIN)/shiv --quiet --compile-pyc --console-script kubespread --output-file dist/kubespread.pyz '.[live]'
	$(BIN)/python dist/kubespread.pyz --version
	$(BIN)/python dist/kubespread.pyz demo > /dev/null 2>&1

counts: .venv/dev
	$(BIN)/python -m tests.golden --counts

reference: .venv/installed
	$(BIN)/python -m kubespread.cli.reference docs/reference.md
	$(BIN)/python -m kubespread.cli.manual docs/kubespread.1

schema: .venv/installed
	$(BIN)/python -m kubespread.planner.reports.schema docs/schema
	$(BIN)/python -m kubespread.scenario.schema docs/schema/scenario.json
	$(BIN)/python -m kubespread.node_groups.schema docs/schema

codes: .venv/installed
	$(BIN)/python -m kubespread.cli.codes docs/codes.md

# Below: minutes each, for CI and before a release; CONTRIBUTING.md says what each shows.
dist: .venv/slow
	$(SLOW) .ci/dist

lowest: .venv/slow
	$(SLOW) .ci/lowest

pythons: .venv/slow
	$(SLOW) .ci/pythons

coverage: .venv/slow
	$(SLOW) .ci/coverage

hooks: .venv/slow
	$(SLOW) .ci/hooks

lock: .venv/slow
	$(BIN)/uv lock --upgrade --no-python-downloads

clean:
	rm -rf .venv build

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/dev: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[live,mcp]' --group dev
	touch $@

.venv/slow: .venv/dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group slow
	touch $@
