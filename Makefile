# make demo: install what runs, and run the main job. make test: install what develops, too, and pass the checks and tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile # the first import compiles what is used
RUNS := $(VENV)/.runs
STAMP := $(VENV)/.ready
CHECKOV := .venv-checkov/.ready
JOBS ?= 2

unexport PYTHONDONTWRITEBYTECODE # compiled files spare every program that a test starts most of its start

.PHONY: setup demo test check fix slow bench wheel docs docs-site pictures lock typescript clean

setup: $(STAMP)

$(RUNS): requirements-run.lock pyproject.toml # what a plan needs: no cloud's SDK, no tool of developers
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; set PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements-run.lock
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $(RUNS)

$(STAMP): requirements.lock $(RUNS)
	$(PIP) --require-hashes -r requirements.lock
	@touch $(STAMP)

$(CHECKOV): # in an environment of its own: it pins libraries against ours
	$(PYTHON) -m venv .venv-checkov
	.venv-checkov/bin/python -m pip install --quiet --disable-pip-version-check "checkov>=3.3,<4"
	@touch $(CHECKOV)

demo: $(RUNS)
	@mkdir -p out
	$(BIN)/planner estimate --months 12 --start 2026-12 --as-of 2026-11-21 examples/capacity-review.xlsx \
	  -o out/plan.xlsx -o out/plan.md -o out/plan.json -o out/terraform/

test: $(STAMP) check
	$(BIN)/pytest -n $(JOBS) --dist loadfile -m 'not slow and not live' -rs

slow: $(STAMP) $(CHECKOV) # every test, with all examples; then what none of them runs
	@mkdir -p out
	$(BIN)/pytest -n $(JOBS) -m 'not live' --hypothesis-profile thorough --cov --cov-report= -rs
	$(BIN)/python tests/uncovered.py

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check
	$(BIN)/python -m planner.service.openapi --check

fix: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP)
	$(BIN)/python docs/generate.py
	$(BIN)/python -m planner.service.openapi

docs-site: $(STAMP) # the documentation as a site in out/site; a dead link fails it
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pictures: $(STAMP) # look at them before a commit: docs/pictures
	$(BIN)/python docs/pictures.py

wheel: $(STAMP) # install it into empty environments of every Python here: seconds and megabytes
	$(BIN)/python bench/install.py

bench: $(STAMP)
	$(BIN)/python bench/run.py

lock: $(RUNS) # needs nothing of the lock of developers, which it may have to mend
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --no-strip-extras --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --group dev --all-extras pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --no-strip-extras --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate --group image --extra server --extra otel --extra dask -c requirements.lock pyproject.toml -o requirements-server.lock
	$(BIN)/uv pip compile --quiet --no-strip-extras --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate --group run -c requirements.lock pyproject.toml -o requirements-run.lock

typescript: # what makes a client of the service in TypeScript, for one of the slow tests; needs npm and the network
	cd tests/doors/typescript && npm ci --no-audit --no-fund

clean:
	rm -rf $(VENV) out dist .pytest_cache .mypy_cache .ruff_cache
