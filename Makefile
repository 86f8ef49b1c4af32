# make build              bin/sortid
# make run                build, then make three IDs and inspect one
# make run-serve          build, then serve IDs on 127.0.0.1:8420, with the store bin/serve.db
# make test               all tests of all modules, also with the race detector, and check-release
# make test-short         the quick tests of all modules, for use while you work on a change
# make soak               tests that run for an hour or more; SOAK=10m shortens the longest tests
# make check-release      pack the modules, then install and import them as a user does
# make dist VERSION=...   archives, packages, bills of materials and checksums in dist/
# make release VERSION=...  check all, tag the modules, push the tags; DRYRUN=1 prints the steps
# make lint               staticcheck, govulncheck, vet, and the rules for sentences
# make bench              compare this project with its peers; writes to docs/benchmarks.md
# make bench-cli          measure the command; bench-db, bench-leases and bench-serve measure the
#                         databases, the leases and the service
# make pictures           take the pictures of the page in docs, in Chromium

# The modules in go.work, except internal/workspace, which has no code.
MODULES := $(patsubst ./%,%,$(filter-out ./internal/workspace, \
	$(shell awk '$$1 ~ /^\.(\/|$$)/ { print $$1 }' go.work)))
PACKAGES := $(subst ././,./,$(patsubst %,./%/...,$(MODULES)))
SHELL   := /bin/bash -o pipefail
GO      ?= go

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.2.0
VALE        := github.com/vale-cli/vale/v3/cmd/vale@v3.22.0
GOBIN       := $(shell bin=$$($(GO) env GOBIN 2>/dev/null); echo $${bin:-$$($(GO) env GOPATH)/bin})
FUZZTIME    ?= 1m
REMOTE      ?= origin
SOAK        ?= 1h

.PHONY: build test waits computes test-short check-release setup-ci plain race portable newest \
	alone vet lint sentences run run-serve bench bench-cli bench-leases bench-db bench-serve fuzz \
	soak pictures vectors dist release bump clean help go

# In a git repository, sortid --version names the commit.
build: | go
	@git rev-parse HEAD >/dev/null 2>&1 && vcs=auto || vcs=false; \
	$(GO) build -trimpath -buildvcs=$$vcs -o bin/sortid ./cmd/sortid

# These packages start many processes with deadlines. They run last in the target "waits".
ALONE := cmd/sortid/internal/torture cmd/sortid/web/browsertest

# These packages wait for servers and processes, so the race detector hardly slows them down. Their
# tests run only with the race detector.
RACE := cmd/sortid/server store testserver

FORMATS := $(patsubst %/generator.go,%,$(shell grep -l 'gen.Core' */generator.go))

# These packages compute and have goroutines. Their quick tests also run with the race detector.
RACE_SHORT := cmd/sortid cmd/sortid/internal/... internal/clock internal/gen internal/window \
	lease/... $(FORMATS) verify verify/duplicates verify/internal/reading

# These tests search for faults in a single goroutine.
SEARCHES := Sound|Disorder|Model|ModelFinds|Simulation|SimulationFinds|Hostile
SEARCHES := $(SEARCHES)|NegativeControls|ControlsWithoutFault

# The target "race" skips these tests, because they have a single goroutine. A pattern with a slash
# also matches the parents of its tests. The go command uses the first pattern that matches, so
# patterns that begin with a slash come last.
SEQUENTIAL := Overflow|RandomWalk|Fill
SCRIPTS := bounds|convert|formats|hints|inspect|options|page|plan|sql|usage
ONE_GOROUTINE := ^Test(Quick)?Scripts$$/^($(SCRIPTS))$$|^Test($(SEARCHES)|Codec)$$
ONE_GOROUTINE := $(ONE_GOROUTINE)|/^($(SEQUENTIAL))$$|//^($(SEQUENTIAL))$$|///^($(SEQUENTIAL))$$

# The target "portable" tests the packages in PORTABLE as programs of 32 bits. It tests the packages
# in COUNTER, which read the processor's counter, without assembly.
PORTABLE := ./internal/... $(FORMATS:%=./%) ./typed
COUNTER  := ./internal/clock ./internal/gen $(FORMATS:%=./%)

under = $(patsubst %,./%/...,$(1))

# The tests use the settings of releases, so check-release need not compile the same packages again.
test: export CGO_ENABLED := 0
test: export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS 2>/dev/null) -trimpath)

# Two groups of targets run at the same time. The targets of a group run one after the other.
# "waits" waits for servers and processes most of the time. "computes" keeps the processors busy, so
# it has a lower priority. Its last target is "vet", which uses what the tests have compiled.
ifneq ($(MAKECMDGOALS),waits computes)
.NOTPARALLEL:
endif
test: $(if $(CI),setup-ci)
	@$(MAKE) --no-print-directory -j 2 waits computes
waits:
	@$(MAKE) plain race alone
computes:
	@nice $(MAKE) sentences newest portable check-release vet

# This runs all tests that are not in the targets "race" and "alone". Many packages wait for
# servers, so four run at a time. The target "vet" checks all packages, so the tests need no vet.
plain: | go
	$(GO) test -vet=off -p 4 -timeout 20m $$($(GO) list ./cmd/sortid $(PACKAGES) | grep -v \
	  $(patsubst %,-e /sortid/%$$,$(ALONE)) $(patsubst %,-e ^github.com/sortid/sortid/%,$(RACE)))

# These packages wait most of the time, so they run at the same time, and together with "computes".
alone: | go
	$(GO) test -vet=off -p 2 -parallel 4 -timeout 20m $(ALONE:%=./%)

# cmd/sortid takes longest, so it comes first. Many of its tests wait, so eight run at a time.
test-short: | go
	$(GO) test -short -p 6 -parallel 8 ./cmd/sortid/... $(PACKAGES)

# go.work does not list internal/release. The module's main.go says why.
RELEASE := GOWORK=off $(GO) -C internal/release

check-release: | go
	$(RELEASE) vet ./...
	$(RELEASE) test -vet=off -count=1 -timeout 20m ./...
	$(RELEASE) run . check

dist: | go
	$(RELEASE) run . dist "$(VERSION)" "$(CURDIR)/dist" $(TARGETS)

release: | go
	$(RELEASE) run . $(if $(DRYRUN),-n) -remote $(REMOTE) tag "$(VERSION)"

# For the next release, this sets the version at which the modules require each other.
bump: | go
	$(RELEASE) run . bump "$(VERSION)"
	@echo "Now add the heading \"## $(VERSION)\" above the new entries in CHANGELOG.md."

setup-ci:
	.ci/setup

# The race detector needs a C compiler. Without a compiler, this fails in CI. Outside CI, it then
# runs only the tests of RACE, without the race detector. Without optimization, the Redis client
# compiles faster.
race: | go
	@race=(-race -gcflags='github.com/redis/...=-N -l'); \
	if [ -z "$$CI" ] && ! command -v $$($(GO) env CC) >/dev/null; then \
	  echo 'skipped: the race detector needs a C compiler, and there is none'; race=(); fi; \
	export CGO_ENABLED=1; set -ex; \
	$(GO) test "$${race[@]}" -vet=off -p 4 -timeout 20m $(call under,$(RACE)); \
	[ -z "$$race" ] || $(GO) test "$${race[@]}" -short -vet=off -p 3 -timeout 20m \
	  -skip '$(ONE_GOROUTINE)' $$($(GO) list $(RACE_SHORT:%=./%) | grep -v -e /torture$$ -e /sqltext$$)

portable: | go
	$(GO) test -vet=off -short -tags purego $(COUNTER)
	@case $$($(GO) env GOHOSTOS GOHOSTARCH | xargs) in \
	  'linux amd64') set -x; GOARCH=386 $(GO) test -vet=off -short $(PORTABLE) ;; \
	  *) echo 'skipped: programs for 32 bits (linux/386) do not run here' ;; esac

# The newest Go has a package uuid, and scru128 has conversions to its type. The tests in SEARCHES
# do not run here, because their result does not depend on the version of Go.
newest: | go
	@version=$$($(GO) list -m -f '{{.Version}}' go@latest 2>/dev/null) && \
	  GOTOOLCHAIN=go$$version $(GO) version >/dev/null 2>&1 || \
	  { echo 'skipped: the newest Go cannot be fetched'; exit 0; }; \
	set -x; GOTOOLCHAIN=go$$version $(GO) test -vet=off -short -skip '^Test($(SEARCHES))$$' ./...

# For other systems, vet would compile all dependencies. So typecheck, which needs only their
# declarations, checks the code for other systems. The last command checks the assembly for arm64.
vet: | go
	$(GO) vet $(PACKAGES)
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || \
	  { echo "not gofmt-clean: $$unformatted"; exit 1; }
	$(GO) run ./internal/typecheck linux/arm64,darwin/arm64,windows/amd64 ./... ./cmd/sortid
	GOARCH=arm64 $(GO) vet -gcflags='all=-N -l' ./internal/clock

# The go command fetches the tools for the next two targets. A tool is skipped with a message if it
# cannot be fetched, or cannot reach its database.

# Vale checks documents, comments and help texts with the rules in .vale. Vale's build needs a C
# compiler. Without optimization, the build is faster.
sentences: | go
	@CGO_ENABLED=1 CGO_CFLAGS=-O0 $(GO) install $(VALE) 2>/dev/null || \
	  { echo 'skipped: vale cannot be fetched or built'; exit 0; }; \
	set -x; find . \( -name '*.md' -o -name '*.go' -o -path '*/help/*.txt' \) \
	  ! -name '*_test.go' ! -name CHANGELOG.md ! -path '*/testdata/*' ! -path '*/node_modules/*' \
	  -print0 | xargs -0 $(GOBIN)/vale

lint: vet sentences
	@$(GO) install $(STATICCHECK) 2>/dev/null || \
	  { echo 'skipped: staticcheck cannot be fetched'; exit 0; }; \
	for m in $(MODULES); do echo "$$m: staticcheck"; \
	  (cd $$m && $(GOBIN)/staticcheck ./...) || exit 1; done
	@$(GO) install $(GOVULNCHECK) 2>/dev/null || \
	  { echo 'skipped: govulncheck cannot be fetched'; exit 0; }; \
	for m in $(MODULES); do echo "$$m: govulncheck"; \
	  (cd $$m && $(GOBIN)/govulncheck ./...); status=$$?; \
	  [ $$status != 3 ] || exit 1; \
	  [ $$status = 0 ] || { echo 'skipped: govulncheck cannot reach its database'; break; }; done

run: build
	bin/sortid new scru128 -n 3
	bin/sortid new scru128 | bin/sortid inspect -

run-serve: build
	bin/sortid serve --store bolt:bin/serve.db

bench: | go
	cd bench && $(GO) run ./cmd/bench

bench-cli: build
	cd bench && $(GO) run ./cmd/bench cli

# This starts the servers, and names the servers that are not installed.
bench-leases: | go
	cd bench && $(GO) run ./cmd/bench leases

# This starts PostgreSQL and MariaDB. It takes about ten minutes.
bench-db: | go
	cd bench && $(GO) run ./cmd/bench db

# This starts Redis and PostgreSQL. It takes about three minutes.
bench-serve: | go
	cd bench && $(GO) run ./cmd/bench serve

fuzz: | go
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) \
	      -fuzzminimizetime 10x $$pkg || exit 1; \
	  done; \
	done

# The simulation of leases runs for an hour. For another hour, real processes lease from real
# servers, and are killed and stopped. The other tests have more cases than in "make test".
soak: | go
	$(GO) test -count 1 -timeout 0 -v -run 'TestSimulation$$' ./lease -soak $(SOAK)
	$(GO) test -count 1 -timeout 0 -v -run 'TestManyNodes$$' ./lease -nodes 100000
	$(GO) test -count 1 -timeout 0 -v -run 'Test(Generators|Sound)$$' ./verify -soak
	cd cmd/sortid && $(GO) test -count 1 -timeout 0 -v -run 'TestFalse$$' ./internal/finder -soak
	cd bench && $(GO) run ./cmd/bench soak -benchtime $(SOAK)
	cd cmd/sortid && $(GO) test -count 1 -timeout 0 -v ./internal/sqltext -many 1000000
	cd cmd/sortid && $(GO) test -run '^$$' -fuzz '^FuzzRequests$$' -fuzztime $(SOAK) \
	  -fuzzminimizetime 10x ./server

pictures: | go
	cd cmd/sortid/web/browsertest && \
	  $(GO) test -count 1 -run TestPictures . -args -pictures $(CURDIR)/docs

vectors: | go
	$(GO) test $(patsubst %/testdata/vectors.json,./%,$(wildcard */testdata/vectors.json)) -run Codec/Document -update

clean:
	rm -rf bin dist

help:
	@sed -n '/^$$/q; s/^# //p' Makefile
	@echo 'make plain|race|portable|newest|alone|vet|sentences|fuzz|vectors|bump|setup-ci|clean'

go:
	@command -v $(GO) >/dev/null || \
	  { echo 'sortid needs Go 1.25 or later: https://go.dev/dl/'; exit 1; }
