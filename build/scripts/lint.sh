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

# tool NAME PACKAGE: builds a tool of build/tools once per version, outside the tree, and prints its path.
tool() {
  local key path
  key=$(cat build/tools/go.mod build/tools/go.sum <(go version) | sha256sum | cut -c1-16)
  path=$cache/$1-$key
  if [[ ! -x $path ]]; then
    say "building $1 (once)"
    mkdir -p "$cache"
    (cd build/tools && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$path.new" "$2")
    mv "$path.new" "$path"
  fi
  printf '%s\n' "$path"
}

lint=$(tool golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

# changed_files are those of this module that a change is about.
changed_files() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null) || base=
  [[ -n $base && $base != "$(git rev-parse HEAD)" ]] || base=$(git rev-parse -q --verify HEAD~) || base=$(git rev-parse HEAD)
  git diff --name-only --diff-filter=d "$base"
  git ls-files --others --exclude-standard
}

packages=(./...)
if [[ ${1-} = changed ]]; then
  mapfile -t packages < <(changed_files | sed -n 's|[^/]*\.go$||p' | sort -u |
    grep -v -e /testdata/ -e '^build/tools/' -e '^test/testbed/' | sed 's|^|./|; s|/$||')
fi

# What is built with tags only is in these.
tagged=(./cmd/agent-sandbox/... ./internal/cli/...)

if [[ ${#packages[@]} -gt 0 ]]; then
  say "golangci-lint ${packages[*]}"
  "$lint" run "${packages[@]}"
  if [[ ${packages[0]} = ./... ]] || printf '%s\n' "${packages[@]}" | grep -qE '^\./(cmd/agent-sandbox|internal/cli)(/|$)'; then
    say "golangci-lint with the tags kube and agent"
    "$lint" run --build-tags kube,agent "${tagged[@]}"
  fi
fi

# No function is left that neither a program nor a test calls. The program with these tags links what all others do.
if [[ ${packages[*]-} = ./... ]]; then
  say "deadcode"
  deadcode=$(tool deadcode golang.org/x/tools/cmd/deadcode)
  # An example without output is documentation that compiles: no test runs it.
  unreachable=$("$deadcode" -test -tags kube,agent -filter "$(go list -m)" ./... | sed '/_test\.go:.* func: Example/d')
  [[ -z $unreachable ]] || {
    printf '%s\n' "$unreachable"
    die "unreachable functions" "call them or remove them"
  }
fi

# What runs in memory runs wherever Go does; its tests too.
say "go vet for darwin"
GOOS=darwin CGO_ENABLED=0 go vet ./memory/... ./internal/memory/... ./backend/virtual/...

if command -v shellcheck >/dev/null; then
  say "shellcheck"
  shellcheck -x .ci/run build/scripts/*.sh test/testbed/*.sh internal/images/*/*.sh
fi
