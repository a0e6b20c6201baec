.PHONY: help test quick race fuzz deps lint api types screenshots diagrams docs store-tests bench load flood history faults soak mixed simulate

# Of make soak, and STORE of make load and make store-tests; the seed of a run that went wrong replays its faults.
STORE = etcd
DURATION = 30m
SEED = 1

# Of make fuzz, for each target.
FUZZTIME = 2m

# Of make screenshots and make docs.
OUT = screenshots

# Folders that are modules of their own; go.work joins them. See internal/rooms/doc.go.
MODULES = cmd/elasticjob console console/browsertest console/oidctest deploy examples integration internal/embedetcd trace/oteljob trace/prom trace/sqltrace

# Of make load.
LOAD = -jobs 1000 -for 30s

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

# As scripts/test builds, so that nothing is compiled twice. "go tool" would do so: it ignores -trimpath.
lint: export CGO_ENABLED = 0
lint: export GOFLAGS := $(GOFLAGS) -trimpath
lint: export GOGC ?= 400

test: deps lint ## brings what the tests need, then lints and runs all tests
	scripts/test

quick: lint ## lints and runs the tests that need nothing but Go: no root, nothing is installed
	scripts/test quick

race: deps ## what make test runs without the race detector, with it
	scripts/test race

fuzz: ## each fuzz target, guided by coverage: make fuzz FUZZTIME=2m
	scripts/fuzz $(FUZZTIME)

deps: ## what the tests need beside Go
	@scripts/test-deps

PACKAGES = ./... $(MODULES:%=./%/...)

lint: ## gofmt, go vet, staticcheck (pinned in tools/go.mod), go mod tidy
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt would change: $$unformatted" >&2; exit 1; }
	scripts/tidy -diff
	go vet $(PACKAGES)
	GOWORK=off go run -modfile=tools/go.mod -exec 'env GOWORK=' honnef.co/go/tools/cmd/staticcheck $(PACKAGES)

api: ## the API of Go against that of the last tag, by apidiff (pinned in tools/go.mod)
	@scripts/apidiff

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

store-tests: ## the tests of an adapter, and of jobs on it: make store-tests STORE=etcd|zookeeper; ETCD and ZOOKEEPER name other versions
	$(if $(filter zookeeper,$(STORE)),REQUIRE_ZOOKEEPER=1) go test -timeout 40m ./coord/$(STORE:zookeeper=zk) ./integration/job

bench: ## the figures of the registry centre, strategies and expressions
	@scripts/test-deps
	REQUIRE_ZOOKEEPER=1 go test -run '^$$' -bench . ./... ./integration/job

load: ## many jobs on a server of our own: make load STORE=etcd|zookeeper LOAD='-jobs 5000 -for 30s -bare'
	@scripts/test-deps
	go run ./integration/load -store $(STORE) $(LOAD)

flood: ## an attack on a console, as strangers and as users with few rights, while an honest user works
	go run ./integration/flood

history: ## queries over a million executions on SQLite, MariaDB and PostgreSQL, each in less than 50 ms
	@scripts/test-deps
	cd trace/sqltrace && REQUIRE_DATABASES=1 go test -run TestHistory -v -timeout 30m . -rows 1000000

faults: ## the fault suite with -race, every scenario on both stores, and outages of 30 s
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
