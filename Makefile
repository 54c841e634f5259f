# make run   creates .venv, installs, starts Laplaced
# make test  installs what the tests need, runs the suite; some minutes
# make test-long  the suite with long series, more drawn values and more of it on PostgreSQL, before a release
# make lint  style, types, import rules, Dockerfile
# make demo  three weeks of three people in a few minutes, then that bot to look at; rm -r .demo for a new one
# make torture  kills the bot at 1,000 random moments, plays every fault, writes docs/reliability.md; an hour
# make bench  short forms of the benchmarks, compared with benchmarks/figures.json; ARGS=--save saves them
# make profile  flame graphs of a message, a question, a fragment and a start in .profile; ARGS=message for one
# make scale  several processes, contexts and growth on a PostgreSQL of its own, for docs/scale.md; takes a while
# make recall  measures recall, writes docs/recall.md; half an hour the first time, mostly for vectors, which it keeps
# make lock  rewrites deploy/locks after a change of the dependencies
# make sbom  lists every installed package with its version and licence in sbom.cdx.json
# make screenshots  retakes the pictures of the documentation, from a real conversation and the bot of make demo

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

VENV := .venv
BIN := $(VENV)/bin
# More than there are processors: a good part of the suite waits for other processes.
JOBS ?= 4
# A suite that starts hundreds of processes keeps what it compiled, whatever the shell says: or each compiles all anew.
COMPILED := PYTHONDONTWRITEBYTECODE=
# What every worker of the suite imports is compiled once by all processors; uv leaves that to each first import.
IMPORTED := {aiogram,aiohttp,alembic,botocore,fastapi,flask,httpx,jinja2,mcp,nicegui,psycopg,pydantic,redis,snowballstemmer,sqlalchemy,urllib3,werkzeug}
CONFIG ?=
KILLS ?= 1000
FLEET_KILLS ?= 100
SEED ?=
TORTURE ?= .torture
DEMO ?= .demo
BROWSER := chromium-headless-shell
DEBIAN := $(BROWSER) fonts-dejavu-core fonts-noto-color-emoji libfaketime pgbouncer prometheus \
	tesseract-ocr tesseract-ocr-rus tesseract-ocr-ukr

# The first Python on the path that is new enough.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)

# Installs a lock file of deploy/locks, then Laplaced itself, built with what the lock holds. uv takes seconds where pip takes
# half a minute; where it cannot be had or cannot reach the index that pip is set up for, pip does it, with the same hashes.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
ITSELF := --no-deps --no-build-isolation -e .
install = $(PIP) uv 2>/dev/null && $(UV) --require-hashes -r deploy/locks/$(1).txt && $(UV) $(ITSELF) \
	|| { echo "uv could not install; pip does it"; $(PIP) --require-hashes -r deploy/locks/$(1).txt && $(PIP) $(ITSELF); }

.PHONY: help run demo test test-long lint lock sbom bench profile scale recall torture screenshots debian
help:
	@sed -n '/^#/!q; s/^# //p' Makefile

run: $(VENV)/.installed
	@exec $(BIN)/laplaced run $(if $(CONFIG),--config $(CONFIG))

# Who has lived goes on living: only a folder without a database is filled by the simulator.
demo: $(VENV)/.installed
	@if [ -e $(DEMO)/laplaced.db ]; then \
		exec env LAPLACED_DATA_DIR=$(DEMO) LAPLACED_TELEGRAM__TOKEN= LAPLACED_LLM__API_KEY= LAPLACED_LLM__LOCAL= \
			LAPLACED_LLM__BASE_URL=https://openrouter.ai/api/v1 $(BIN)/laplaced run; \
	else \
		exec $(BIN)/laplaced simulate demo --offline --stay --until-today --data $(DEMO); \
	fi

test: $(VENV)/.installed-test $(VENV)/.installed-telegrams debian
	@$(COMPILED) $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

test-long: export LAPLACED_TEST_LONG = 1
test-long: test

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile

# After a change of the dependencies in pyproject.toml. UPGRADE=--upgrade takes the newest versions that it allows.
lock: | $(BIN)/python
	@$(PIP) uv
	@PATH=$(abspath $(BIN)):$$PATH $(BIN)/python -m deploy.lock $(UPGRADE)

# The tool has an environment of its own, so that it does not list itself.
sbom: $(VENV)/.installed
	@[ -x $(VENV)/sbom/bin/cyclonedx-py ] || { $(BIN)/python -m venv $(VENV)/sbom \
		&& $(VENV)/sbom/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r deploy/locks/sbom.txt; }
	@$(VENV)/sbom/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file sbom.cdx.json \
		$(abspath $(BIN))/python
	@echo "wrote sbom.cdx.json, a list in CycloneDX's format of what $(VENV) holds"

bench: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.compare $(ARGS)

profile: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.messages.flame_graphs $(ARGS)

scale: $(VENV)/.installed-test
	@PYTHONPATH=tests $(BIN)/python -m benchmarks.storage.scale $(ARGS)

# LOCOMO= and BEAM= are folders of development conversations; without them those in ../shared/data, if there are any.
recall: $(VENV)/.installed-test
	$(BIN)/python -m benchmarks.search.recall_quality $(if $(LOCOMO),--development $(LOCOMO)) $(if $(BEAM),--with-bot $(BEAM)) $(ARGS)

# Broken off, it goes on where it stopped: batches of kills that are done are not repeated. SEED= begins another series.
torture: $(VENV)/.installed-test debian
	@status=0; \
	$(COMPILED) PYTHONPATH=.:tests $(BIN)/python tests/support/faults/torture.py --folder $(TORTURE) --kills $(KILLS) $(if $(SEED),--seed $(SEED)) \
		|| status=$$?; \
	[ $$status -ne 130 ] || exit $$status; \
	$(COMPILED) PYTHONPATH=.:tests $(BIN)/python tests/support/faults/fleet_torture.py --folder $(TORTURE) --kills $(FLEET_KILLS) || status=$$?; \
	rm -f $(TORTURE)/faults.jsonl; \
	$(COMPILED) LAPLACED_TEST_LONG=1 LAPLACED_FAULT_RECORD=$(abspath $(TORTURE)) $(BIN)/python -m pytest -n $(JOBS) --dist loadfile \
		tests/faults $(ARGS) || status=$$?; \
	$(BIN)/python tests/support/faults/reliability.py $(TORTURE) docs/reliability.md; \
	exit $$status

screenshots: $(VENV)/.installed-test debian
	PYTHONPATH=tests $(BIN)/python docs/screenshots.py --demo $(DEMO) $(ARGS)

$(BIN)/python:
	@[ -n "$(PYTHON)" ] || { echo "Laplaced needs Python 3.11 or newer; none was found on the path." >&2; exit 1; }
	@echo "creating $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV) 2>/dev/null \
		|| { rm -rf $(VENV); $(PYTHON) -m venv --without-pip $(VENV) \
			&& $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; } \
		|| { rm -rf $(VENV); \
		echo "This Python makes no virtual environments; on Debian: apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.installed: pyproject.toml deploy/locks/run.txt | $(BIN)/python
	@echo "installing Laplaced into $(VENV)"
	@$(call install,run)
	@touch $@

$(VENV)/.installed-test: pyproject.toml deploy/locks/test.txt | $(BIN)/python
	@echo "installing Laplaced and what its tests need into $(VENV)"
	@$(call install,test)
	@$(COMPILED) $(BIN)/python -m compileall -q -j 0 bot internal migrations tests/support $(VENV)/lib/python3.*/site-packages/$(IMPORTED) \
		|| true
	@touch $@ $(VENV)/.installed

# Telegrams of other people, which the tests run the bot against: npm's telegram-test-api and PyPI's telemelya.
LOCKED_TELEGRAMS := deploy/locks/telemelya.txt deploy/locks/telegram-test-api/package-lock.json
$(VENV)/.installed-telegrams: $(LOCKED_TELEGRAMS) | $(VENV)/.installed-test debian
	@echo "installing two Telegrams of other people for the tests"
	@$(BIN)/python -m venv --clear $(VENV)/telemelya && { $(BIN)/uv pip install --quiet --python $(VENV)/telemelya/bin/python \
		--require-hashes -r deploy/locks/telemelya.txt 2>/dev/null \
		|| $(VENV)/telemelya/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r deploy/locks/telemelya.txt; }
	@mkdir -p $(VENV)/telegram-test-api && cp deploy/locks/telegram-test-api/package*.json $(VENV)/telegram-test-api/ \
		&& cd $(VENV)/telegram-test-api && npm ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

# The browser tests drive Debian's own Chromium; only root may install it. The one without windows takes half the processor
# time, but where it cannot be had, one with windows does as well.
debian:
	@missing=""; for package in $(DEBIAN); do \
		dpkg-query --show --showformat='$${Status}' $$package 2>/dev/null | grep -q 'install ok installed' \
			|| missing="$$missing $$package"; done; \
	command -v npm >/dev/null || missing="$$missing npm"; \
	[ -n "$$missing" ] || exit 0; \
	instead=""; [ "$$missing" != " $(BROWSER)" ] || instead=$$(command -v chromium || true); \
	if [ "$$(id -u)" = 0 ]; then sudo=""; elif sudo -n true 2>/dev/null; then sudo="sudo -n"; else \
		[ -z "$$instead" ] || exit 0; \
		echo "The tests need Debian packages; as root, run: apt-get install --no-install-recommends$$missing" >&2; exit 1; fi; \
	echo "installing$$missing"; \
	{ $$sudo apt-get update -qq; \
	  $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; } >/dev/null \
		|| { [ -n "$$instead" ] && echo "$$instead does instead"; }
