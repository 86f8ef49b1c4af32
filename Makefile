# make build              bin/sortid
# make run                build, then make three IDs and inspect one
# make run-serve          build, then serve IDs on http://127.0.0.1:8420, with the store bin/serve.db
# make test               every test of every module, the race detector, a release tried out
# make test-short         the quick tests of every module, for who changes one thing
# make check-release      pack the modules, and install and import them as users do
# make dist VERSION=...   archives, packages, bills of materials and checksums in dist/
# make release VERSION=...  run all checks, tag the modules, push the tags; DRYRUN=1 prints the steps
# make lint               staticcheck, govulncheck, and the rules for sentences
# make bench              this project beside its peers; bench-cli, bench-db, bench-leases, bench-serve: likewise

# The modules of a clone, from go.work; internal/workspace has no code.
MODULES := $(patsubst ./%,%,$(filter-out ./internal/workspace,$(shell awk '$$1 ~ /^\.(\/|$$)/ { print $$1 }' go.work)))
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

.PHONY: build test test-short check-release setup-ci plain race portable newest alone vet lint sentences run run-serve bench bench-cli bench-leases bench-db bench-serve fuzz soak pictures vectors dist release bump clean help go

# The command says from which commit it is built, where git knows.
build: | go
	@git rev-parse HEAD >/dev/null 2>&1 && vcs=auto || vcs=false; \
	$(GO) build -trimpath -buildvcs=$$vcs -o bin/sortid ./cmd/sortid

# These start so many processes that others beside them would run out of time.
ALONE := cmd/sortid/internal/torture cmd/sortid/web/browsertest

# These wait for servers and processes, so the race detector hardly slows them down: it runs
# all of their tests, and nothing runs them again without it.
RACE := cmd/sortid/server store testserver

# The packages of our formats.
FORMATS := $(patsubst %/generator.go,%,$(shell grep -l 'gen.Core' */generator.go))

# It runs the quick tests of what computes and has goroutines.
RACE_SHORT := cmd/sortid cmd/sortid/internal/... internal/clock internal/gen internal/window lease/... $(FORMATS) \
	verify verify/duplicates verify/internal/reading

# Those that search in a single goroutine.
SEARCHES := Sound|Disorder|Model|ModelFinds|Simulation|SimulationFinds|Hostile|NegativeControls|ControlsWithoutFault

# Without those that search, or check a codec or a generator, in a single goroutine, and without
# the scripts of commands that do their work in one. The first of the patterns that matches a test
# or one of the tests around it decides, so the long ones come last.
SEQUENTIAL := Overflow|RandomWalk|Fill
SCRIPTS := bounds|convert|formats|hints|inspect|options|page|plan|sql|usage
ONE_GOROUTINE := ^TestScripts$$/^($(SCRIPTS))$$|^Test($(SEARCHES)|Codec)$$|/^($(SEQUENTIAL))$$|//^($(SEQUENTIAL))$$|///^($(SEQUENTIAL))$$

# What a processor computes with its own instructions, and what reads its counter.
PORTABLE := ./internal/... $(FORMATS:%=./%) ./typed
COUNTER  := ./internal/clock ./internal/gen $(FORMATS:%=./%)

under = $(patsubst %,./%/...,$(1))

# As releases are built: what is compiled for the tests need not be compiled again for
# check-release.
test: export CGO_ENABLED := 0
test: export GOFLAGS := $(strip $(shell $(GO) env GOFLAGS 2>/dev/null) -trimpath)

# One part after the other. The flag -vet=off: vet has looked at all packages before. With -p: more
# packages at a time than there are processors, for many wait for servers.
.NOTPARALLEL:
test: $(if $(CI),setup-ci) vet sentences plain race portable newest alone check-release

# All tests that the parts race and alone leave.
plain: | go
	$(GO) test -vet=off -p 4 -timeout 20m $$($(GO) list $(PACKAGES) | grep -v $(patsubst %,-e /sortid/%$$,$(ALONE)) $(patsubst %,-e ^github.com/sortid/sortid/%,$(RACE)))

alone: | go
	for package in $(ALONE); do $(GO) test -vet=off -parallel 4 -timeout 20m ./$$package || exit 1; done

# Of the tests that wait, four at a time in each package.
test-short: | go
	$(GO) test -short -p 6 -parallel 4 $(PACKAGES)

# internal/release is not in go.work: see its main.go.
RELEASE := GOWORK=off $(GO) -C internal/release

check-release: | go
	$(RELEASE) vet ./...
	$(RELEASE) test -vet=off -count=1 -timeout 20m ./...
	$(RELEASE) run . check

dist: | go
	$(RELEASE) run . dist "$(VERSION)" "$(CURDIR)/dist" $(TARGETS)

release: | go
	$(RELEASE) run . $(if $(DRYRUN),-n) -remote $(REMOTE) tag "$(VERSION)"

# The version at which the modules require each other: that of the next release.
bump: | go
	$(RELEASE) run . bump "$(VERSION)"
	@echo "Now move what is new in CHANGELOG.md below a heading \"## $(VERSION)\"."

# What the tests need from the system; it needs root only if something is missing.
setup-ci:
	.ci/setup

# The race detector needs a C compiler. In CI nothing is skipped. Without it, RACE is tested as
# the rest is. One client takes the compiler half a minute, and half of it without optimization.
race: | go
	@race=(-race -gcflags='github.com/redis/...=-N -l'); \
	if [ -z "$$CI" ] && ! command -v $$($(GO) env CC) >/dev/null; then \
	  echo 'skipped: the race detector needs a C compiler, and there is none'; race=(); fi; \
	export CGO_ENABLED=1; set -ex; \
	$(GO) test "$${race[@]}" -vet=off -p 4 -timeout 20m $(call under,$(RACE)); \
	[ -z "$$race" ] || $(GO) test "$${race[@]}" -short -vet=off -p 3 -timeout 20m -skip '$(ONE_GOROUTINE)' \
	  $$($(GO) list $(RACE_SHORT:%=./%) | grep -v -e /torture$$ -e /sqltext$$)

# Without assembly, and for 32 bits.
portable: | go
	$(GO) test -vet=off -short -tags purego $(COUNTER)
	@case $$($(GO) env GOHOSTOS GOHOSTARCH | xargs) in \
	  'linux amd64') set -x; GOARCH=386 $(GO) test -vet=off -short $(PORTABLE) ;; \
	  *) echo 'skipped: programs for 32 bits (linux/386) do not run here' ;; esac

# The newest Go has a package uuid, to which scru128 converts. What the searches find does not
# depend on Go's version.
newest: | go
	@version=$$($(GO) list -m -f '{{.Version}}' go@latest 2>/dev/null) && \
	  GOTOOLCHAIN=go$$version $(GO) version >/dev/null 2>&1 || \
	  { echo 'skipped: the newest Go cannot be fetched'; exit 0; }; \
	set -x; GOTOOLCHAIN=go$$version $(GO) test -vet=off -short -skip '^Test($(SEARCHES))$$' ./...

# For other systems, vet would compile all dependencies; types need only their declarations.
# The assembly for arm64 has a check of its own.
vet: | go
	$(GO) vet $(PACKAGES)
	@unformatted=$$(gofmt -l .); [ -z "$$unformatted" ] || { echo "not gofmt-clean: $$unformatted"; exit 1; }
	$(GO) run ./internal/typecheck linux/arm64,darwin/arm64,windows/amd64 ./... ./cmd/sortid
	GOARCH=arm64 $(GO) vet -gcflags='all=-N -l' ./internal/clock

# The go command fetches the tools. A tool that cannot be fetched, or cannot reach its
# database, is skipped with a message.
# Vale checks documents, comments and help texts by the rules in .vale. It builds with a C
# compiler.
sentences: | go
	@CGO_ENABLED=1 $(GO) install $(VALE) 2>/dev/null || { echo 'skipped: vale cannot be fetched or built'; exit 0; }; \
	set -x; find . \( -name '*.md' -o -name '*.go' -o -path '*/help/*.txt' \) \
	  ! -name '*_test.go' ! -name CHANGELOG.md ! -path '*/testdata/*' ! -path '*/node_modules/*' \
	  -print0 | xargs -0 $(GOBIN)/vale

lint: vet sentences
	@$(GO) install $(STATICCHECK) 2>/dev/null || { echo 'skipped: staticcheck cannot be fetched'; exit 0; }; \
	for m in $(MODULES); do echo "$$m: staticcheck"; (cd $$m && $(GOBIN)/staticcheck ./...) || exit 1; done
	@$(GO) install $(GOVULNCHECK) 2>/dev/null || { echo 'skipped: govulncheck cannot be fetched'; exit 0; }; \
	for m in $(MODULES); do echo "$$m: govulncheck"; (cd $$m && $(GOBIN)/govulncheck ./...); status=$$?; \
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

# It starts the servers, and says which are not installed.
bench-leases: | go
	cd bench && $(GO) run ./cmd/bench leases

# It starts PostgreSQL and MariaDB, for some ten minutes.
bench-db: | go
	cd bench && $(GO) run ./cmd/bench db

# It starts Redis and PostgreSQL, for some three minutes.
bench-serve: | go
	cd bench && $(GO) run ./cmd/bench serve

fuzz: | go
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "$$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; \
	  done; \
	done

# The simulation of leases and the torture of real processes on real servers, an hour each, and
# other searches with more cases than in the tests.
soak: | go
	$(GO) test -count 1 -timeout 0 -v -run 'TestSimulation$$' ./lease -soak $(SOAK)
	$(GO) test -count 1 -timeout 0 -v -run 'TestManyNodes$$' ./lease -nodes 100000
	$(GO) test -count 1 -timeout 0 -v -run 'Test(Generators|Sound)$$' ./verify -soak
	cd cmd/sortid && $(GO) test -count 1 -timeout 0 -v -run 'TestFalse$$' ./internal/finder -soak
	cd bench && $(GO) run ./cmd/bench soak -benchtime $(SOAK)
	cd cmd/sortid && $(GO) test -count 1 -timeout 0 -v ./internal/sqltext -many 1000000
	cd cmd/sortid && $(GO) test -run '^$$' -fuzz '^FuzzRequests$$' -fuzztime $(SOAK) -fuzzminimizetime 10x ./server

# Of the page, in Chromium.
pictures: | go
	cd cmd/sortid/web/browsertest && $(GO) test -count 1 -run TestPictures . -args -pictures $(CURDIR)/docs

vectors: | go
	$(GO) run ./internal/vectors

clean:
	rm -rf bin dist

help:
	@sed -n '/^# make/s/^# //p' Makefile
	@echo 'make plain|race|portable|newest|alone|vet|fuzz|soak|pictures|vectors|bench-cli|bench-leases|bench-db|bench-serve|bump|setup-ci|clean'

go:
	@command -v $(GO) >/dev/null || { echo 'sortid needs Go 1.25 or later: https://go.dev/dl/'; exit 1; }
