# `make demo` and `make test` set up everything they need on a fresh machine.

PYTHON ?= python3
VENV ?= .venv
CHECKOUT ?= examples/acme_automodel
BIN = $(VENV)/bin

.PHONY: demo test lint bench clean

demo: $(VENV)/.base
	$(BIN)/automodel-lint check $(CHECKOUT) --exit-zero

test: $(VENV)/.dev
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/python -m pytest

bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check transformers-mlinter
	$(BIN)/python benchmarks/speed.py

lint: $(VENV)/.dev
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks

clean:
	rm -rf $(VENV) .cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.base
