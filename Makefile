# Everything that one does with this repository. `make run` and `make test` do all their own set-up on a Debian machine
# that has the Swift toolchain, git and make.

SHELL := bash
SWIFT ?= swift
# Flags for `make run`, e.g. make run ARGS="--http-port 9000".
ARGS ?=
# What builds the image.
ENGINE ?= $(firstword $(foreach program,docker podman buildah,$(if $(shell command -v $(program)),$(program))))
IMAGE ?= parley

# An import that Package.swift doesn't declare is an error. Warnings are, too: Package.swift says so.
CHECKS = --explicit-target-dependency-import-check error

# How many tests run at once. Without a bound they all start together, and on two cores those that measure time fail.
TEST_WIDTH ?= 2
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH = $(TEST_WIDTH)

# How long `make chaos` goes on. CHAOS_SEED=7 has it do the same again; unset, it takes one by chance and prints it.
CHAOS_MINUTES ?= 10

# What `make bench` measures, and any flags: make bench WORKLOAD=fanout FLAGS="--members 500 --json".
WORKLOAD ?= send
FLAGS ?=

.PHONY: help run test chaos bench deps testdeps build release lint format docs schema image clean
.DEFAULT_GOAL := help
# One build at a time; SwiftPM uses all cores itself.
.NOTPARALLEL:

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1	/p' $(MAKEFILE_LIST) | expand -t 18

run: deps release ## build and serve on http://127.0.0.1:8080, with a PostgreSQL of its own; Ctrl-C stops both
	@if [ "$$(id -u)" = 0 ] && [ -z "$$PARLEY_DATA_DIR" ] && \
	    ! setpriv --reuid=postgres --regid=postgres --clear-groups test -x "$(CURDIR)"; then \
	    export PARLEY_DATA_DIR=/var/lib/parley; \
	    echo "parley: PostgreSQL's user may not enter this directory, so its data goes to $$PARLEY_DATA_DIR" >&2; \
	fi; \
	exec .build/release/parley serve $(ARGS)

# The format comes first, being quick; the tests come last, so that their result does. The release build is there
# because what compiles for debugging may still break the optimiser, and because the system tests run what people run.
# One test after the other: many of them bound how long something takes. What failed is said once more at the end, where
# it is found.
test: testdeps lint build release ## check the format, build everything, run all tests
	@set -o pipefail; export PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley; \
	$(SWIFT) test --skip-build --disable-xctest --no-parallel 2>&1 | tee .build/tests.log || \
	    { echo; grep -a -A 2 '✘' .build/tests.log; exit 1; }

chaos: deps build release ## every fault at any time, and nothing lost: make chaos CHAOS_MINUTES=10 CHAOS_SEED=7
	@CHAOS_MINUTES=$(CHAOS_MINUTES) PARLEY_EXECUTABLE=$(CURDIR)/.build/release/parley \
	    $(SWIFT) test --skip-build --disable-xctest --no-parallel --filter SystemTests/Faults/chaos

bench: deps release ## measure a node on a private PostgreSQL: make bench WORKLOAD=send FLAGS="--seconds 20"
	@Tests/Measure/bench.sh $(WORKLOAD) $(FLAGS)

deps: ## install missing system packages (nothing to do, nothing done)
	@.ci/deps

# Only the tests put other servers beside the nodes.
testdeps:
	@.ci/deps test

build: deps
	@$(SWIFT) build --build-tests $(CHECKS)

release: deps
	@$(SWIFT) build -c release --product parley

lint:
	@$(SWIFT) format lint --strict --parallel --recursive Sources Tests Package.swift

format: ## bring all Swift files into the format that `make test` asks for
	@$(SWIFT) format --in-place --parallel --recursive Sources Tests Package.swift

docs: build ## update the generated tables in docs/configuration.md, docs/limits.md and docs/push.md
	@UPDATE_README=1 $(SWIFT) test --skip-build --disable-xctest --filter ServiceConfigurationTests
	@UPDATE_README=1 $(SWIFT) test --skip-build --disable-xctest --filter LimitingRates/document
	@UPDATE_PUSH=1 $(SWIFT) test --skip-build --disable-xctest --no-parallel --filter JudgingAnswers/documentation

schema: build ## write sql/schema.sql anew from the migrations
	@UPDATE_SCHEMA=1 $(SWIFT) test --skip-build --disable-xctest --filter SchemaTests/dump

image: ## build the container image
	@test -n "$(ENGINE)" || { echo 'parley: none of docker, podman and buildah is installed.' >&2; exit 1; }
	@$(ENGINE) build $(if $(findstring docker,$(ENGINE)),,--format docker) -f docker/Dockerfile -t $(IMAGE) .

clean: ## remove what was built (data in .parley stays)
	@rm -rf .build
