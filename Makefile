.PHONY: help test lint bench

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

test: lint ## everything: brings what the tests need, then lints and runs all tests with -race
	@scripts/test-deps
	REQUIRE_ZOOKEEPER=1 go test -race -timeout 15m ./...

lint: ## gofmt, go vet, staticcheck (pinned in tools/go.mod)
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt would change: $$unformatted" >&2; exit 1; }
	go vet ./...
	go tool -modfile=tools/go.mod staticcheck ./...
	go mod tidy -diff

bench: ## the figures of the registry centre, strategies and expressions
	@scripts/test-deps
	REQUIRE_ZOOKEEPER=1 go test -run '^$$' -bench . ./...
