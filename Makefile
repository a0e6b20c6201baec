.PHONY: help test deps lint types screenshots diagrams docs bench load history faults soak mixed simulate

# Of make soak, and STORE of make load; the seed of a run that went wrong replays its faults.
STORE = etcd
DURATION = 30m
SEED = 1

# Of make screenshots and make docs.
OUT = screenshots

# Folders that are modules of their own; go.work joins them. See internal/rooms/doc.go.
MODULES = cmd/elasticjob console console/browsertest console/oidctest examples/observed examples/orders examples/service trace/sqltrace trace/prom trace/oteljob

# Of make load.
LOAD = -jobs 1000 -for 30s

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

# The race detector costs up to eighteen times the CPU. What runs in one goroutine comes without it:
# PLAIN are packages that start none (a test of internal/rooms sees to it), SINGLE are tests of the
# engine and of integration: the model, and histories by real ticks. With it, job runs on the simulator alone, so that all of
# job comes once more without it, on real stores, too.
# The fault suite comes by itself, and without it, too, which make faults has: sessions that
# end because a busy machine gave their processes no time would be excused, and prove nothing.
PLAIN = internal/decide internal/jobtree jobtype job/calendar job/cronexpr strategy
SINGLE = '^(TestClusterModel|TestMixedOnZooKeeper|TestHistoriesOnZooKeeper)$$'
# What goes by ticks of real time on a real ZooKeeper comes when nothing else runs.
BYTICKS = '^(TestMixedOnZooKeeper|TestHistoriesOnZooKeeper)$$'
# lint has vetted everything already, and nobody runs a debugger on what make starts: without its
# tables some eighty test programs take a fifth less to link.
FAST = -vet=off -ldflags=-w
# The browser is a process of its own, and so are the workers that it looks at: its tests come without
# the race detector, too, when nothing else runs.
# The longest first, so that the end does not wait for them.
LONGEST = ./job ./coord/etcd ./trace/sqltrace ./coord/zk
test: deps lint ## brings what the tests need, then lints and runs all tests, with -race where goroutines meet, but for the fault suite
	REQUIRE_ZOOKEEPER=1 REQUIRE_DATABASES=1 REQUIRE_PROMTOOL=1 go test $(FAST) -race -timeout 40m -parallel 8 -skip $(SINGLE) \
		$$(go list $(LONGEST) ./... $(MODULES:%=./%/...) | grep -v -e /integration$$ -e /console/browsertest $(PLAIN:%=-e /%$$))
	REQUIRE_ZOOKEEPER=1 go test $(FAST) -parallel 8 ./job ./internal/engine $(PLAIN:%=./%)
	REQUIRE_ZOOKEEPER=1 go test -short -timeout 30m ./integration
	REQUIRE_ZOOKEEPER=1 go test $(FAST) -p 1 -parallel 8 -run $(BYTICKS) ./integration/jvmmember ./integration/mixed
	REQUIRE_BROWSER=1 go test $(FAST) -timeout 20m ./console/browsertest/...

deps: ## what the tests need beside Go
	@scripts/test-deps

lint: ## gofmt, go vet, staticcheck (pinned in tools/go.mod)
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt would change: $$unformatted" >&2; exit 1; }
	@set -e; for module in . $(MODULES); do (cd $$module; echo "lint $$module"; \
		go vet ./...; \
		GOWORK=off go tool -modfile=$(CURDIR)/tools/go.mod staticcheck ./...; \
		go mod tidy -diff); done

types: ## the modules of the console's pages, by TypeScript's checker (pinned in tools/go.mod; building it takes minutes once)
	cd console/internal/page/app && GOWORK=off go tool -modfile=$(CURDIR)/tools/go.mod tsgo -p jsconfig.json

screenshots: ## pictures of the console's pages, as the demo shows them: make screenshots OUT=screenshots
	@scripts/test-deps
	go run ./console/browsertest/screenshots -out $(OUT)

diagrams: ## the sequence diagrams of docs/understand/architecture.md, from what the code does in virtual time
	go test ./integration/lives -run TestDiagrams -update

docs: OUT = site
docs: ## the documentation as a site that needs no server: make docs OUT=site
	go run ./console/docsite/generate -out $(OUT)

bench: ## the figures of the registry centre, strategies and expressions
	@scripts/test-deps
	REQUIRE_ZOOKEEPER=1 go test -run '^$$' -bench . ./...

load: ## many jobs on a server of our own: make load STORE=etcd|zookeeper LOAD='-jobs 5000 -for 30s -bare'
	@scripts/test-deps
	go run ./integration/load -store $(STORE) $(LOAD)

history: ## queries over a million executions on SQLite, MariaDB and PostgreSQL, each in less than 50 ms
	@scripts/test-deps
	cd trace/sqltrace && REQUIRE_DATABASES=1 go test -run TestHistory -v -timeout 30m . -rows 1000000

faults: ## the fault suite with -race, and with outages of 30 s
	@scripts/test-deps
	REQUIRE_ZOOKEEPER=1 go test -race -timeout 60m ./integration

soak: ## random faults on real servers: make soak STORE=etcd|zookeeper DURATION=30m SEED=1
	@scripts/test-deps
	go run ./integration/soak -store $(STORE) -duration $(DURATION) -seed $(SEED)

mixed: ## an hour of ticks of a job that JVM members and Go instances run together, with random faults, and beside it with JVM members alone; then all that was recorded of ElasticJob, on ZooKeeper
	go test ./integration/mixed -run TestSoak -v -full -seed $(SEED)
	@scripts/test-deps
	REQUIRE_ZOOKEEPER=1 go test ./integration/jvmmember -run OnZooKeeper -all

simulate: ## a virtual day of 1,000 instances and 10,000 items, with random faults
	go test ./integration/simulation -run TestDay -v -full -seed $(SEED)
