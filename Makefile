# `make demo` and `make test` set up everything they need on a fresh machine.

PYTHON ?= python3
VENV ?= .venv
CHECKOUT ?= examples/acme_automodel
BIN = $(VENV)/bin
# Tests that really construct models need torch: in an environment of its own, or in the interpreter that is given.
TRUTH ?= .venv-truth
TRUTH_READY := $(if $(AUTOMODEL_LINT_TORCH_PYTHON),,$(TRUTH)/.ready)
export AUTOMODEL_LINT_TORCH_PYTHON ?= $(CURDIR)/$(TRUTH)/bin/python

.PHONY: demo test lint bench bench-tree bench-adapters probe reproductions clean

demo: $(VENV)/.base
	$(BIN)/automodel-lint check $(CHECKOUT) --exit-zero

test: $(VENV)/.dev $(TRUTH_READY)
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/python -m pytest

bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check transformers-mlinter
	$(BIN)/python benchmarks/speed.py

bench-tree: $(VENV)/.base $(TRUTH_READY)
	$(BIN)/python benchmarks/module_tree.py --python $(AUTOMODEL_LINT_TORCH_PYTHON)

bench-adapters: $(VENV)/.base $(TRUTH_READY)
	$(BIN)/python benchmarks/adapter_keys.py --python $(AUTOMODEL_LINT_TORCH_PYTHON)

# The whole of nemo-automodel 0.7.0, and its defects shown without the probe.
probe: $(VENV)/.base $(TRUTH_READY)
	$(BIN)/automodel-lint probe --installed nemo_automodel --python $(AUTOMODEL_LINT_TORCH_PYTHON) --exit-zero

reproductions: $(TRUTH_READY)
	@for script in $$(grep -l sys.exit benchmarks/reproductions/*.py); do \
		echo "$$script"; $(AUTOMODEL_LINT_TORCH_PYTHON) $$script || echo "  does not show"; done

lint: $(VENV)/.dev
	$(BIN)/ruff check --fix src tests benchmarks
	$(BIN)/ruff format src tests benchmarks

clean:
	rm -rf $(VENV) $(TRUTH) .cache

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.base

$(TRUTH)/.ready: tests/requirements-torch.txt
	$(PYTHON) -m venv $(TRUTH)
	$(TRUTH)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	$(TRUTH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps nemo-automodel==0.7.0
	touch $@
