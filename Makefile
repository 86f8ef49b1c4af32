# make build   bin/sortid
# make test    every test of every module, with and without the race detector
# make run     build, then make three IDs and inspect them
# make bench   this project beside its peers: prints a table, writes docs/benchmarks.md
# make help    the rest

MODULES := . service bench
SHELL   := /bin/bash -o pipefail
GO      ?= go

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.2.0
GOBIN       := $(shell bin=$$($(GO) env GOBIN 2>/dev/null); echo $${bin:-$$($(GO) env GOPATH)/bin})
FUZZTIME    ?= 1m
SOAK        ?= 1h

.PHONY: build test race purego vet lint run bench bench-cli bench-leases fuzz soak vectors clean help

build: | go
	cd service && $(GO) build -trimpath -o ../bin/sortid ./cmd/sortid

# The full tests first, then those that matter for concurrency again under the race
# detector, then the build without assembly, then 32 bits.
test: vet
	$(call each,$(GO) test ./...)
	$(MAKE) race purego
	@case $$($(GO) env GOHOSTOS GOHOSTARCH | xargs) in \
	  'linux amd64') GOARCH=386 $(GO) test -short ./scru64 ./scru128 ./scru160 ./euid ./uid60 ./internal/... ;; \
	  *) echo 'programs for 32 bits (linux/386) do not run here: passed over' ;; esac

# The race detector is the one thing here that wants a C compiler. In CI nothing is passed over.
race: | go
	@if [ -z "$$CI" ] && ! command -v $$($(GO) env CC) >/dev/null; then \
	  echo 'no C compiler here, which the race detector needs: passed over'; exit 0; fi; \
	set -e; for m in $(MODULES); do echo "$$m: go test -race -short"; (cd $$m && $(GO) test -race -short ./...); done

purego: | go
	$(GO) test -short -tags purego ./...

vet: | go
	$(call each,$(GO) vet ./...)
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "not gofmt-clean: $$unformatted"; exit 1; }
	GOARCH=arm64 $(GO) vet ./...

# The tools are fetched by the go command. One that cannot be had, or that cannot reach
# its database, is named and passed over.
lint: vet
	@$(GO) install $(STATICCHECK) 2>/dev/null || { echo 'staticcheck cannot be had here: passed over'; exit 0; }; \
	for m in $(MODULES); do echo "$$m: staticcheck"; (cd $$m && $(GOBIN)/staticcheck ./...) || exit 1; done
	@$(GO) install $(GOVULNCHECK) 2>/dev/null || { echo 'govulncheck cannot be had here: passed over'; exit 0; }; \
	for m in $(MODULES); do echo "$$m: govulncheck"; (cd $$m && $(GOBIN)/govulncheck ./...); status=$$?; \
	  [ $$status != 3 ] || exit 1; \
	  [ $$status = 0 ] || { echo 'govulncheck could not do its work here: passed over'; break; }; done

run: build
	bin/sortid new scru128 -n 3
	bin/sortid new scru128 | bin/sortid inspect -

bench: | go
	cd bench && $(GO) run ./cmd/bench

bench-cli: build
	cd bench && $(GO) run ./cmd/bench-cli

# On servers that it starts; those that are not installed are named.
bench-leases: | go
	cd bench && $(GO) run ./cmd/bench-leases

fuzz: | go
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; \
	  done; \
	done

# The simulation of leases, in new worlds for an hour, and the torture of real processes
# on real servers for ten times as long as among the tests.
soak: | go
	$(GO) test -count 1 -timeout 0 -v -run 'TestSimulation$$' ./lease -soak $(SOAK)
	cd service && $(GO) test -count 1 -timeout 0 -v ./internal/torture -duration 5m

vectors: | go
	$(GO) run ./internal/vectors

clean:
	rm -rf bin

help:
	@sed -n '/^# make/s/^# //p' Makefile
	@echo 'make race|purego|vet|lint|fuzz|soak|vectors|bench-cli|bench-leases|clean'

go:
	@command -v $(GO) >/dev/null || { echo 'sortid needs Go 1.25 or later: https://go.dev/dl/'; exit 1; }

define each
@set -e; for m in $(MODULES); do echo "$$m: $(1)"; (cd $$m && $(1)); done
endef
