#!/usr/bin/env bash
# Compiles what the steps of .ci/run after the first need, so that they find it cached. What fails here fails there.
set -uo pipefail
# shellcheck source=scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top" || exit

main() {
  [[ $(id -u) -ne 0 ]] || testbed/up.sh build
  scripts/lint.sh build
  CGO_ENABLED=1 go build -race ./...
  GOOS=linux GOARCH=arm64 CGO_ENABLED=0 go build -buildvcs=false ./...
  GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 go build -buildvcs=false -tags kube -o /dev/null ./cmd/agent-sandbox
}

main >/dev/null 2>&1
