# The commands of this repository. `make run` and `make test` install what they need on a Debian machine that has the
# Swift toolchain, git and make.

SHELL := bash
SWIFT ?= swift
# Flags for `make run`, e.g. make run ARGS="--http-port 9000".
ARGS ?=
# The program that builds the image.
ENGINE ?= $(firstword $(foreach program,docker podman buildah,$(if $(shell command -v $(program)),$(program))))
IMAGE ?= parley

# An import that Package.swift does not declare is an error. Package.swift makes warnings errors too.
CHECKS = --explicit-target-dependency-import-check error

# How many groups of tests run at the same time. Tests that measure time always run alone.
TEST_WIDTH ?= 4
export WIDTH = $(TEST_WIDTH)

# How long `make chaos` runs. CHAOS_SEED=7 repeats a run; without it, the seed is random and printed.
CHAOS_MINUTES ?= 10

# How often `make uploads` cuts uploads. UPLOADS_SEED=7 repeats a run.
CUTS ?= 500
UPLOADS_SEED ?=

# How much `make devices` does. SEED=7 repeats a run's commands and faults.
OPERATIONS ?= 100000
SEED ?=

# The workload that `make bench` measures, and its flags: make bench WORKLOAD=fanout FLAGS="--members 500 --json".
WORKLOAD ?= send
FLAGS ?=

# The modules of tests that `make browser` runs; empty: all. The folder for `make screenshots`.
TESTS ?=
FOLDER ?= .build/screenshots

.PHONY: help run test check targets chaos uploads devices vectors web page browser screenshots sample sdk-docs bench deps
.PHONY: testdeps build release lint format docs schema image clean
.DEFAULT_GOAL := help
# One build at a time; SwiftPM uses all cores itself.
.NOTPARALLEL:

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 18

run: deps release ## build and serve on http://127.0.0.1:8080 with a private PostgreSQL; Ctrl-C stops both
	@if [ "$$(id -u)" = 0 ] && [ -z "$$PARLEY_DATA_DIR" ] && \
	    ! setpriv --reuid=postgres --regid=postgres --clear-groups test -x "$(CURDIR)"; then \
	    export PARLEY_DATA_DIR=/var/lib/parley; \
	    echo "parley: the postgres user can't access this directory; storing data in $$PARLEY_DATA_DIR" >&2; \
	fi; \
	exec .build/release/parley serve $(ARGS)

# The format check comes first because it is quick. Tests/run.sh builds the release while unit tests run. The release build
# is there because code that works in debug may break in the optimiser, and because people run it.
test: testdeps lint build ## run everything CI runs: format, both builds, all tests (about 30 min on 2 cores)
	@SWIFT=$(SWIFT) PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley Tests/run.sh all

check: testdeps lint build ## a quick check before a commit: format, debug build, fast unit tests (at most 3 min)
	@Tests/run.sh quick
	@echo 'parley: make check left out the release build, the system tests, and unit suites that wait or measure time.'
	@echo 'parley: make test runs all of them.'

chaos: deps build release ## break nodes, PostgreSQL and networks at random: make chaos CHAOS_MINUTES=10 CHAOS_SEED=7
	@CHAOS_MINUTES=$(CHAOS_MINUTES) PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley \
	    $(SWIFT) test --skip-build --disable-xctest --no-parallel --filter SystemTests/Faults/chaos

uploads: deps build release ## cut and resume uploads, and download 1 GiB: make uploads CUTS=500 UPLOADS_SEED=7
	@PARLEY_ATTACHMENT_CUTS=$(CUTS) PARLEY_ATTACHMENT_SEED=$(UPLOADS_SEED) PARLEY_ATTACHMENT_DOWNLOAD_MIB=1024 \
	    PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley \
	    $(SWIFT) test --skip-build --disable-xctest --no-parallel --filter 'SystemTests/(InterruptedUploads|UploadMemory)'

devices: deps build release ## use the client on 12 devices while everything fails: make devices OPERATIONS=100000 SEED=7
	@PARLEY_CLIENT_OPERATIONS=$(OPERATIONS) PARLEY_CLIENT_SEED=$(SEED) \
	    PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley \
	    $(SWIFT) test --skip-build --disable-xctest --no-parallel --filter SystemTests/ClientDevices

web: testdeps ## check the web client's modules: format, lint, types, sizes, unit tests (10 s, no build)
	@Tests/WebClientTests/run.sh

page: ## serve the web client from its sources for a node on port 8080: edit, reload; no build
	@Sources/WebClient/dev-server.py

browser: testdeps release ## use the web client in a real browser: make browser TESTS=test_offline
	@PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley Tests/BrowserTests/run.py $(TESTS)

screenshots: testdeps release ## take pictures of the web client's screens: make screenshots FOLDER=.build/screenshots
	@PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley Tests/BrowserTests/screenshots.py $(FOLDER)

sample: testdeps release ## build and run the SDK's sample app from outside the package, and check the SDK's documentation
	@PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley Tests/SDKSample/run.py

sdk-docs: deps ## write the SDK's documentation as a web page to .build/sdk-docs
	@Tests/SDKSample/run.py --docs .build/sdk-docs

# A story at a time: people who act at the same time would make two recordings differ.
vectors: deps build release ## record Tests/ClientVectors from running nodes
	@PARLEY_VECTORS=$(CURDIR)/Tests/ClientVectors PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley \
	    $(SWIFT) test --skip-build --disable-xctest --no-parallel --filter SystemTests/ClientVectors
	@python3 Tests/ClientVectors/replay.py Tests/ClientVectors/*.json

bench: deps release ## measure a node on a private PostgreSQL: make bench WORKLOAD=send FLAGS="--seconds 20"
	@Tests/Measure/bench.sh $(WORKLOAD) $(FLAGS)

deps: ## install missing system packages
	@.ci/deps

# Only the tests need other servers: nginx, PgBouncer, a mail relay.
testdeps:
	@.ci/deps test

build: deps
	@$(SWIFT) build --build-tests $(CHECKS)

release: deps
	@$(SWIFT) build -c release --product parley
	@$(SWIFT) build -c release --product parley-thumbnailer

targets: ## print the graph of targets in layers, and check it
	@.ci/targets

lint:
	@$(SWIFT) format lint --strict --parallel --recursive Sources Tests Package.swift
	@.ci/targets >/dev/null

format: ## format all Swift files the way `make test` requires
	@$(SWIFT) format --in-place --parallel --recursive Sources Tests Package.swift

docs: build ## update the generated tables in docs/configuration.md, docs/limits.md and docs/push.md
	@UPDATE_README=1 $(SWIFT) test --skip-build --disable-xctest --filter ServiceConfigurationTests
	@UPDATE_README=1 $(SWIFT) test --skip-build --disable-xctest --filter LimitingRates/document
	@UPDATE_PUSH=1 $(SWIFT) test --skip-build --disable-xctest --no-parallel --filter JudgingAnswers/documentation

schema: build ## regenerate sql/schema.sql from the migrations
	@UPDATE_SCHEMA=1 $(SWIFT) test --skip-build --disable-xctest --filter DatabaseSchema/dump

image: ## build the container image
	@test -n "$(ENGINE)" || { echo 'parley: install docker, podman or buildah to build the image.' >&2; exit 1; }
	@$(ENGINE) build $(if $(findstring docker,$(ENGINE)),,--format docker) -f docker/Dockerfile -t $(IMAGE) .

clean: ## remove all build results (data in .parley stays)
	@rm -rf .build
