PYTHON ?= python3
OLD := import sys; sys.exit("malice needs Python 3.11: make PYTHON=..." if sys.version_info < (3, 11) else 0)
CONSTRAINTS := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))constraints.txt

.PHONY: .venv demo demo-languages test lint bench hostile soak clean

.venv: .venv/.installed

# The first holds for what is installed, the second for what builds it.
.venv/.installed: export PIP_CONSTRAINT := $(CONSTRAINTS)
.venv/.installed: export PIP_BUILD_CONSTRAINT := $(CONSTRAINTS)
.venv/.installed: pyproject.toml constraints.txt
	test -x .venv/bin/python || { $(PYTHON) -c '$(OLD)' && $(PYTHON) -m venv .venv; }
	.venv/bin/python -m pip install --upgrade pip  # --group needs 25.1
	.venv/bin/python -m pip install -e . --group dev
	touch $@

# From nothing each time: a league is not continued with a bot that was changed meanwhile.
demo: .venv
	rm -rf demo
	mkdir demo
	.venv/bin/malice run tournaments/demo.toml --db demo/league.db --site demo/site

# The starter kits against one another: those whose programs are here; it says which are left out, and why.
demo-languages: .venv
	rm -rf demo-languages
	mkdir demo-languages
	.venv/bin/malice languages --tournament > demo-languages/tournament.toml
	.venv/bin/malice run demo-languages/tournament.toml --db demo-languages/league.db --site demo-languages/site

# make test ARGS="-k clock -x"
test: .venv
	.venv/bin/pytest $(ARGS)

lint: .venv
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy

bench: .venv
	.venv/bin/malice bench

# Forty bots that mean harm, each against an honest one, and all of them at once.
hostile: .venv
	.venv/bin/pytest tests/test_hostile.py $(ARGS)

# Kills a tournament a hundred times at random; make soak ARGS="500 SEED"
soak: .venv
	.venv/bin/python -m tests.soak $(ARGS)

clean:
	rm -rf demo demo-languages dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf bots/*/*/build bots/*/*/target bots/*/*/node_modules bots/*/*/Cargo.lock bots/*/*/package-lock.json bots/*/*/.malice-build
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -r {} +
