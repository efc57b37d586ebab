# Every target makes and uses its own .venv; Python 3.11 or newer and make are all it takes.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench binary counts reference schema codes clean
.DEFAULT_GOAL := test

demo: .venv/installed
	@$(BIN)/kubespread demo

test: .venv/dev
	$(BIN)/pytest -n auto

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
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

clean:
	rm -rf .venv

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/dev: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[live,mcp]' --group dev
	touch $@
