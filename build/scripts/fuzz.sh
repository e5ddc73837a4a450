#!/usr/bin/env bash
# Runs every fuzz target for FUZZTIME (default 60s) each, and random programs for as long in each kind of sandbox.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"

found=0
while read -r pkg dir; do
  # Only packages with a fuzz target are built to list it.
  grep -qs '^func Fuzz' "$dir"/*_test.go || continue
  for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz'); do
    found=$((found + 1))
    say "$pkg $target for ${FUZZTIME:=60s}"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" "$pkg"
  done
done < <(go list -f '{{.ImportPath}} {{.Dir}}' ./...)
[[ $found -gt 0 ]] || die "no fuzz target was found"
say "$found fuzz targets ran clean"
say "random programs in sandboxes for $FUZZTIME"
AGENT_SANDBOX_FUZZ=$FUZZTIME go test -count=1 -timeout 0 -v -run '^Test_Random_Programs' ./test/e2e/fuzz
