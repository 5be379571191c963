# make demo   set up and show Ridgeway at work
# make test   set up and run lint, types and tests
# make quick  the tests of `make test` that take little time, in less than a minute
# make lint   ruff, mypy and the import contracts alone
# make docs   build the documentation into site/; a warning is an error
# make picture  draw the picture of the README again; needs Chromium
# make bench  rerun the benchmarks and rewrite docs/performance.md
# make accuracy  rerun the 200 problems that check predictions against the mean and variance; rewrites docs/accuracy.md
# make search rerun the search for modes against the true modes and rewrite docs/search.md
# make select rerun the choice of experiments and rewrite docs/selection.md
# make optimise  rerun the search for the best point beside other optimisers and rewrite docs/optimise.md; takes days
# make sensitivity  rerun the Sobol indices beside OpenTURNS and SALib and rewrite docs/sensitivity.md
# make pools  choose from a hundred million points on two workers, and compare one worker with two; prints lines of JSON
# make outliers  rerun the fits with outliers and rewrite the table of docs/outliers.md
# make guests  rerun GPyTorch models beside draws of their hyperparameters and rewrite the tables of docs/howto/gpytorch.md

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --constraint constraints.txt
JOBS ?= 2

.PHONY: demo test quick lint docs picture bench accuracy search select outliers optimise guests sensitivity pools clean

demo: $(VENV)/.core
	$(BIN)/python -m ridgeway.cli.demo

test: lint $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS)

quick: $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) -m 'not slow and not browser and not postgres' --ignore tests/botorch --ignore tests/gpytorch --ignore tests/optuna

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

picture: $(VENV)/.test
	$(BIN)/python docs/pictures/make.py

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/performance.py --write docs/performance.md

accuracy: $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/accuracy.py --jobs $(JOBS) --write docs/accuracy.md

search: $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/search.py --jobs $(JOBS) --write docs/search.md

select: $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/selection.py --jobs $(JOBS) --write docs/selection.md

outliers: $(VENV)/.test
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/outliers.py --jobs $(JOBS) --write docs/outliers.md

optimise: $(VENV)/.bench
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/optimise.py --jobs $(JOBS) --write docs/optimise.md

guests: $(VENV)/.bench
	$(BIN)/python benchmarks/guests.py --jobs $(JOBS) --write docs/howto/gpytorch.md

sensitivity: $(VENV)/.bench
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/sensitivity.py --jobs $(JOBS) --write docs/sensitivity.md

pools: $(VENV)/.bench
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/pools.py --workers 1 2
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/pools.py --workers 2 --rows 100000000

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
