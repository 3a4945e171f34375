# Every target makes what it needs from nothing: a virtual environment, the package, its tools.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo
# Two processes with one thread each; a test that needs a machine's quiet is marked and runs with its file.
TESTS = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

.DEFAULT_GOAL := help
.PHONY: help demo test laws check lint types docs model data bench extension clean

help: ## Show the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/'

$(BIN)/editvec: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "editvec needs Python 3.11 or newer; set PYTHON=…"; exit 1; }
	@command -v git >/dev/null || { echo "editvec needs git"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.dev: $(BIN)/editvec pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	@touch $@

demo: $(BIN)/editvec ## Learn the edits of a small history, see where they are due, apply one; finish an edit
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	$(BIN)/python examples/demo_history.py $(DEMO)/shop
	$(BIN)/editvec learn $(DEMO)/shop
	cd $(DEMO)/shop && ../../$(BIN)/editvec apply 2
	cd $(DEMO)/shop && ../../$(BIN)/editvec apply 2 -U --possible >/dev/null && git diff --stat
	cd $(DEMO)/shop && ../../$(BIN)/editvec undo
	cd $(DEMO)/shop && perl -pi -e 's/"loaded " \+ id/\$$"loaded {id}"/' src/Invoices.cs src/Parcels.cs && git diff --stat
	cd $(DEMO)/shop && ../../$(BIN)/editvec finish && ../../$(BIN)/editvec finish -U && git diff --stat
	@echo "The report: $(DEMO)/shop/.editvec/report.html"

test: $(VENV)/.dev ## Run the tests
	$(TESTS) --dist loadfile -m "not thorough"

laws: $(VENV)/.dev ## Run the laws over many more examples, as every night (long)
	HYPOTHESIS_PROFILE=thorough $(TESTS) --dist load

lint: $(VENV)/.dev ## Check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## Check the types
	$(BIN)/mypy

check: lint types test ## What CI runs: lint, types, tests

docs: $(BIN)/editvec ## Build the documentation site into site/
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/python benchmarks/results.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

model: $(VENV)/.dev ## Train the model in the package again: make model EDITVEC_DATA=path/to/the/data (hours)
	$(BIN)/python model/build.py --work runs/packaged $(if $(EDITVEC_DATA),--data "$(EDITVEC_DATA)")

data: $(VENV)/.dev ## Mine the training data again: make data CLONES=path/to/clones EDITVEC_DATA=path/to/the/data (hours)
	$(BIN)/python model/data.py --clones $(CLONES) --data "$(EDITVEC_DATA)" --out runs/data

bench: $(VENV)/.bench ## Measure mining: make bench REPO=path/to/a/clone
	$(BIN)/python benchmarks/mine.py $(REPO)

editors/vscode/node_modules/.package-lock.json: editors/vscode/package.json editors/vscode/package-lock.json
	cd editors/vscode && npm ci --no-audit --no-fund

extension: editors/vscode/node_modules/.package-lock.json ## Check, test and bundle the VS Code extension
	cd editors/vscode && npm run check && npm test && npm run bundle

clean: ## Remove what the other targets made
	rm -rf $(VENV) $(DEMO) site editors/vscode/node_modules editors/vscode/dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
