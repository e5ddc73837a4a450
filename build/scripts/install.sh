#!/usr/bin/env bash
# Installs what a task needs and is missing: install.sh run|test|race|bench|bench-shell ...
# Does nothing, and needs no network, when everything is there.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"

usage() {
  printf 'usage: install.sh run|test|race|bench|bench-shell ...\n' >&2
  exit 2
}

# npm_tree installs the locked npm packages of a folder of build/tools/ and prints where; the
# folder's name is the content of the lock, so a changed lock gets a new folder.
npm_tree() {
  local from=$top/build/tools/$1 key dir
  key=$(sha256sum "$from/package-lock.json" | cut -c1-16)
  dir=$cache/npm-$key
  if [[ ! -e $dir/.complete ]]; then
    say "installing the npm packages of build/tools/$1 into $dir"
    rm -rf "$dir"
    mkdir -p "$dir"
    cp "$from"/package*.json "$dir/"
    # No package's install script runs: what the tests use works without.
    (cd "$dir" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error </dev/null >&2)
    # npm leaves out an optional package that did not arrive, and reports nothing: the programs of the coding agents are such.
    local program
    [[ $1 != npm ]] || for program in @anthropic-ai/claude-code @openai/codex; do
      compgen -G "$dir/node_modules/$program-linux-*" >/dev/null ||
        die "npm has not installed the program of $program" "run it again"
    done
    touch "$dir/.complete"
  fi
  printf '%s\n' "$dir/node_modules"
}

[[ $# -gt 0 ]] || usage
npm=no
for task in "$@"; do
  need git git
  case $task in
    run)
      need bwrap bubblewrap
      ;;
    test)
      need bwrap bubblewrap
      need setpriv util-linux
      need script bsdutils
      # A version manager's python3 in PATH is not the one that is seen inside.
      [[ -x /usr/bin/python3 ]] || apt_wanted+=(python3)
      need busybox busybox
      need strace strace
      # The test network: an SSH server that starts no service, and clients.
      need ip iproute2
      need ssh openssh-client
      [[ -x /usr/sbin/dropbear ]] || apt_wanted+=(dropbear-bin)
      need curl curl
      need wget wget
      need jq jq
      need gawk gawk
      need bc bc
      need dc dc
      need iconv libc-bin
      [[ -e $(echo /usr/share/python-wheels/pip-*.whl) ]] || apt_wanted+=(python3-pip-whl)
      # What our own programs are compared with.
      need bzip2 bzip2
      need xz xz-utils
      need zstd zstd
      need zip zip
      need unzip unzip
      need patch patch
      need xxd xxd
      need strings binutils
      need file file
      need time time
      need watch procps
      need cal ncal
      need hexdump bsdextrautils
      need rg ripgrep
      need fdfind fd-find
      need envsubst gettext-base
      need uuidgen uuid-runtime
      need less less
      need tree tree
      need node nodejs
      need npm npm
      npm='npm'
      ;;
    race)
      # The race detector is linked by the C toolchain.
      need gcc gcc
      [[ -e /usr/include/stdlib.h ]] || apt_wanted+=(libc6-dev)
      ;;
    bench)
      need bwrap bubblewrap
      need setpriv util-linux
      need node nodejs
      need npm npm
      need socat socat
      need rg ripgrep
      npm='npm'
      ;;
    bench-shell)
      need node nodejs
      need npm npm
      need jq jq
      need gzip gzip
      npm='npm-bench'
      ;;
    *) usage ;;
  esac
done
apt_install
[[ $npm = no ]] || npm_tree "$npm"
