# Every target makes and uses its own .venv; Python 3.11 or newer and make are all it takes.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench completions counts reference schema codes clean
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

completions: .venv/installed
	$(BIN)/python -m kubespread.cli.completions completions

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
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	touch $@
