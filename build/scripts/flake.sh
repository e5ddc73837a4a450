#!/usr/bin/env bash
# Runs a package's tests again and again under load, and prints how often they fail:
#
#   PKG=./x [RUN=regexp] [N=10] [LOAD=8] flake.sh
#
# Beside them LOAD processes use all the processor time they get; GOMAXPROCS is 1 and 4 by turns. What a failing attempt has
# printed is stored in a directory whose name comes last. It exits 1 when an attempt has failed.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"
[[ -n ${PKG-} ]] || die "no package" "make flake PKG=./internal/stage"
n=${N:-10} load=${LOAD:-8} run=${RUN-}

out=$(mktemp -d "${TMPDIR:-/tmp}/agent-sandbox-flake.XXXXXX")
burners=()
finish() {
  [[ ${#burners[@]} -eq 0 ]] || kill "${burners[@]}" 2>/dev/null || true
}
trap finish EXIT
trap 'exit 130' INT TERM

export AGENT_SANDBOX_PROGRAMS=${AGENT_SANDBOX_PROGRAMS:-$out/programs}
[[ -d $AGENT_SANDBOX_PROGRAMS ]] || go run ./test/programs/build "$AGENT_SANDBOX_PROGRAMS"
AGENT_SANDBOX_NPM=${AGENT_SANDBOX_NPM-$(build/scripts/install.sh test)}
export AGENT_SANDBOX_NPM
go test -vet=off -c -o "$out/test" "$PKG"

for ((i = 0; i < load; i++)); do
  bash -c 'while :; do :; done' &
  burners+=($!)
done

failed=0
dir=$(go list -f '{{.Dir}}' "$PKG")
for ((i = 1; i <= n; i++)); do
  procs=$((i % 2 ? 1 : 4)) begin=$SECONDS verdict=ok
  (cd "$dir" && GOMAXPROCS=$procs "$out/test" -test.timeout 30m ${run:+-test.run "$run"} -test.v) >"$out/$i.log" 2>&1 </dev/null || verdict=FAIL
  printf '%4s %d of %d, GOMAXPROCS=%d, %d s\n' "$verdict" "$i" "$n" "$procs" $((SECONDS - begin))
  if [[ $verdict = ok ]]; then
    rm "$out/$i.log"
  else
    failed=$((failed + 1))
    grep -E '^ *--- FAIL|^panic' "$out/$i.log" || tail -n 20 "$out/$i.log"
  fi
done
rm -rf "$out/test" "$out/programs"
printf '%s: %d of %d failed at a load of %d\n' "$PKG${run:+ -run $run}" "$failed" "$n" "$load"
if [[ $failed -gt 0 ]]; then
  printf 'output of the failing attempts: %s\n' "$out"
  exit 1
fi
rm -rf "$out"
