# `make demo` shows recrawl at work; `make test` runs every check. Both set up what they need, once.
.DEFAULT_GOAL := help
PY := .venv/bin/python
FOR ?= 30
# Each brings its own servers and files. The others kill processes at moments that matter, and want a core each.
# What takes longest comes first, so that no worker is left with it at the end (and nobody reorders that).
SIDE_BY_SIDE := $(addprefix tests/,web hostile acceptance browser replay store docs unit \
	$(addprefix faults/test_,crafted_backups.py flips.py names.py torn_tail.py))
# These replay histories, which the project ships none of.
ON_CORPORA := $(addprefix bench/,choosing.py grounds.py halves.py hourly.py kin_tellings.py peers.py)

# Else each process that the tests start would read again what was edited since the set-up.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint parity faults bench docs lock clean setup-run setup-dev setup-browser setup-pywb

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "%-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup-run:
	@scripts/setup run

setup-dev:
	@scripts/setup dev

setup-browser: setup-dev
	@scripts/setup browser || true # without one, what needs it is skipped and says why

setup-pywb: setup-dev
	@scripts/setup pywb || true # the same

demo: setup-run ## watch a small living web for 30 seconds (FOR=60 for a minute)
	@.venv/bin/recrawl demo --for $(FOR)

test: setup-dev ## every check and every test
	@$(MAKE) --no-print-directory -j 3 lint parity setup-browser setup-pywb
	$(PY) -m pytest -n 3 --dist loadfile --no-loadscope-reorder $(SIDE_BY_SIDE)
	$(PY) -m pytest -n 2 --dist loadfile $(addprefix --ignore=,tests/parity $(SIDE_BY_SIDE))

lint: setup-dev ## style, types, and the layers that imports keep to
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports

# Beside the linters, which take one core; most of what numba compiles is here, and then kept for all others.
parity: setup-dev
	$(PY) -m pytest tests/parity

faults: setup-dev ## the fault tests at their full counts (minutes)
	RECRAWL_FAULT_COUNT=$${RECRAWL_FAULT_COUNT:-200} $(PY) -m pytest tests/faults tests/hostile

bench: setup-dev ## side-by-side benchmarks (CORPORA=FOLDER: those on corpora of your own too)
	@for file in $(filter-out $(ON_CORPORA),$(wildcard bench/*.py)); do $(PY) $$file || exit 1; done
	@$(if $(CORPORA),for file in $(ON_CORPORA); do $(PY) $$file "$(CORPORA)" || exit 1; done)

docs: setup-dev ## write docs/reference from the code
	$(PY) scripts/reference.py
	$(PY) scripts/picture.py

lock: ## pin every dependency anew (needs uv)
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra build --extra learn --extra notify --extra simulate --extra web pyproject.toml -o requirements.lock
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --extra dev pyproject.toml -o requirements-dev.lock
	echo pywb | uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate - -o requirements-pywb.lock

clean: ## remove the environment and all caches
	rm -rf .venv .venv-pywb .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
