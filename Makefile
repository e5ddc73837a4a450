# make demo    a fresh Debian machine: installs bubblewrap, builds, shows the main job
# make check   what needs no root, engine, cluster or network: minutes the first time, then seconds
# make test    installs what the tests need and runs them all
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

PREFIX   ?= /usr/local
DESTDIR  ?=
FUZZTIME ?= 60s

version := $(shell git describe --tags --match 'v*' --dirty 2>/dev/null || echo dev)
commit  := $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
# The commit's date, so that one commit builds one binary.
date    := $(shell git log -1 --format=%cd --date=format:%Y-%m-%d 2>/dev/null || echo unknown)
stamp   := -X github.com/seed434b0696/agent-sandbox/internal/cli/console.version=$(version) -X github.com/seed434b0696/agent-sandbox/internal/cli/console.commit=$(commit) -X github.com/seed434b0696/agent-sandbox/internal/cli/console.date=$(date)

# The version is stamped above; the go command's own stamp fails in a checkout of another user.
go := source build/scripts/project.sh && use_go && CGO_ENABLED=0 go
build := build -trimpath -buildvcs=false

.PHONY: build guest demo check test test-all test-kube soak flake lint bench fuzz install docs man clean

build: guest
	$(go) $(build) -ldflags '-s -w $(stamp)' -o bin/agent-sandbox ./cmd/agent-sandbox
	$(go) $(build) -tags memory -ldflags '-s -w $(stamp)' -o bin/agent-sandbox-memory ./cmd/agent-sandbox
	$(go) $(build) -tags kube -ldflags '-s -w $(stamp)' -o bin/agent-sandbox-kube ./cmd/agent-sandbox
	$(go) $(build) -tags kube,agent -ldflags '-s -w $(stamp)' -o bin/agent-sandbox-agent ./cmd/agent-sandbox
	$(go) $(build) -ldflags '-s -w' -o bin/agent-sandbox-hooks ./cmd/agent-sandbox-hooks

# The helper that runs inside; the command embeds it.
guest:
	build/scripts/guest.sh

# Manual pages and completion scripts, from the commands themselves.
man:
	$(go) run -trimpath -buildvcs=false ./build/man dist

demo:
	build/scripts/install.sh run
	$(MAKE) --no-print-directory build
	build/scripts/demo.sh

# Everything that holds without root, an engine or a cluster.
check: guest
	build/scripts/check.sh

# All tests, each once: those of our own packages with the race detector.
test: guest
	build/scripts/test.sh

# The same with all attempts of the escape catalogue, on all backends, as all users.
test-all: guest
	build/scripts/test.sh all

# What needs a Kubernetes cluster alone, which is built and started where KUBECONFIG names none.
test-kube: guest
	build/scripts/test.sh cluster

# Thousands of commands, hundreds of sandboxes and kills, and what they leave: an hour and more.
soak: guest
	AGENT_SANDBOX_SOAK=long AGENT_SANDBOX_KILLS=90 build/scripts/test.sh -timeout 4h ./test/e2e/persistent

# One package or test again and again under load: make flake PKG=./x [RUN=regexp] [N=10] [LOAD=8]
flake: guest
	PKG='$(PKG)' RUN='$(RUN)' N='$(N)' LOAD='$(LOAD)' build/scripts/flake.sh

lint: guest
	build/scripts/lint.sh

bench: build
	build/scripts/bench.sh

fuzz: guest
	FUZZTIME=$(FUZZTIME) build/scripts/fuzz.sh

install: build man
	install -D -m 0755 -t $(DESTDIR)$(PREFIX)/bin bin/agent-sandbox bin/agent-sandbox-memory bin/agent-sandbox-kube bin/agent-sandbox-agent bin/agent-sandbox-hooks
	install -D -m 0644 -t $(DESTDIR)$(PREFIX)/share/man/man1 dist/man/man1/*.1

# The pages as a site with search in dist/docs. `bin/docs picture -o docs/terminal.svg` draws the picture of the README.
docs:
	source build/scripts/project.sh && use_go && cd build/tools/docs && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o ../../../bin/docs .
	bin/docs site -o dist/docs

clean:
	rm -rf bin dist internal/guest/program/bin/guest-*
