# `make demo` and `make test` set up everything they need on a fresh machine.

PYTHON ?= python3
VENV ?= .venv
CHECKOUT ?= examples/acme_automodel
BIN = $(VENV)/bin
# Tests that really construct models need torch: in an environment of its own, or in the interpreter that is given.
TRUTH ?= .venv-truth
TRUTH_READY := $(if $(AUTOMODEL_LINT_TORCH_PYTHON),,$(TRUTH)/.ready)
export AUTOMODEL_LINT_TORCH_PYTHON ?= $(CURDIR)/$(TRUTH)/bin/python

.PHONY: demo test docs docs-serve lint bench bench-server bench-tree bench-adapters probe reproductions clean

demo: $(VENV)/.base
	$(BIN)/automodel-lint check $(CHECKOUT) --exit-zero

test: $(VENV)/.dev $(TRUTH_READY)
	$(BIN)/ruff check src tests benchmarks docs_site
	$(BIN)/ruff format --check src tests benchmarks docs_site
	$(BIN)/python -m pytest

# The documentation site, in site/; a link that leads nowhere is an error.
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs-serve: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve --watch rules --watch docs_site --watch CONTRIBUTING.md

bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check transformers-mlinter
	$(BIN)/python benchmarks/speed.py

bench-server: $(VENV)/.dev
	$(BIN)/python benchmarks/language_server.py

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
	$(BIN)/ruff check --fix src tests benchmarks docs_site
	$(BIN)/ruff format src tests benchmarks docs_site

clean:
	rm -rf $(VENV) $(TRUTH) .cache site

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@ $(VENV)/.base

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.base $(VENV)/.docs

$(TRUTH)/.ready: tests/requirements-torch.txt
	$(PYTHON) -m venv $(TRUTH)
	$(TRUTH)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	$(TRUTH)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps nemo-automodel==0.7.0
	touch $@
