#!/usr/bin/env bash
# Measures what a sandbox and its network cost against raw bubblewrap and srt, as root
# and as a plain user, and scripts in memory against bash and just-bash, and prints
# Markdown: bench.sh [--docs] [-rounds N]. Where KUBECONFIG names a cluster, pods are measured, too.
# With --docs it also writes them into docs/benchmarks.md, between its two comments.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"
npm=$(build/scripts/install.sh bench)
peers=$(build/scripts/install.sh bench-shell)
if [[ $(node -p 'process.versions.node.split(".")[0]') -lt 20 ]]; then
  say "srt needs Node 20 and this is $(node --version): leaving it out"
  npm=
fi

bin=$(mktemp -d)
out=$(mktemp)
trap 'rm -rf "$bin" "$out"' EXIT
CGO_ENABLED=0 go build -buildvcs=false -o "$bin/" ./test/bench/startup ./test/bench/entries ./test/bench/proxy ./test/bench/shell ./test/bench/persistent ./test/bench/pods ./test/bench/broker ./test/bench/agents

write=no
if [[ ${1-} == --docs ]]; then
  write=yes
  shift
fi

{
  printf '%s, %s processors with a load of %s before, Linux %s, %s. The last two columns are ratios within one round.\n\n' \
    "$(uname -m)" "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)" "$(uname -r | cut -d- -f1)" "$(bwrap --version)"
  "$bin/startup" -command bin/agent-sandbox -guest bin/guest/sandbox-guest -npm "$npm" "$@"
  "$bin/entries" -command bin/agent-sandbox
  "$bin/proxy" -command bin/agent-sandbox -npm "$npm"
  "$bin/shell" -npm "$peers"
  "$bin/broker"
  "$bin/agents" -claude "$(echo "$npm"/@anthropic-ai/claude-code-linux-*/claude)"
  if docker image inspect debian:bookworm-slim >/dev/null 2>&1; then
    "$bin/persistent" -command bin/agent-sandbox
  else
    say 'no Docker engine with debian:bookworm-slim (test/testbed/up.sh docker): leaving it out'
  fi
  if [[ -n ${KUBECONFIG-} ]]; then
    "$bin/pods" -command bin/agent-sandbox
  else
    say 'KUBECONFIG names no cluster (test/testbed/up.sh): leaving pods out'
  fi
} | tee "$out"

[[ $write = no ]] || sed -i -e "/^<!-- bench: /r $out" -e '/^<!-- bench: /,/^<!-- end of bench -->/{/^<!-- /!d}' docs/benchmarks.md
