# `make` alone lists the targets. Each makes the environment that it needs first, in .venv.
# PYTHON=python3.13 chooses the interpreter, ARGS="…" is handed on to the command.
.DEFAULT_GOAL := help
.PHONY: help run test soak check bench picture fmt clean environment-run environment-dev
MAKEFLAGS += --no-print-directory
unexport PYTHONHOME PYTHONPATH VIRTUAL_ENV
export PYTHON

bin := .venv/bin
pure := --include='breaker/*.py,breaker/attempt/*,breaker/circuit/*,breaker/done/*,breaker/route/*,breaker/run/*,breaker/switchboard/clock.py,breaker/verdict/*,breaker/wire/*'

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' Makefile

# Ctrl-C is how a user ends it: nothing that make should call an error.
run: environment-run ## Start the service: firstbyte.yaml if it is here, else simulated providers
	@exec $(bin)/python -c 'from monitor.cli import entry; entry(interrupted=0)' run $(ARGS)

test: environment-dev ## Run all tests and see that every branch of the pure files is covered; with ARGS only those
ifdef ARGS
	@$(bin)/pytest $(ARGS)
else
	@$(bin)/pytest -n 3 --cov
	@$(bin)/coverage report $(pure) --fail-under=100 >/dev/null || { $(bin)/coverage report $(pure); \
	echo "firstbyte: the pure files must be covered to the last branch" >&2; exit 1; }
endif

soak: environment-dev ## Run the tests that wait for minutes, then load the service for twenty and see that nothing grows
	@$(bin)/pytest -m soak -o faulthandler_timeout=0 $(ARGS)
	@$(bin)/python -m benchmarks.soak --minutes 20

check: environment-dev ## Check lint, format, types, contracts and the lock
	$(bin)/ruff check
	$(bin)/ruff format --check
	$(bin)/mypy
	$(bin)/lint-imports
	$(bin)/uv lock --check --offline

bench: environment-dev ## Measure beside peers all that has an aim, in ten minutes; with ARGS only these scripts
	@$(bin)/python -m benchmarks._all $(ARGS)

picture: environment-dev ## Draw the pictures of the docs anew, in eight minutes; needs chromium and prometheus
	$(bin)/python -m tests.flows.pictures docs/images

fmt: environment-dev ## Format the code and mend what ruff can mend
	$(bin)/ruff format
	$(bin)/ruff check --fix

clean: ## Remove .venv, caches and built files; keeps firstbyte.yaml
	rm -rf .venv .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

environment-run environment-dev: environment-%:
	@.ci/environment $*
