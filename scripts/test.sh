#!/usr/bin/env bash
# Runs the Go tests and closes with a summary: test.sh [go test flags] [packages]
set -euo pipefail
# shellcheck source=scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"

npm=$(scripts/install.sh test)
summary=$(mktemp)
# shellcheck source=scripts/engine.sh
source scripts/engine.sh
# shellcheck source=scripts/cluster.sh
source scripts/cluster.sh
trap 'rm -f "$summary"; cluster_down; engine_down' EXIT
require=bwrap,claude,network,virtual
if engine_up; then
  require=$require,docker
fi
if [[ -n ${KUBECONFIG-} || -n ${AGENT_SANDBOX_CLUSTER-} ]] && cluster_up; then
  require=$require,kube
fi
(cd tools && go build -buildvcs=false -o "$summary" ./testsum)

[[ $# -gt 0 ]] || set -- ./...
say "go test $*"
SANDBOX_REQUIRE=${SANDBOX_REQUIRE-$require} AGENT_SANDBOX_NPM=$npm \
  go test -json -timeout 30m "$@" 2>&1 | "$summary"
