#!/usr/bin/env bash
# Runs the Go tests and closes with a summary.
#
#   test.sh                          everything: first what needs no Kubernetes cluster, then what does
#   test.sh cluster                  what needs a cluster
#   test.sh [go test flags] PACKAGE  that, with a cluster where KUBECONFIG names one
#
# Only root can start the testbed's; who is not, and names no KUBECONFIG, tests without a cluster.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"

npm=$(build/scripts/install.sh test)
scratch=$(mktemp -d)
# shellcheck source=build/scripts/engine.sh
source build/scripts/engine.sh
# shellcheck source=build/scripts/cluster.sh
source build/scripts/cluster.sh
trap 'cluster_down; engine_down; rm -rf "$scratch"' EXIT

# Tests that need a cluster are these packages, and these tests of the others.
cluster_packages=(./backend/kube)
cluster_tests='Test_Command/^(keptkube|kube)$|^Test_Escape_Kube$|_In_Pods$'
cluster_tests_of=(./test/e2e/command ./test/e2e/agent ./test/e2e/escape)

require=bwrap,claude,codex,network,virtual
if engine_up; then
  require=$require,docker
fi
(cd build/tools && go build -buildvcs=false -o "$scratch/testsum" ./testsum)

# go_test WORD FLAGS...: requires WORD besides what is there, if it is not empty. That a test failed is in what it
# prints, and the summary tells.
go_test() {
  local required=${SANDBOX_REQUIRE-$require${1:+,$1}}
  shift
  say "go test $*"
  # What was green on this machine once says nothing about its kernel, engine and cluster now.
  SANDBOX_REQUIRE=$required AGENT_SANDBOX_NPM=$npm go test -json -count=1 -timeout 40m "$@" 2>&1 || true
}

without_cluster() {
  local packages
  mapfile -t packages < <(go list ./... | grep -vxF -f <(go list "${cluster_packages[@]}"))
  [[ ${#packages[@]} -gt 0 ]] || die "go list names no packages"
  go_test "" -skip "$cluster_tests" "${packages[@]}"
}

# The contract counts what its own process has left, so it has one; it waits most of the time. The last ones kill the
# API server.
with_cluster() {
  local contract='Keeps_The_Contract$' server='^Test_An_API_Server' aside
  go_test kube -run "$contract" "${cluster_packages[@]}" >"$scratch/contract" &
  aside=$!
  go_test kube -parallel 4 -skip "$contract|$server" "${cluster_packages[@]}"
  go_test kube -run "$cluster_tests" "${cluster_tests_of[@]}"
  wait "$aside"
  cat "$scratch/contract"
  go_test kube -run "$server" "${cluster_packages[@]}"
}

main() {
  local word=
  case ${1-} in
    "" | cluster)
      cluster_known || {
        [[ $# -eq 0 ]] || return 1
        go_test "" ./...
        return 0
      }
      [[ $# -gt 0 ]] || without_cluster
      cluster_up || say "what needs a cluster fails"
      with_cluster
      ;;
    *)
      [[ -z ${KUBECONFIG-} ]] || word=kube
      go_test "$word" "$@"
      ;;
  esac
}

# Not a process substitution: its descriptor would be inherited by whatever is started, such as the cluster, and the
# summary comes at the end of the last one's.
mkfifo "$scratch/events"
"$scratch/testsum" <"$scratch/events" &
summary=$!
main "$@" >"$scratch/events"
wait "$summary"
