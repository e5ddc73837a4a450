#!/usr/bin/env bash
# What can be known without root, an engine, a cluster or a network beyond the module proxy: vet with all tags, the tests of
# the packages that need no more, from Go's cache where nothing has changed, and lint of what changed.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"
# shellcheck source=build/scripts/packages.sh
source build/scripts/packages.sh

say "go vet, with and without tags"
go vet ./...
go vet -tags kube,agent ./cmd/agent-sandbox/... ./internal/cli/...
say "tests of the packages that drive nothing"
mapfile -t packages < <(pure_packages)
go test -vet=off -timeout 10m "${packages[@]}"
go test -vet=off -short ./test/docs
build/scripts/lint.sh changed
say "the check took $SECONDS s"
