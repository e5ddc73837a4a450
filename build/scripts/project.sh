# shellcheck shell=bash disable=SC2034
# Sourced by the other scripts: where things are, how to speak, how to install.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# Everything that is downloaded or built once lies here, outside the tree.
cache=${AGENT_SANDBOX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/agent-sandbox}

# The Go toolchain for machines whose own is missing or too old.
go_toolchain=go1.26.0

# One way to compile, for programs, tests and linters alike: what one has compiled the others have. Only the race
# detector needs C. Without DWARF a test's program links in two thirds of the time; a trace has its lines all the same.
export CGO_ENABLED=${CGO_ENABLED:-0}
for flag in -trimpath -ldflags=-w; do
  case " ${GOFLAGS-} " in
    *" $flag "*) ;;
    *) export GOFLAGS="${GOFLAGS:+$GOFLAGS }$flag" ;;
  esac
done

say() { printf '==> %s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$1" >&2
  [[ $# -lt 2 ]] || printf 'hint: %s\n' "$2" >&2
  exit 1
}

as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "root is needed to run: $*" "run it as root, or install sudo"
  fi
}

# need COMMAND PACKAGE: remembers PACKAGE for apt_install when COMMAND is missing.
apt_wanted=()
need() {
  command -v "$1" >/dev/null || apt_wanted+=("$2")
}

# apt_install installs what need collected; it touches no network when that is nothing.
apt_install() {
  [[ ${#apt_wanted[@]} -gt 0 ]] || return 0
  command -v apt-get >/dev/null ||
    die "missing: ${apt_wanted[*]}" "install them with this system's package manager"
  say "installing ${apt_wanted[*]}"
  # Lists may be missing or older than what the archive still holds.
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${apt_wanted[@]}" </dev/null >&2 || {
    as_root apt-get update -q </dev/null >&2
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${apt_wanted[@]}" </dev/null >&2
  }
  apt_wanted=()
}

# large_pages lets all programs have pages of 2 MiB until small_pages, where root runs the tests. In a virtual machine whose
# host maps each page of 4 KiB by itself, compilers and the race detector otherwise spend most of their time in page faults.
page_setting=/sys/kernel/mm/transparent_hugepage/enabled
pages_before=
large_pages() {
  [[ $(id -u) -eq 0 && -w $page_setting ]] || return 0
  pages_before=$(sed 's/.*\[\(.*\)\].*/\1/' "$page_setting")
  echo always 2>/dev/null >"$page_setting" || pages_before=
}
small_pages() { [[ -z $pages_before ]] || echo "$pages_before" >"$page_setting"; }

# go_minor prints the minor version of the go command in PATH, or 0.
go_minor() {
  local v
  v=$(cd / && GOTOOLCHAIN=local go env GOVERSION 2>/dev/null) || v=
  v=${v#go1.}
  v=${v%%[!0-9]*}
  printf '%s\n' "${v:-0}"
}

# use_go puts a Go that can build this module in PATH. Go 1.21 and later fetch the
# version that go.mod names by themselves; an older one fetches it as a module.
use_go() {
  local dir=$cache/$go_toolchain
  [[ ! -x $dir/bin/go ]] || PATH=$dir/bin:$PATH
  if [[ $(go_minor) -eq 0 ]]; then
    need go golang-go
    apt_install
  fi
  [[ $(go_minor) -lt 21 ]] || {
    [[ $(go_minor) -ge 26 ]] || export GOTOOLCHAIN=${GOTOOLCHAIN:-auto}
    return 0
  }
  say "fetching $go_toolchain (this system's Go is too old)"
  local arch from scratch
  arch=$(cd / && go env GOARCH)
  scratch=$(mktemp -d)
  from=$(cd "$scratch" && go mod init scratch 2>/dev/null &&
    go mod download -json "golang.org/toolchain@v0.0.1-$go_toolchain.linux-$arch" |
    sed -n 's/^[[:space:]]*"Dir": "\(.*\)",$/\1/p')
  rm -rf "$scratch"
  [[ -n $from ]] || die "no Go toolchain for linux/$arch" "install Go 1.26 from https://go.dev/dl"
  mkdir -p "$cache"
  rm -rf "$dir.new"
  cp -r "$from" "$dir.new"
  chmod -R u+w "$dir.new"
  # Modules carry no executable bits.
  chmod +x "$dir.new"/bin/* "$dir.new"/pkg/tool/*/*
  mv "$dir.new" "$dir"
  PATH=$dir/bin:$PATH
}

# tool NAME PACKAGE: builds a tool of build/tools once per version, outside the tree, and prints its path. Those of our own
# change with the tree.
tool() {
  local key path
  key=$(cd "$top/build/tools" && {
    cat go.mod go.sum
    [[ $2 != ./* ]] || cat "$2"/*.go
    go version
  } | sha256sum | cut -c1-16)
  path=$cache/$1-$key
  if [[ ! -x $path ]]; then
    say "building $1 (once)"
    mkdir -p "$cache"
    (cd "$top/build/tools" && CGO_ENABLED=0 go build -trimpath -buildvcs=false -o "$path.new" "$2")
    mv "$path.new" "$path"
  fi
  printf '%s\n' "$path"
}
