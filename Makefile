# Combee: `make app` starts the web app, `make test` runs the tests. Both install what they need first.
PYTHON ?= python3
PORT ?= 8501
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help install app test lint

help:
	@echo "make app      install what is needed and start the app (PORT=$(PORT))"
	@echo "make test     install what is needed and run all tests"
	@echo "make lint     style, types and the floors of the house"
	@echo "make install  only install, into $(VENV) (PYTHON=$(PYTHON))"

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || \
	  { echo "Combee needs Python 3.11 or newer, and there is no $(PYTHON): install it, or name another with PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Combee needs Python 3.11 or newer; this is $$($(PYTHON) --version 2>&1). Name another with PYTHON=…" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "This Python cannot make virtual environments: install its venv package (Debian: apt install python3-venv)." >&2; exit 1; }
	@echo "Installing into $(VENV) (a minute or two, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)

# The shell becomes the server, so that Ctrl-C and a signal to make's group reach it and nothing is left behind;
# a SIGTERM to make alone is passed on by make itself.
app: install
	@PORT=$(PORT) exec $(BIN)/python app.py

test: install
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

lint: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
