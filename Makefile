# make demo    a fresh Debian machine: installs bubblewrap, builds, shows the main job
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
stamp   := -X main.version=$(version) -X main.commit=$(commit) -X main.date=$(date)

# The version is stamped above; the go command's own stamp fails in a checkout of another user.
go := source scripts/project.sh && use_go && CGO_ENABLED=0 go
build := build -trimpath -buildvcs=false

.PHONY: build guest demo test test-kube race lint bench fuzz install clean

build: guest
	$(go) $(build) -ldflags '-s -w $(stamp)' -o bin/agent-sandbox ./cmd/agent-sandbox
	$(go) $(build) -tags kube -ldflags '-s -w $(stamp)' -o bin/agent-sandbox-kube ./cmd/agent-sandbox
	$(go) $(build) -tags kube,agent -ldflags '-s -w $(stamp)' -o bin/agent-sandbox-agent ./cmd/agent-sandbox

# The helper that runs inside; the command embeds it.
guest:
	$(go) $(build) -ldflags '-s -w' -o guest/bin/sandbox-guest ./cmd/sandbox-guest
	rm -f guest/bin/guest-*
	ln guest/bin/sandbox-guest "guest/bin/guest-$$(sha256sum <guest/bin/sandbox-guest | cut -c1-16)"
	rm guest/bin/sandbox-guest

demo:
	scripts/install.sh run
	$(MAKE) --no-print-directory build
	scripts/demo.sh

test: build
	scripts/test.sh

# What needs a Kubernetes cluster alone, which is built and started where KUBECONFIG names none.
test-kube: build
	scripts/test.sh cluster

# The tests of e2e/ drive built programs; a race detector in the test itself sees nothing.
# A program of theirs that ends waits for a moment only, not a second, for races that are yet to be reported.
race: guest
	scripts/install.sh race
	source scripts/project.sh && use_go && CGO_ENABLED=1 GORACE=atexit_sleep_ms=50 \
		scripts/test.sh -race $$(go list ./... | grep -v /e2e/)

lint: guest
	scripts/lint.sh

bench: build
	scripts/bench.sh

fuzz: guest
	FUZZTIME=$(FUZZTIME) scripts/fuzz.sh

install: build
	install -D -m 0755 -t $(DESTDIR)$(PREFIX)/bin bin/agent-sandbox bin/agent-sandbox-kube bin/agent-sandbox-agent

clean:
	rm -rf bin dist guest/bin/sandbox-guest guest/bin/guest-*
