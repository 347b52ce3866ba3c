# Petrel's tasks. `make` alone lists them.

SWIFT ?= swift
# Where the compiler puts what it makes.
BUILD ?= .build
# How often `make crash` kills the server on a store in a file; on PostgreSQL, where a life takes ten times
# as long, a quarter as often.
KILLS ?= 100
# How long `make soak` goes on, and `make fuzz` attacks each target.
soak: MINUTES ?= 60
# Whether `make overload` lets an attacker at the server in place of a flood.
ATTACKER ?=
# What the store of `make soak` and `make overload` is in: sqlite or postgresql.
ENGINE ?= sqlite
fuzz: MINUTES ?= 0.25
# What `make sanitize` looks with, and at which tests.
SANITIZERS ?= address thread
TESTS ?=
# Which tests `make test` runs: all, or those whose names this regular expression finds.
ONLY ?=
# Where `make serve` keeps its data.
DATA ?= .petrel

.DEFAULT_GOAL := help
.PHONY: help server-setup setup tools build release demo serve test sanitize crash soak overload fuzz nightly graph sbom api predicates docs format bench clean

help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

# What the server alone is built and run with.
server-setup:
	@Scripts/setup.sh server

setup: ## Install what Debian 12 lacks for all tasks (apt; needs root or sudo)
	@Scripts/setup.sh

tools: ## Install that, and what tests and benchmarks use from PyPI and of Prometheus
	@BUILD=$(BUILD) Scripts/setup.sh python

build: ## Build the server and the client, optimised
	@$(SWIFT) build -c release --scratch-path $(BUILD)

release: server-setup ## Build the server with Swift's libraries in it, to run where there is no Swift
	@BUILD=$(BUILD) Scripts/release.sh

demo: server-setup ## Watch subscriptions fire: server, app and push service on this machine
	@$(SWIFT) build -c release --scratch-path $(BUILD) --product petrel
	@$(SWIFT) build -c release --scratch-path $(BUILD) --product EarthquakeAlerts
	@$(BUILD)/release/petrel demo

serve: server-setup ## Run a server that keeps its data in .petrel
	@$(SWIFT) build -c release --scratch-path $(BUILD) --product petrel
	@$(BUILD)/release/petrel serve --data $(DATA)

test: $(if $(ONLY),,setup) ## Check format, module graph and warnings, and run all tests (or ONLY=StorageTests.PageCacheTests)
	@BUILD=$(BUILD) ONLY='$(ONLY)' Scripts/test.sh

sanitize: tools ## Run all tests with memory, undefined behaviour and races watched (SANITIZERS=address TESTS=REGEX)
	@Scripts/sanitize.py --build $(BUILD) --sanitizers "$(SANITIZERS)" --tests "$(TESTS)" $(TARGETS)

crash: setup ## Kill the server again and again under load, on both stores, and check what it promises (KILLS=100)
	@BUILD=$(BUILD) Scripts/build.sh
	@$(BUILD)/debug/trials crash --lying-disk --kills 4
	@$(BUILD)/debug/trials crash --damaged-file --kills 1
	@$(BUILD)/debug/trials crash --removal-taken-back --kills 1
	@$(BUILD)/debug/trials disk
	@$(BUILD)/debug/trials crash --kills $(KILLS)
	@$(BUILD)/debug/trials crash --engine postgresql --kills $$((($(KILLS) + 3) / 4))

soak: setup ## Use a server evenly for long, and look whether what it takes stays as it was (MINUTES=60 ENGINE=sqlite)
	@$(SWIFT) build -c release --scratch-path $(BUILD) --product petrel
	@$(SWIFT) build -c release --scratch-path $(BUILD) --product trials
	@$(BUILD)/release/trials soak --minutes $(MINUTES) --engine $(ENGINE) --plot $(BUILD)/soak.svg

fuzz: setup ## Attack each reader with hostile input for a while (MINUTES=10 for longer)
	@Scripts/fuzz.py --build $(BUILD) --minutes $(MINUTES) $(TARGETS)

overload: setup ## Ask the server for twice what it can do, or let an attacker at it for an hour (ATTACKER=1 MINUTES=60 ENGINE=sqlite)
	@$(SWIFT) build -c release --scratch-path $(BUILD) --product petrel
	@$(SWIFT) build -c release --scratch-path $(BUILD) --product trials
	@$(BUILD)/release/trials overload --engine $(ENGINE) $(if $(ATTACKER),--attacker) $(if $(MINUTES),--minutes $(MINUTES))

nightly: tools ## Try for longer what `make test` tries in short: crashes, long use, overload, hostile input
	@BUILD=$(BUILD) Scripts/nightly.sh

graph: ## Draw docs/internals/graph from Package.swift
	@Scripts/graph.py

sbom: ## Write docs/internals/sbom.cdx.json from docs/internals/dependencies.md and what is installed
	@Scripts/sbom.py

api: ## Compare the client with Apple's symbols, into docs/reference/api-coverage.md
	@BUILD=$(BUILD) Scripts/build.sh
	@Scripts/api_coverage.py --build $(BUILD)

predicates: setup ## Write docs/reference/predicates.md from what a server answers to its examples
	@PETREL_WRITE_PAGES=1 BUILD=$(BUILD) ONLY=EndToEndTests.PredicatePageTests Scripts/test.sh

docs: setup ## Build the pages and the documentation of the modules as a site, into .build/site/static
	@# With the options of Scripts/build.sh, so that neither builds again what the other has built.
	@PETREL_CHECKED=1 $(SWIFT) build --scratch-path $(BUILD) -debug-info-format none -Xswiftc -warnings-as-errors --target PetrelTesting
	@Scripts/site.py --build $(BUILD)

format: ## Format all Swift files
	@$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests Examples

bench: tools ## Measure saving (beside PocketBase), notifying, pushing, feeds, sharing, syncing, queries, matching, and many servers
	@$(SWIFT) build -c release --scratch-path $(BUILD) --product petrel
	@$(SWIFT) build -c release --scratch-path $(BUILD) --product petrel-bench
	@$(BUILD)/release/petrel-bench save --beside pocketbase \
	  --pocketbase $(BUILD)/python/bin/pocketbase
	@$(BUILD)/release/petrel-bench notify
	@$(BUILD)/release/petrel-bench push --durable
	@$(BUILD)/release/petrel-bench changes
	@$(BUILD)/release/petrel-bench share
	@$(BUILD)/release/petrel-bench sync
	@$(BUILD)/release/petrel-bench query
	@$(BUILD)/release/petrel-bench cluster
	@$(BUILD)/release/petrel-bench match --python $(BUILD)/python/bin/python3

clean: ## Remove what the compiler made
	@rm -rf $(BUILD)
