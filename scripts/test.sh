#!/usr/bin/env bash
# Runs the Go tests and closes with a summary: test.sh [go test flags] [packages]
set -euo pipefail
# shellcheck source=scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"

npm=$(scripts/install.sh test)
summary=$(mktemp)
trap 'rm -f "$summary"' EXIT
(cd tools && go build -buildvcs=false -o "$summary" ./testsum)

[[ $# -gt 0 ]] || set -- ./...
say "go test $*"
SANDBOX_REQUIRE=${SANDBOX_REQUIRE-bwrap,claude,network,virtual} AGENT_SANDBOX_NPM=$npm \
  go test -json -timeout 30m "$@" 2>&1 | "$summary"
