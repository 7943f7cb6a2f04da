# One GPU Is Not Enough. `make` alone lists what there is.
# Every target sets up what it needs first; that is quick when nothing has changed.

# From the command line or the environment: make serve PORT=8123
HOST ?= 127.0.0.1
PORT ?= 8000

BIN = .venv/bin
SETUP = sh build_tools/setup.sh
# Where the checked Python lives; folders that are not there yet are left out.
CODE = $(wildcard py_core widgets build_tools tests)
TESTS = $(wildcard tests/core tests/site tests/browser)
RUNTIME = $(shell find widgets/runtime -name '*.js' -o -name '*.mjs' 2>/dev/null)

# Material's notice about MkDocs 2 is not news here (see README: why MkDocs 1).
export NO_MKDOCS_2_WARNING = 1

.DEFAULT_GOAL = help
.PHONY: help setup setup-test serve site check format test bench conformance quality looks audit card lock library clean distclean

help: ## list these commands
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

setup: ## set up .venv and the npm packages
	@$(SETUP) serve

setup-test:
	@$(SETUP) test

serve: setup ## build the site and serve it with live reload (PORT=8123 for another port)
	@$(BIN)/python -I build_tools/setup.py port $(HOST) $(PORT)
	@echo 'serve: building, then http://$(HOST):$(PORT)/ (Ctrl-C ends it)'
	@$(BIN)/mkdocs serve -a $(HOST):$(PORT)

site: setup ## build the site for production into site/
	@echo 'site: building into site/'
	@$(BIN)/mkdocs build --strict
	@$(BIN)/python -m build_tools.compress site

check: setup-test ## lint, check formatting and types
	@echo 'check: ruff'
	@$(BIN)/ruff check --quiet $(CODE)
	@$(BIN)/ruff format --check --quiet $(CODE) || { $(BIN)/ruff format --check $(CODE); echo 'check: run `make format`'; exit 1; }
	@echo 'check: mypy'
	@$(BIN)/mypy --no-error-summary
	@echo 'check: tsc (types in the JavaScript)'
	@$(if $(RUNTIME),node_modules/.bin/tsc --project .,:)

format: setup-test ## format the Python code
	@$(BIN)/ruff check --quiet --fix-only $(CODE)
	@$(BIN)/ruff format $(CODE)

test: check ## check, then run the tests in core, on the site and in a browser
	@echo 'test: $(TESTS)'
	@$(BIN)/pytest $(TESTS)

bench: setup-test ## measure how fast things are
	@test -f tests/bench.py || { echo 'bench: nothing to measure yet (tests/bench.py is not there)'; exit 1; }
	@$(BIN)/python tests/bench.py

conformance: ## compare with other people's programs, in their own environment
	@test -f tests/conformance/run.py || { echo 'conformance: nothing yet (tests/conformance/run.py is not there)'; exit 1; }
	@python3 tests/conformance/run.py

quality: ## the slower gates
	@$(SETUP) quality
	@test -d tests/quality || { echo 'quality: no slower gates yet (tests/quality is not there)'; exit 1; }
	@$(BIN)/pytest tests/quality

looks: setup-test ## take anew the pictures with which `make quality` compares components
	@RENEW_LOOKS=1 $(BIN)/pytest tests/quality/test_looks.py -k looks_as_it_did

# Stands outside the tests: it asks the registries, and many mirrors refuse to answer.
PIP_AUDIT = $(BIN)/uv tool run --quiet --from pip-audit pip-audit --strict --progress-spinner off \
  --require-hashes --disable-pip -r requirements-test.txt

audit: setup-test ## ask the registries for known weaknesses in what we depend on
	@mkdir -p .cache; status=0; \
	verdict() { \
	  cat .cache/audit.log; \
	  if [ "$$1" = 0 ]; then echo "audit: $$2: no known weakness"; \
	  elif grep -qE 'endpoint returned|could not be audited|Failed to (fetch|resolve)|ConnectionError' .cache/audit.log; \
	  then echo "audit: $$2: the registry refused to answer, so nothing is known (ask another one)"; status=1; \
	  else echo "audit: $$2: there are weaknesses, or the audit could not run (see above)"; status=1; fi; \
	}; \
	echo 'audit: asking about the npm packages'; \
	npm audit >.cache/audit.log 2>&1; verdict $$? npm; \
	echo 'audit: asking about the Python packages'; \
	$(PIP_AUDIT) >.cache/audit.log 2>&1; verdict $$? Python; \
	exit $$status

# No index lines: the lock says what, your own settings say where from.
LOCK = UV_CUSTOM_COMPILE_COMMAND='make lock' $(BIN)/uv pip compile --quiet --no-config --universal --python-version 3.13 \
  --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate $(if $(UPGRADE),--upgrade) pyproject.toml

card: setup-test ## take the picture that other sites show for a link to this one
	@$(BIN)/python -m build_tools.card

lock: setup-test ## pin all packages anew after a change in pyproject.toml or package.json (UPGRADE=1: newest)
	@echo 'lock: requirements.txt, requirements-test.txt'
	@$(LOCK) --extra site --output-file requirements.txt
	@$(LOCK) --extra site --extra test --constraint requirements.txt --output-file requirements-test.txt
	@echo 'lock: package-lock.json'
	@npm $(if $(UPGRADE),update,install) --package-lock-only --loglevel=error

library: setup-test ## find out anew what of Python's standard library readers' browsers need
	@$(BIN)/python -c 'from build_tools.pack import library; library.write()'

clean: ## delete what builds and tools made (the set-up stays)
	@echo 'clean: site/ and caches'
	@rm -rf site dist test-results .hypothesis
	@test ! -d .cache || find .cache -mindepth 1 -maxdepth 1 ! -name browser ! -name python ! -name uv -exec rm -rf {} +
	@find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

distclean: clean ## delete the set-up too
	@echo 'distclean: .venv, node_modules, .cache'
	@rm -rf .venv node_modules .cache
