#!/usr/bin/env bash
# Runs the linters of .golangci.yml, and shellcheck where it is installed.
# golangci-lint is built once per version, from build/tools/go.mod, outside the tree.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"

key=$(cat build/tools/go.mod build/tools/go.sum <(go version) | sha256sum | cut -c1-16)
lint=$cache/golangci-lint-$key
if [[ ! -x $lint ]]; then
  say "building golangci-lint (once; a few minutes)"
  mkdir -p "$cache"
  (cd build/tools && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$lint.new" \
    github.com/golangci/golangci-lint/v2/cmd/golangci-lint)
  mv "$lint.new" "$lint"
fi
say "golangci-lint"
"$lint" run ./...

# What runs in memory runs wherever Go does; its tests too.
say "go vet for darwin"
GOOS=darwin CGO_ENABLED=0 go vet ./memory/... ./internal/memory/... ./backend/virtual/...

if command -v shellcheck >/dev/null; then
  say "shellcheck"
  shellcheck -x .ci/run build/scripts/*.sh test/testbed/*.sh internal/images/*/*.sh
fi
