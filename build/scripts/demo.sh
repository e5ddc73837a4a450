#!/usr/bin/env bash
# The main job on real input: clones this repository, runs its tests inside a
# sandbox, then plays a hostile command and shows what was refused. Verdicts are
# read on the host, not asked from inside. Ends with 1 if anything got through.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go

box=$top/bin/agent-sandbox
[[ -x $box ]] || die "bin/agent-sandbox is missing" "run 'make build'"

green='' red='' plain=''
if [[ -t 1 && -z ${NO_COLOR-} ]]; then
  green=$'\e[32m' red=$'\e[31m' plain=$'\e[0m'
fi

base=$(mktemp -d "${TMPDIR:-/tmp}/agent-sandbox-demo.XXXXXX")
listener=
finish() {
  [[ -z $listener ]] || kill "$listener" 2>/dev/null || true
  rm -rf "$base"
}
trap finish EXIT
trap 'exit 130' INT TERM

refused=0 open=0
# verdict TEXT COMMAND...: the command is true when the attempt was refused.
verdict() {
  local text=$1
  shift
  if "$@"; then
    refused=$((refused + 1))
    printf '  %s✓%s %s\n' "$green" "$plain" "$text"
  else
    open=$((open + 1))
    printf '  %s✗ %s: NOT refused%s\n' "$red" "$text" "$plain"
  fi
}

# Go's own caches stay where they are; all else below is made for this run.
gomodcache=$(cd "$top" && go env GOMODCACHE)
gocache=$(cd "$top" && go env GOCACHE)
mkdir -p "$gocache"

export HOME=$base/home
export DEMO_API_TOKEN=canary-token-71c2
key=canary-key-9e04
mkdir -p "$HOME/.ssh"
printf '%s\n' "$key" >"$HOME/.ssh/id_ed25519"
printf '# as it was\n' >"$HOME/.bashrc"
printf 'as it was\n' >"$base/outside.txt"

say "cloning this repository"
# The checkout may belong to another user.
GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*' \
  git clone -q --no-hardlinks "$top" "$base/repository"
cd "$base/repository"
printf '#!/bin/sh\n# as it was\n' >.git/hooks/pre-commit
chmod +x .git/hooks/pre-commit

# Tests that build sandboxes themselves, or files of other users, need what a
# sandbox forbids; these do not.
run_tests() {
  local tests='^Test_?(Decode|Defaults|Env|Explain|Limits|Load|Precedence|Preset|Schema|Repositories|Resolution|A|The)' packages=(./sandbox ./policy)
  export GOMODCACHE=$gomodcache GOCACHE=$gocache GOFLAGS='-buildvcs=false -trimpath' CGO_ENABLED=0
  # Inside there is no network: what is missing is fetched before.
  go list -deps -test "${packages[@]}" >/dev/null
  say "running its tests inside: agent-sandbox exec ... -- go test ${packages[*]}"
  GOPROXY=off GOTOOLCHAIN=local "$box" exec --ro "$gomodcache" --rw "$gocache" -- \
    go test -run "$tests" -skip '_By_Bubblewrap$' "${packages[@]}"
}

# listen starts a host service on a Unix socket and on TCP, and sets port. It notes
# each connection before it answers.
listen() {
  mkfifo "$base/ready"
  # Perl's base is part of every Debian.
  perl -MIO::Socket::UNIX -MIO::Socket::INET -MIO::Select -e '
    my ($dir) = @ARGV;
    my $u = IO::Socket::UNIX->new(Local => "$dir/host.sock", Listen => 5) or die $!;
    my $t = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 5) or die $!;
    open(my $log, ">>", "$dir/connections") or die $!; $log->autoflush(1);
    print $t->sockport, "\n"; close(STDOUT);
    my $s = IO::Select->new($u, $t);
    while (my @r = $s->can_read) {
      for (@r) { my $c = $_->accept or next; print $log ($_ == $u ? "unix\n" : "tcp\n"); print $c "seen\n" }
    }' "$base" >"$base/ready" &
  listener=$!
  read -r port <"$base/ready" || die "the demo's listener did not start"
}

# shellcheck disable=SC2016 # expanded by perl
connect='
  use IO::Socket::UNIX; use IO::Socket::INET; my ($dir, $port) = @ARGV;
  for (IO::Socket::UNIX->new(Peer => "$dir/host.sock"),
       IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port, Timeout => 2)) { <$_> if $_ }'

# hostile is what runs inside. It gets on with the next attempt whatever happens.
# shellcheck disable=SC2016 # expanded inside
hostile='
  base=$1 port=$2 connect=$3
  exec 2>/dev/null
  echo planted >>~/.bashrc
  echo planted >"$base/outside.txt"
  echo planted >.git/hooks/pre-commit
  printf "#!/bin/sh\n" >.git/hooks/post-checkout
  mkdir -p sub/.git/hooks && echo planted >sub/.git/hooks/pre-commit
  mkdir .vscode && echo {} >.vscode/settings.json
  mv .git .git-moved && mkdir -p .git/hooks && echo planted >.git/hooks/post-merge
  echo "key: $(cat ~/.ssh/id_ed25519)"
  echo "token: $DEMO_API_TOKEN"
  perl -e "$connect" "$base" "$port"
  echo work >work.txt
  echo finished'

unchanged() { [[ -f $1 && $(<"$1") == "$2" ]]; }
absent() { [[ ! -e $1 && ! -L $1 ]]; }
nowhere() { [[ -z $(find . -name "$1" -print -quit) ]]; }
unsaid() { [[ $said != *"$1"* ]]; }
unconnected() { ! grep -qx "$1" "$base/connections"; }

refusals() {
  local port said
  listen
  # The same attempt without a sandbox gets through: the isolation refuses it.
  perl -e "$connect" "$base" "$port"
  [[ $(wc -l <"$base/connections") -eq 2 ]] || die "the demo's listener cannot be reached even without a sandbox"
  : >"$base/connections"

  say "a hostile command inside: agent-sandbox exec -- bash -c ..."
  said=$("$box" exec -- bash -c "$hostile" hostile "$base" "$port" "$connect") || true
  [[ $said == *finished* && -e work.txt ]] || die "the hostile command did not run to its end: $said"

  printf '\nrefused, as seen from the host:\n'
  verdict "write outside the workspace: ~/.bashrc" unchanged "$HOME/.bashrc" '# as it was'
  verdict "write outside the workspace: a file beside it" unchanged "$base/outside.txt" 'as it was'
  verdict "change a git hook that exists" unchanged .git/hooks/pre-commit $'#!/bin/sh\n# as it was'
  verdict "plant a git hook that was missing" nowhere post-checkout
  verdict "plant one by renaming .git first" nowhere post-merge
  verdict "plant one in a new repository below" absent sub/.git/hooks/pre-commit
  verdict "plant editor settings" absent .vscode/settings.json
  verdict "read ~/.ssh/id_ed25519" unsaid "$key"
  verdict "see a token in the environment" unsaid "$DEMO_API_TOKEN"
  verdict "connect to a host Unix socket" unconnected unix
  verdict "connect to a host port" unconnected tcp
  printf '\nallowed, as it should be:\n  %s✓%s write in the workspace\n' "$green" "$plain"
}

run_tests
refusals
[[ $open -eq 0 ]] || die "$open of $((open + refused)) attempts got through"
say "all $refused attempts were refused"
