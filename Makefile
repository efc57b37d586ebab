# Every target makes and uses its own .venv; Python 3.11 or newer and make are all it takes.
PYTHON ?= python3
BIN := .venv/bin

# The targets of minutes are scripts that take uv and pre-commit from the .venv.
SLOW := PATH="$(CURDIR)/$(BIN):$$PATH"

.PHONY: demo test replay slow lint fuzz properties bench counts docs screens pictures recording release-data sources record shrink licenses clean
.PHONY: binary dist lowest newest pythons coverage hooks release-check sbom site lock
.DEFAULT_GOAL := test

demo: .venv/installed
	@$(BIN)/kubespread demo

# Compiled files are kept whatever the environment says: each process that tests start would compile the package again.
# A worker keeps to the tests of a file, which share what they prepare, and takes others' once it has none left.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n auto --dist worksteal

test: .venv/dev
	$(PYTEST) -m "not replay and not slow"

# All recorded answers, and the tests that are too dear for every run: `.ci/run` does these after `make test`.
replay: .venv/dev
	$(PYTEST) tests/golden/test_replay.py

slow: .venv/dev
	$(PYTEST) -m slow

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/typos
	$(BIN)/mypy

# RUNS inputs, each damaged by its own seed from SEED on: ten to thirty a second.
RUNS ?= 10000
SEED ?= 0
fuzz: .venv/dev
	$(BIN)/python -m tests.fuzz --runs $(RUNS) --seed $(SEED)

# Every property on examples of new seeds; `make test` takes a tenth as many, and the same ones every time.
ROUNDS ?= 5
properties: .venv/dev
	for round in $$(seq $(ROUNDS)); do $(PYTEST) -m hypothesis --hypothesis-profile fresh || exit; done

bench: .venv/installed
	$(BIN)/python -m bench

counts: .venv/dev
	$(BIN)/python -m tests.golden.counting

# What a target cannot do without, and how it is given.
CHECKOUT = $(or $(KUBERNETES),$(error say where Kubernetes is: make $@ KUBERNETES=path/to/kubernetes))

# Answers of Kubernetes' own code, from a checkout of Kubernetes with vendor/, or those of the descheduler from one of it
# (DESCHEDULER=path): tools/recorder/README.md.
CASES ?= 200
record: .venv/record
	$(SLOW) $(BIN)/python -m tools.recorder record $(if $(DESCHEDULER),--descheduler "$(DESCHEDULER)",--kubernetes "$(CHECKOUT)") --seed $(SEED) --cases $(CASES) \
		$(if $(FAMILIES),--families $(FAMILIES)) $(if $(AGAIN),--again $$AGAIN) $(if $(RELEASE),--release $(RELEASE)) $(if $(COMMIT),--commit "$(COMMIT)")

shrink: .venv/record
	$(BIN)/python -m tools.recorder shrink "$(or $(CASE),$(error say which case: make shrink CASE=build/record/FAMILY.jsonl.gz:NAME))"

# Every screen that is kept, to be looked at in what git diff shows.
screens: .venv/dev
	$(BIN)/python -m tests.views

# The pictures of `kubespread serve`, by a Chromium that is installed.
recording: .venv/dev
	$(BIN)/python -m tools.pictures.recording docs/pictures

# The pictures of pages that documents show; needs Chromium (Debian: apt install chromium).
pictures: .venv/dev
	$(BIN)/python -m tools.pictures

docs: .venv/installed
	$(BIN)/python -m docs.generators

# What a release of Kubernetes changes, from a checkout of it; RELEASE=1.35.4 for a patch instead of the checkout's minor.
# Without a checkout only the histories are written anew, from files that were changed by hand.
release-data: .venv/dev
	$(BIN)/python -m tools.releases $(if $(KUBERNETES),"$(KUBERNETES)") $(if $(RELEASE),--release $(RELEASE))

# What of the files and functions that rules were read from a checkout does not have, and its other default plugins.
sources: .venv/dev
	$(BIN)/python -m tools.releases.sources "$(CHECKOUT)"

licenses: .venv/dev
	$(BIN)/python -m tools.licenses docs/licenses.md

# Below: minutes each, for CI and before a release; CONTRIBUTING.md says what each shows.
binary: .venv/slow
	$(SLOW) .ci/binary

dist: .venv/slow
	$(SLOW) .ci/dist

lowest: .venv/slow
	$(SLOW) .ci/lowest

newest: .venv/slow
	$(SLOW) .ci/newest

pythons: .venv/slow
	$(SLOW) .ci/pythons

coverage: .venv/slow
	$(SLOW) .ci/coverage

hooks: .venv/slow
	$(SLOW) .ci/hooks

release-check: .venv/slow
	$(SLOW) .ci/release-check

site: .venv/slow
	$(SLOW) .ci/site

# All that kubespread and its extras are installed with by uv.lock, in CycloneDX.
sbom: .venv/slow
	mkdir -p build
	$(BIN)/uv export --quiet --frozen --no-dev --all-extras --format cyclonedx1.5 --preview-features sbom-export --output-file build/kubespread.cdx.json

lock: .venv/slow
	$(BIN)/uv lock --upgrade --no-python-downloads

clean:
	rm -rf .venv build

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[serve]'
	touch $@

.venv/dev: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[mcp,serve]' --group dev
	touch $@

# Go is the one that is installed, or else PyPI's.
.venv/record: .venv/dev
	command -v go > /dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check --group record
	touch $@

.venv/slow: .venv/dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group slow
	touch $@
