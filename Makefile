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

# The optimised build is what people run, and what `make test` tests: one build for both. Tests reach into modules, so the
# modules are built for that. docs/decisions/build.md has the reasons. `make check` and `make test FILTER=…` use the debug
# build, which a change rebuilds in seconds.
RELEASE = -c release -Xswiftc -enable-testing

# A regular expression: `make test FILTER=Receipts` runs the Swift tests whose names match.
FILTER ?=

# How many groups of tests run at the same time. Tests that measure time always run alone.
TEST_WIDTH ?= 4
export WIDTH = $(TEST_WIDTH)

# Repeats the random tests of a run, whose seed is printed: SEED=7.
SEED ?=
export PARLEY_SEED = $(SEED)

# How long `make chaos` runs, how often `make uploads` cuts, how much `make devices` does, and for how many seconds
# `make webhooks` sends to an endpoint that fails.
CHAOS_MINUTES ?= 10
CUTS ?= 500
OPERATIONS ?= 100000
WEBHOOK_SECONDS ?= 3600

# The workload that `make bench` measures, and its flags: make bench WORKLOAD=fanout FLAGS="--members 500 --json".
WORKLOAD ?= send
FLAGS ?=

# The modules of tests that `make browser` runs; empty: all. The folder for `make screenshots`.
TESTS ?=
FOLDER ?= .build/screenshots

# A folder of executables for `make dist` to pack. Empty: it builds them, which takes half an hour on two cores.
EXECUTABLES ?=

.PHONY: help run test check nightly targets chaos uploads devices webhooks vectors web page browser screenshots film sample
.PHONY: sdk-docs bench deps testdeps build optimised release lint format docs schema image dist clean
.DEFAULT_GOAL := help
# One build at a time; SwiftPM uses all cores itself.
.NOTPARALLEL:

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 20

run: deps ## build and serve on http://127.0.0.1:8080 with a private PostgreSQL; Ctrl-C stops both
	@for product in parley-thumbnailer parley; do $(SWIFT) build $(RELEASE) --product $$product || exit; done
	@if [ "$$(id -u)" = 0 ] && [ -z "$$PARLEY_DATA_DIR" ] && \
	    ! setpriv --reuid=postgres --regid=postgres --clear-groups test -x "$(CURDIR)"; then \
	    export PARLEY_DATA_DIR=/var/lib/parley; \
	    echo "parley: the postgres user can't access this directory; storing data in $$PARLEY_DATA_DIR" >&2; \
	fi; \
	exec .build/release/parley serve $(ARGS)

# The format check comes first because it is quick.
test: testdeps $(if $(FILTER),build,lint optimised) ## run all tests in their short form, or FILTER=Receipts
ifeq ($(FILTER),)
	@Tests/run.sh all
else
	@CONFIGURATION=debug Tests/run.sh only '$(FILTER)'
	@echo 'parley: only the Swift tests that match $(FILTER) ran, on the debug build. make test runs all tests.'
endif

check: testdeps lint build ## a quick check before a commit: format, debug build, fast unit tests
	@CONFIGURATION=debug Tests/run.sh quick
	@echo 'parley: make check left out the optimised build, the system tests, the browser, and unit suites that wait or'
	@echo 'parley: measure time. make test runs all of them.'

nightly: testdeps lint optimised ## all tests, then every long form: chaos, devices, uploads, webhooks, screenshots; takes hours
	@CHAOS_MINUTES=$(CHAOS_MINUTES) CUTS=$(CUTS) OPERATIONS=$(OPERATIONS) WEBHOOK_SECONDS=$(WEBHOOK_SECONDS) Tests/nightly.sh

# One long form: its variables, and the suite.
long = $(1) Tests/run.sh only '$(2)'

chaos: testdeps optimised ## break nodes, PostgreSQL and networks at random: make chaos CHAOS_MINUTES=10 SEED=7
	@$(call long,CHAOS_MINUTES=$(CHAOS_MINUTES),SystemTests/Faults/chaos)

uploads: testdeps optimised ## cut and resume uploads, and download 1 GiB: make uploads CUTS=500 SEED=7
	@$(call long,PARLEY_ATTACHMENT_CUTS=$(CUTS) PARLEY_ATTACHMENT_DOWNLOAD_MIB=1024,SystemTests/(InterruptedUploads|UploadMemory))

devices: testdeps optimised ## use the client on 12 devices while everything fails: make devices OPERATIONS=100000 SEED=7
	@$(call long,PARLEY_CLIENT_OPERATIONS=$(OPERATIONS),SystemTests/ClientDevices)

webhooks: testdeps optimised ## send to a webhook that fails while nodes are killed: make webhooks WEBHOOK_SECONDS=3600
	@$(call long,WEBHOOK_SECONDS=$(WEBHOOK_SECONDS) SQL_TRANSACTIONS=10000,SystemTests/(WebhooksUnderFaults|SendingFromSQLUnderFaults))

web: testdeps ## check the web client's modules: format, lint, types, sizes, unit tests (10 s, no build)
	@Tests/WebClientTests/run.sh

page: ## serve the web client from its sources for a node on port 8080: edit, reload; no build
	@Sources/WebClient/dev-server.py

browser: testdeps release ## use the web client in a real browser: make browser TESTS=test_offline
	@PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley Tests/BrowserTests/run.py $(TESTS)

screenshots: testdeps release ## take pictures of the web client's screens: make screenshots FOLDER=.build/screenshots
	@PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley Tests/BrowserTests/screenshots.py $(FOLDER)

film: testdeps release ## film a conversation in the web client and in a terminal: make film FILE=.build/chat.png
	@PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley /usr/bin/python3 Tests/BrowserTests/film.py $(or $(FILE),.build/chat.png)

sample: testdeps release ## build and run the SDK's sample app from outside the package, and check the SDK's documentation
	@PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley Tests/SDKSample/run.py

sdk-docs: deps ## write the SDK's documentation as a web page to .build/sdk-docs
	@Tests/SDKSample/run.py --docs .build/sdk-docs

# A story at a time: people who act at the same time would make two recordings differ.
vectors: testdeps optimised ## record Tests/ClientVectors from running nodes
	@$(call long,PARLEY_VECTORS=$(CURDIR)/Tests/ClientVectors,SystemTests/ClientVectors)
	@python3 Tests/ClientVectors/replay.py Tests/ClientVectors/*.json

bench: deps release ## measure a node on a private PostgreSQL: make bench WORKLOAD=send FLAGS="--seconds 20"
	@Tests/Measure/bench.sh $(WORKLOAD) $(FLAGS)

deps: ## install missing system packages
	@.ci/deps

# Only the tests need other servers: nginx, PgBouncer, a mail relay.
testdeps:
	@.ci/deps test

build: deps ## build everything for debugging, with the tests
	@$(SWIFT) build --build-tests $(CHECKS)

optimised: deps
	@$(SWIFT) build $(RELEASE) --build-tests $(CHECKS)

release: deps ## build the executables in .build/release
	@for product in parley parley-thumbnailer parley-chat parley-bench; do \
	    $(SWIFT) build $(RELEASE) --product $$product || exit; \
	done

targets: ## print the graph of targets in layers, and check it
	@.ci/targets

lint: ## check the format, the graph of targets, and that the SDK's declarations have comments
	@$(SWIFT) format lint --strict --parallel --recursive Sources Tests Package.swift
	@.ci/targets >/dev/null
	@.ci/public

format: ## format all Swift files the way `make test` requires
	@$(SWIFT) format --in-place --parallel --recursive Sources Tests Package.swift

docs: build ## update what follows from the code: tables in docs and sources, docker/grafana-dashboard.json
	@UPDATE_DOCS=1 $(SWIFT) test --skip-build --disable-xctest --no-parallel \
	    --filter 'InvokingParley/documentation|LimitingRates/document|JudgingAnswers/documentation|SystemTests/MetricsPage|NormalForms/table'

schema: build ## regenerate sql/schema.sql from the migrations
	@UPDATE_SCHEMA=1 $(SWIFT) test --skip-build --disable-xctest --filter DatabaseSchema/dump

image: ## build the container image
	@test -n "$(ENGINE)" || { echo 'parley: install docker, podman or buildah to build the image.' >&2; exit 1; }
	@$(ENGINE) build $(if $(findstring docker,$(ENGINE)),,--format docker) -f docker/Dockerfile -t $(IMAGE) .

dist: deps ## write a release to dist/: archive, Debian package, image, symbols, SBOM, checksums; on Debian 12
	@command -v dpkg-shlibdeps objcopy >/dev/null || { echo 'parley: install dpkg-dev and binutils.' >&2; exit 1; }
	@/usr/bin/python3 docker/packaging/dist.py $(EXECUTABLES)

clean: ## remove all build results (data in .parley stays)
	@rm -rf .build
