#!/usr/bin/env bash
# Runs the Go tests and closes with a summary.
#
#   test.sh                          everything, with a part of the escape catalogue that has each row on each backend
#   test.sh all                      everything, with the whole catalogue on all backends as all users, and five times the rounds
#   test.sh cluster                  what needs a Kubernetes cluster
#   test.sh [go test flags] PACKAGE  that, with a cluster where KUBECONFIG names one
#
# Only root can start the testbed's; who is not, and names no KUBECONFIG, tests without a cluster.
# AGENT_SANDBOX_SKIPS names the list of the tests that may be skipped; without it any may be.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"

npm=$(build/scripts/install.sh test race)
scratch=$(mktemp -d)
# shellcheck source=build/scripts/engine.sh
source build/scripts/engine.sh
# shellcheck source=build/scripts/cluster.sh
source build/scripts/cluster.sh
# shellcheck source=build/scripts/packages.sh
source build/scripts/packages.sh
trap 'cluster_down; engine_down; rm -rf "$scratch"; small_pages' EXIT
large_pages

# Tests that need a cluster are these packages, and these tests of the others.
cluster_packages=(./backend/kube)
cluster_tests='Test_Command/^(persistentkube|kube)$|^Test_Escape_Kube$|_In_Pods$'
cluster_tests_of=(./test/e2e/command ./test/e2e/agent ./test/e2e/escape)

# What takes minutes under the race detector, because each of its keepers is a process with it, runs without.
contract_of_keepers='^Test_A_Persistent_.*_Keeps_The_Contract$'

require=bwrap,claude,codex,network,virtual
part="escape: a part of the catalogue that has each row on each backend; make test-all makes all attempts as all users"
export AGENT_SANDBOX_NPM=$npm AGENT_SANDBOX_PROGRAMS=$scratch/programs

# go_test WORD FLAGS...: adds WORD to SANDBOX_REQUIRE, if it is not empty. That a test failed is in what it
# prints, and the summary tells. The linters have vetted, with more than go test would.
go_test() {
  local required=${SANDBOX_REQUIRE-$require${1:+,$1}}
  shift
  say "go test $*"
  # What was green on this machine once says nothing about its kernel, engine and cluster now.
  SANDBOX_REQUIRE=$required go test -json -vet=off -count=1 -timeout 40m "$@" 2>&1 || true
}

# raced runs our own packages, once, with the race detector in them. A program of theirs that ends waits for a moment only,
# not a second, for races that are yet to be reported.
raced() { raced_with "" "$@"; }
raced_with() {
  local word=$1
  shift
  CGO_ENABLED=1 GORACE=atexit_sleep_ms=50 go_test "$word" -race "$@"
}

# Under the race detector the programs in memory are not compared with the real ones, which takes a run without.
pure() {
  local packages
  after_escapes
  mapfile -t packages < <(raced_packages)
  raced "${packages[@]}"
  mapfile -t packages < <(compared_packages)
  go_test "" -parallel 4 "${packages[@]}"
  go_test "" -tags sdk -run "$sdk_tests" "${sdk_packages[@]}"
}

# What drives bubblewrap and the kernel. The tests of test/e2e drive built programs, so a race detector in them would see
# nothing.
machine() {
  local packages
  after_escapes
  mapfile -t packages < <(machine_packages | grep -vxF -f <(engine_packages; cluster_only))
  raced -p 1 "${packages[@]}"
  mapfile -t packages < <(driving_packages | grep -vxF -f <(engine_packages; go list ./test/e2e/escape))
  go_test "" -p 1 -skip "$cluster_tests" "${packages[@]}"
}

# Attempts mostly wait. They come first and alone: some race with the guard, and what they show is to depend on the guard
# and not on what else the machine does.
escapes() {
  go_test "" -parallel 8 -skip "$cluster_tests" ./test/e2e/escape
  flock -u "$attempts"
}

# after_escapes waits until the attempts are over.
after_escapes() {
  local own
  exec {own}>"$scratch/attempts"
  flock "$own"
  exec {own}>&-
}

# What drives a container engine, and then what drives a cluster, which starts meanwhile.
engine_and_cluster() {
  local packages starts=
  after_escapes
  mapfile -t packages < <(engine_packages | grep -v /test/e2e/)
  raced -p 1 -skip "$contract_of_keepers" "${packages[@]}"
  if [[ $with_cluster = yes && -z ${KUBECONFIG-} ]]; then # not before: an idle one takes a quarter of a processor
    { "$top/test/testbed/up.sh" && "$top/test/testbed/agents.sh"; } </dev/null >"$scratch/cluster.log" 2>&1 &
    starts=$!
  fi
  go_test "" -parallel 4 -run "$contract_of_keepers" ./internal/persist
  mapfile -t packages < <(engine_packages | grep /test/e2e/)
  go_test "" -p 1 "${packages[@]}"
  [[ -z $starts ]] || wait "$starts" || cat "$scratch/cluster.log" >&2
  [[ $with_cluster = no ]] || cluster
}

# mark_cluster notes that the cluster will be this script's to stop: what starts it is another process.
mark_cluster() {
  [[ -n ${KUBECONFIG-} ]] || kubectl --kubeconfig "$engine_state/kubeconfig" get --raw /readyz >/dev/null 2>&1 </dev/null ||
    cluster_started=yes
}

cluster_only() { go list "${cluster_packages[@]}"; }

# The contract counts what its own process has left, so it has one; it waits most of the time. The last ones kill the
# API server.
cluster() {
  local contract='Keeps_The_Contract$' server='^Test_An_API_Server' aside line required=kube
  cluster_up || say "what needs a cluster fails"
  if [[ ${KUBECONFIG-} = "$engine_state/kubeconfig" ]] && line=$("$top/test/testbed/agents.sh" </dev/null | tail -n 1); then
    required=kube,agents
    export AGENTS_PID=${line##*AGENTS_PID=}
  fi
  go_test "$required" -parallel 4 -run "$contract" "${cluster_packages[@]}" >"$scratch/contract" &
  aside=$!
  raced_with "$required" -parallel 4 -skip "$contract|$server" "${cluster_packages[@]}"
  go_test "$required" -p 1 -parallel 8 -run "$cluster_tests" "${cluster_tests_of[@]}"
  wait "$aside"
  cat "$scratch/contract"
  raced_with "$required" -run "$server" "${cluster_packages[@]}"
  [[ $required = kube ]] || "$top/test/testbed/agents.sh" down </dev/null >&2 || true
}

# summarise INPUT...: testsum, which ends when all of them have.
summarise() {
  local flags=()
  [[ -z ${AGENT_SANDBOX_SKIPS-} ]] || flags+=(-skips "$AGENT_SANDBOX_SKIPS")
  [[ -z ${note-} ]] || flags+=(-note "$note")
  "$scratch/testsum" "${flags[@]}" "$@" &
  summary=$!
}

# together FUNCTION...: runs each beside the others, with a pipe of its own to the summary.
together() {
  local name pids=()
  for name; do mkfifo "$scratch/$name"; done
  summarise "${@/#/$scratch/}"
  for name; do
    (trap - EXIT; "$name") >"$scratch/$name" &
    pids+=($!)
  done
  wait "${pids[@]}"
}

(cd build/tools && go build -buildvcs=false -o "$scratch/testsum" ./testsum)
say "building the programs"
go run ./test/programs/build "$AGENT_SANDBOX_PROGRAMS"
begin=$SECONDS
if engine_up; then
  require=$require,docker
fi
note='' with_cluster=no
case ${1-} in
  "" | all)
    note=$part
    files=
    [[ $(id -u) -ne 0 ]] || files=$("$top/test/testbed/up.sh" files)
    if [[ ${1-} = all ]]; then
      export AGENT_SANDBOX_ESCAPE=all AGENT_SANDBOX_ROUNDS=5
      note="escape: all attempts on all backends as all users"
    elif [[ -n $files ]]; then
      export AGENT_SANDBOX_TEST_FILES=$files # hundreds of hosts, with hundreds of files each
    fi
    if cluster_known; then
      with_cluster=yes
      mark_cluster
    fi
    # Held from here on until escapes ends.
    exec {attempts}>"$scratch/attempts"
    flock "$attempts"
    together pure machine escapes engine_and_cluster
    ;;
  cluster)
    cluster_known || exit 1
    mark_cluster
    together cluster
    ;;
  *)
    packages=("$@")
    given() { go_test "${KUBECONFIG:+kube}" "${packages[@]}"; }
    together given
    ;;
esac
failed=0
wait "$summary" || failed=1
say "the tests took $((SECONDS - begin)) s"
exit "$failed"
