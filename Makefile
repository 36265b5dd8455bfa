PYTHON ?= python3
OLD := import sys; sys.exit("malice needs Python 3.11: make PYTHON=..." if sys.version_info < (3, 11) else 0)
CONSTRAINTS := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))constraints.txt
SAY_WHERE := echo "The program is .venv/bin/malice; try: .venv/bin/malice play greedy first"

.PHONY: .venv core demo demo-languages test lint bench hostile soak clean

.venv: .venv/.tools

# The first pins what is installed, the second what builds it.
.venv/.%: export PIP_CONSTRAINT := $(CONSTRAINTS)
.venv/.%: export PIP_BUILD_CONSTRAINT := $(CONSTRAINTS)

# What running needs; below, what development needs on top.
.venv/.malice: pyproject.toml constraints.txt
	test -x .venv/bin/pip || { $(PYTHON) -c '$(OLD)' && $(PYTHON) -m venv .venv; }
	.venv/bin/python -m pip install -e .
	touch $@

.venv/.tools: .venv/.malice
	.venv/bin/python -m pip install --upgrade pip  # --group needs 25.1
	.venv/bin/python -m pip install --group dev
	touch $@

# The same rules, compiled: malice plays faster with them, and needs none of it.
core: .venv/.core

.venv/.core: .venv/.malice $(wildcard core/*.toml core/Cargo.lock core/*/Cargo.toml core/*/build.rs core/*/src/*.rs)
	@command -v cargo >/dev/null || { echo "make core needs cargo 1.85 (Debian: apt-get install cargo-web)"; exit 1; }
	.venv/bin/python -m pip install --force-reinstall --no-deps ./core
	touch $@

# From scratch each time: a league stops at a bot that has changed.
demo: .venv/.malice
	rm -rf demo
	mkdir demo
	.venv/bin/malice run tournaments/demo.toml --db demo/league.db --site demo/site
	@$(SAY_WHERE)

# The starter kits against one another, as many as this machine has programs for; it says which it leaves out, and why.
demo-languages: .venv/.malice
	rm -rf demo-languages
	mkdir demo-languages
	.venv/bin/malice new --list --tournament > demo-languages/tournament.toml
	.venv/bin/malice run demo-languages/tournament.toml --db demo-languages/league.db --site demo-languages/site
	@$(SAY_WHERE)

# In four processes, as tests often wait for others, each file in one of them: make test ARGS="-k clock -x"; ARGS="-n 0 --pdb" runs one process.
# Hundreds of processes start: each would compile all modules where the environment forbids Python to keep them.
test: export PYTHONDONTWRITEBYTECODE :=
test: .venv/.tools
	.venv/bin/pytest -n 4 --dist loadfile --no-loadscope-reorder $(ARGS)

lint: .venv/.tools
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy

bench: .venv/.malice
	.venv/bin/malice bench $(ARGS)

# Forty bots that mean harm, each against an honest one, and all of them at once; under Landlock, too, what `make test` leaves out.
hostile: .venv/.tools
	.venv/bin/pytest -m "" tests/test_hostile.py $(ARGS)

# Kills tournaments at given points and at random, simulates thousands of comparisons, and runs the tests that take too
# long for `make test`; make soak ARGS="500 SEED", or some of it:
# ARGS="0 SEED points rungs" (points kills swiss cluster games engines errors intervals rungs image whole)
soak: .venv/.tools
	.venv/bin/python -m tests.soak $(ARGS)

clean:
	rm -rf demo demo-languages dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf core/target
	rm -rf bots/*/*/build bots/*/*/target bots/*/*/node_modules bots/*/*/Cargo.lock bots/*/*/package-lock.json bots/*/*/.malice-build
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -r {} +
