#!/usr/bin/env bash
# What can be known without root, an engine, a cluster or a network beyond the module proxy: that everything compiles with
# all tags, the tests of the packages that need no more, from Go's cache where nothing has changed, and lint of what changed,
# which includes go vet. What takes long to compile or to run is left to make test, as is the comparison of programs in memory
# that did not change with the real ones.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"
# shellcheck source=build/scripts/packages.sh
source build/scripts/packages.sh

trap small_pages EXIT
large_pages

# From source: the go command would compile the clients of clusters and models, which no test here links.
say "types of all packages and their tests, with and without tags"
typecheck=$(tool typecheck ./typecheck)
"$typecheck" ./...
"$typecheck" -tags kube,agent,sdk ./cmd/agent-sandbox/... ./internal/cli/... ./internal/agent/broker
say "tests of the packages that drive nothing"
mapfile -t packages < <(quick_packages)
go test -vet=off -short -timeout 10m "${packages[@]}"
go test -vet=off -short ./test/docs ./test/e2e/escape
mapfile -t packages < <(comm -12 <(changed_packages | sort) <(compared_packages | sort))
[[ ${#packages[@]} -eq 0 ]] || {
  say "the changed programs in memory, compared with the real ones"
  go test -vet=off -timeout 10m "${packages[@]}"
}
build/scripts/lint.sh changed
say "the check took $SECONDS s"
