# make demo   set up and show Ridgeway at work
# make test   set up and run lint, types and tests
# make lint   ruff and mypy alone
# make docs   build the documentation into site/; a warning is an error
# make picture  draw the picture of the README again; needs Chromium
# make bench  rerun the benchmarks and rewrite docs/performance.md
# make harm   rerun the 200 do-no-harm problems and rewrite docs/accuracy.md
# make select rerun the choice of experiments and rewrite docs/selection.md

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --constraint constraints.txt
JOBS ?= 2

.PHONY: demo test lint docs picture bench harm select clean

demo: $(VENV)/.core
	$(BIN)/python -m ridgeway.demo

test: lint $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

picture: $(VENV)/.test
	$(BIN)/python docs/pictures/make.py

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/performance.py --write docs/performance.md

harm: $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/accuracy.py --jobs $(JOBS) --write docs/accuracy.md

select: $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/selection.py --jobs $(JOBS) --write docs/selection.md

clean:
	rm -rf $(VENV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable .
	touch $@

$(VENV)/.test: $(VENV)/.core
	$(PIP) --editable '.[test]'
	touch $@

$(VENV)/.lint: $(VENV)/.core
	$(PIP) --editable '.[lint]'
	touch $@

$(VENV)/.docs: $(VENV)/.core
	$(PIP) --editable '.[docs]'
	touch $@

$(VENV)/.bench: $(VENV)/.core
	$(PIP) --editable '.[test,bench]'
	touch $@
