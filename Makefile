# Two targets for readers (verify, test); the rest for developers.
# The environment is made once: its stamps are renewed only when pyproject.toml changes.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin

.PHONY: verify test test-package docs lint types bench mutants campaigns clean

verify: $(VENV)/.installed
	$(BIN)/python -m verify

test: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n auto --dist worksteal

test-package: $(VENV)/.installed-test
	$(BIN)/python -m pytest -m package

docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs report/docs

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-lint
	$(BIN)/mypy

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks --docs

mutants: $(VENV)/.installed-test
	$(BIN)/python -m campaigns mutants --size full --seed 3 --docs

campaigns: mutants
	$(BIN)/python -m campaigns soundness --size full --docs
	$(BIN)/python -m campaigns robustness --size full --docs
	$(BIN)/python -m campaigns reproducibility --size full --docs

clean:
	rm -rf $(VENV) report

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[figures,rivals]'
	touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-lint: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[test,lint]'
	touch $@ $(VENV)/.installed-test $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@ $(VENV)/.installed

$(VENV)/.installed-bench: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@ $(VENV)/.installed
