#!/usr/bin/env bash
# Runs the linters of .golangci.yml, and shellcheck where it is installed.
#
#   lint.sh           everything
#   lint.sh changed   the packages that differ from origin/main, or else from the commit before, and the working tree
#
# golangci-lint is built once per version, from build/tools/go.mod, outside the tree. Its govet has all that go vet has.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"
# shellcheck source=build/scripts/packages.sh
source build/scripts/packages.sh

packages=(./...)
if [[ ${1-} = changed ]]; then
  mapfile -t packages < <(changed_packages | sed "s|^$module|.|")
fi

# What is built with tags only is in these.
tagged=(./cmd/agent-sandbox/... ./internal/cli/... ./internal/agent/broker)

if [[ ${#packages[@]} -gt 0 ]]; then
  lint=$(tool golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint)
  say "golangci-lint ${packages[*]}"
  "$lint" run "${packages[@]}"
  # Of a change only files that have these tags: their packages need the clients of clusters and models compiled.
  if [[ ${packages[0]} = ./... ]] || changed_files | grep '\.go$' | xargs -r grep -lE '^//go:build .*(kube|agent|sdk)' | grep -q .; then
    say "golangci-lint with the tags kube, agent and sdk"
    "$lint" run --build-tags kube,agent,sdk "${tagged[@]}"
  fi
fi

# No function is left that neither a program nor a test calls. The program with these tags links what all others do.
if [[ ${packages[*]-} = ./... ]]; then
  say "deadcode"
  deadcode=$(tool deadcode golang.org/x/tools/cmd/deadcode)
  # An example without output is documentation that compiles: no test runs it. Entry is where the kernel starts the guest.
  unreachable=$("$deadcode" -test -tags kube,agent,sdk -filter "$(go list -m)" ./... | sed '/_test\.go:.* func: Example/d; /internal\/guest\/confine\/.* func: Entry$/d')
  [[ -z $unreachable ]] || {
    printf '%s\n' "$unreachable"
    die "unreachable functions" "call them or remove them"
  }
fi

# Loops of the programs in memory ask whether the command may continue.
if [[ ${packages[0]-} = ./... ]] || changed_files | grep -qE '^(internal/memory/coreutils|memory/shell|build/tools/memorylint)/.*\.go$'; then
  say "memorylint"
  memorylint=$(tool memorylint ./memorylint)
  "$memorylint" -loops -test=false ./memory/shell/... ./internal/memory/coreutils/...
  # And what they hold is charged.
  "$memorylint" -buffers -test=false ./memory/shell/... ./internal/memory/coreutils/... ./internal/memory/curl
fi

# What runs in memory runs wherever Go does; its tests too.
say "types for darwin"
typecheck=$(tool typecheck ./typecheck)
GOOS=darwin "$typecheck" ./memory/... ./internal/memory/... ./backend/virtual/...

if command -v shellcheck >/dev/null; then
  say "shellcheck"
  shellcheck -x .ci/run build/scripts/*.sh test/testbed/*.sh internal/images/*/*.sh
fi
