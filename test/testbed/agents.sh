#!/usr/bin/env bash
# Adds Sandboxes (kubernetes-sigs/agent-sandbox) to the testbed's cluster: its definitions and its real controller, which
# runs beside the cluster.
#
#   agents.sh         add what is not there; prints the environment to use
#   agents.sh down    take it away again, with all Sandboxes
#
# The first run builds the controller from its Go module; that is stored by its version in ~/.cache/agent-sandbox (or
# $AGENT_SANDBOX_CACHE).
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TESTBED=${TESTBED:-/var/tmp/agent-sandbox-testbed}
MODULE=sigs.k8s.io/agent-sandbox
VERSION=$(sed -n "s|^require $MODULE ||p" "$HERE/agents/go.mod")
BIN=${AGENT_SANDBOX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/agent-sandbox}/agents-$VERSION
RUN=$TESTBED/run LOG=$TESTBED/log
# shellcheck source=test/testbed/process.sh
source "$HERE/process.sh"

kc() { kubectl --kubeconfig "$TESTBED/kubeconfig" "$@"; }

build() {
  [[ ! -x $BIN/controller ]] || return 0
  local source file
  mkdir -p "$BIN/crds"
  cd "$HERE/agents"
  go mod download "$MODULE"
  source=$(go list -m -f '{{.Dir}}' "$MODULE")
  for file in "$source"/k8s/crds/*.yaml; do
    # Without a webhook there is no conversion; it is the last field.
    sed '/^  conversion:/,$d' "$file" >"$BIN/crds/${file##*/}"
  done
  CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$BIN/controller.new" "$MODULE/cmd/agent-sandbox-controller"
  mv "$BIN/controller.new" "$BIN/controller"
}

up() {
  build
  # The controller of a cluster that is gone would run on, and see nothing of this one.
  kc get -f "$BIN/crds" >/dev/null 2>&1 || stop agents
  kc apply --server-side --force-conflicts -f "$BIN/crds" >/dev/null
  kc wait --for=condition=Established --timeout=30s -f "$BIN/crds" >/dev/null
  mkdir -p "$RUN" "$LOG"
  spawn agents "$BIN/controller" --kubeconfig "$TESTBED/kubeconfig" --extensions --enable-webhook=false --leader-elect=false \
    --metrics-bind-address=0 --health-probe-bind-address=0
}

down() {
  [[ ! -d $BIN/crds ]] || kc delete --ignore-not-found --timeout=30s -f "$BIN/crds" >/dev/null
  stop agents
}

case ${1:-up} in
up) up; echo "export KUBECONFIG=$TESTBED/kubeconfig AGENTS_PID=$(cat "$RUN/agents.pid")" ;;
down) down ;;
*) echo "usage: agents.sh [up|down]" >&2; exit 2 ;;
esac
