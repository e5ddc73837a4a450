#!/usr/bin/env bash
# Measures what a sandbox costs against raw bubblewrap and srt, as root and as a
# plain user, and prints Markdown: bench.sh [-rounds N]
set -euo pipefail
# shellcheck source=scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"
npm=$(scripts/install.sh bench)
if [[ $(node -p 'process.versions.node.split(".")[0]') -lt 20 ]]; then
  say "srt needs Node 20 and this is $(node --version): leaving it out"
  npm=
fi

bin=$(mktemp)
trap 'rm -f "$bin"' EXIT
CGO_ENABLED=0 go build -buildvcs=false -o "$bin" ./bench/startup

printf '%s, %s processors, Linux %s, %s, load %s before.\n\n' \
  "$(uname -m)" "$(nproc)" "$(uname -r | cut -d- -f1)" "$(bwrap --version)" "$(cut -d' ' -f1 /proc/loadavg)"
"$bin" -command bin/agent-sandbox -guest "$(echo guest/bin/guest-*)" -npm "$npm" "$@"
