# `make demo` and `make test` need only Python 3.11+ and make; everything else goes into .venv.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BUILD := build
DEMO := $(BUILD)/demo

export OMP_NUM_THREADS := 1

.PHONY: help setup demo test lint types unit bench data notebooks clean

help:
	@echo "make demo   complete the German demo table and print the filled rows"
	@echo "make test   ruff, mypy and pytest"
	@echo "make lint   ruff and mypy only"
	@echo "make bench SIGMORPHON=DIR PCFP=DIR   accuracy on the published tasks (data not included)"
	@echo "make notebooks   run the notebooks; copies with outputs go to build/notebooks"
	@echo "make data   rebuild data/german_nouns*.tsv from the package german-nouns"
	@echo "make clean  remove .venv, build and the caches"

setup: $(STAMP)

# The first Python of at least 3.11 that is able to make a virtual environment.
$(STAMP): pyproject.toml
	@for python in $(PYTHON) python3 python3.13 python3.12 python3.11; do \
		if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' \
			2>/dev/null && $$python -m venv $(VENV); then break; fi; \
	done; \
	$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
		|| { echo "No Python 3.11+ with venv found; name one: make PYTHON=/path/to/python" >&2; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(STAMP)
	@mkdir -p $(DEMO)
	$(BIN)/paradigms complete data/german_nouns_holes.tsv --alternatives / --jobs 2 \
		-o $(DEMO)/german_nouns.tsv --details $(DEMO)/details.tsv
	@$(BIN)/python data/show_filled.py $(DEMO)/details.tsv
	$(BIN)/paradigms evaluate $(DEMO)/german_nouns.tsv --gold data/german_nouns.tsv \
		--covered data/german_nouns_holes.tsv --details $(DEMO)/details.tsv --alternatives /

test: lint unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest

bench: $(STAMP)
	@test -n "$(SIGMORPHON)$(PCFP)" \
		|| { echo "usage: make bench SIGMORPHON=DIR PCFP=DIR (either may be left out)" >&2; exit 2; }
	@if [ -n "$(SIGMORPHON)" ]; then for condition in low medium high; do \
		$(BIN)/python benchmarks/sigmorphon2017.py --data "$(SIGMORPHON)" \
			--condition $$condition --split dev --jobs 2 || exit 1; done; fi
	@if [ -n "$(PCFP)" ]; then \
		$(BIN)/python benchmarks/pcfp.py --data "$(PCFP)" --jobs 2; fi

data: $(STAMP)
	$(BIN)/python data/build_german_nouns.py

notebooks: $(STAMP)
	@mkdir -p $(BUILD)/notebooks
	cp notebooks/*.ipynb $(BUILD)/notebooks
	$(BIN)/jupyter-execute --inplace $(BUILD)/notebooks/*.ipynb

clean:
	rm -rf $(VENV) $(BUILD) dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find fsbp paradigms tests benchmarks data -name __pycache__ -type d -prune -exec rm -rf {} +
