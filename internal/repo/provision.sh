#!/bin/sh
# provision.sh HOST BRANCH DIR makes the worktree DIR of BRANCH in the repo-shelf of the repository that stands at HOST.
# It can be run again and again, and leaves existing files alone. Words that matter go to stdout, warnings to stderr.
set -eu
host=$1 branch=$2 dir=$3
shelf=/repo-shelf
main=$shelf/repo
export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=0

say() { printf 'provision: %s\n' "$*" >&2; }

[ -n "$(git -C "$host" rev-parse --git-dir 2>/dev/null)" ] || {
  say "$host is no git repository"
  exit 3
}

# The primary repository. One that was not finished is made anew: nothing of anybody's is in it.
if [ ! -e "$main/.git/shelf-ready" ]; then
  rm -rf "$main"
  git init -q "$main"
  git -C "$main" config gc.auto 0 # a sandbox must not prune what another one's worktree needs
  : >"$main/.git/shelf-ready"
fi
git -C "$main" remote get-url host >/dev/null 2>&1 || git -C "$main" remote add host "file://$host"
git -C "$main" remote set-url host "file://$host"

# What the host knows comes first: it needs no network and no login.
git -C "$main" fetch -q --prune host '+refs/heads/*:refs/remotes/host/*' || {
  say "cannot fetch from $host"
  exit 4
}
git -C "$main" fetch -q host '+refs/remotes/origin/*:refs/remotes/origin/*' '+refs/tags/*:refs/tags/*' 2>/dev/null ||
  git -C "$main" fetch -q host '+refs/remotes/origin/*:refs/remotes/origin/*' 2>/dev/null || true

if origin=$(git -C "$host" config --get remote.origin.url) && [ -n "$origin" ]; then
  git -C "$main" remote get-url origin >/dev/null 2>&1 || git -C "$main" remote add origin "$origin"
  git -C "$main" remote set-url origin "$origin"
  timeout 120 git -C "$main" fetch -q --prune origin 2>/dev/null ||
    say "cannot fetch from origin: what the host has of it is used"
fi

# The hooks of the host run here: those of its git directory stand in the place of this one's, and the others in its checkout.
hooks=$(git -C "$host" config --get core.hooksPath || true)
case $hooks in
"") git -C "$main" config --unset-all core.hooksPath || true ;;
/* | ..* | */..*)
  git -C "$main" config --unset-all core.hooksPath || true
  say "the hooks in $hooks do not run: core.hooksPath leads out of the repository"
  hooks=
  ;;
*) git -C "$main" config core.hooksPath "$hooks" ;;
esac
# Tools such as husky make their directory of hooks when they are installed, so it is not part of a commit.
share_hooks() {
  [ -n "$hooks" ] && [ -d "$host/$hooks" ] && [ ! -e "$tree/$hooks" ] || return 0
  mkdir -p "$(dirname "$tree/$hooks")" && cp -R "$host/$hooks" "$tree/$hooks"
}

tree=$shelf/worktrees/$dir
if [ -e "$tree/.git" ]; then
  is=$(git -C "$tree" symbolic-ref --quiet --short HEAD || git -C "$tree" rev-parse --short HEAD)
  was=$(cat "$main/.git/shelf-$dir" 2>/dev/null || printf '%s' "$branch")
  [ "$was" = "$branch" ] || {
    say "the worktree $dir is that of the branch $was"
    exit 5
  }
  [ "$is" = "$branch" ] || say "the worktree has $is checked out"
  share_hooks
  printf 'kept %s\n' "$tree"
  exit 0
fi

git -C "$main" worktree prune
mkdir -p "$shelf/worktrees"
has() { git -C "$main" rev-parse --verify --quiet "$1^{commit}" >/dev/null; }
if has "refs/heads/$branch"; then
  git -C "$main" worktree add -q "$tree" "$branch"
else
  from=
  # A new branch starts from the commit that is checked out when the host is on no branch.
  detached=
  git -C "$host" symbolic-ref --quiet HEAD >/dev/null ||
    { git -C "$main" fetch -q host +HEAD:refs/remotes/host-detached 2>/dev/null && detached=refs/remotes/host-detached; }
  for ref in "refs/remotes/origin/$branch" "refs/remotes/host/$branch" ${detached:+"$detached"} refs/remotes/origin/main refs/remotes/origin/HEAD \
    refs/remotes/origin/master "refs/remotes/host/$(git -C "$host" symbolic-ref --quiet --short HEAD || true)" \
    refs/remotes/host/main; do
    if has "$ref"; then
      from=$ref
      break
    fi
  done
  [ -n "$from" ] || {
    say "$host has no commit to start a branch from"
    exit 6
  }
  track=--no-track
  [ "$from" != "refs/remotes/origin/$branch" ] || track=--track
  git -C "$main" worktree add -q $track -b "$branch" "$tree" "$from"
fi
printf '%s' "$branch" >"$main/.git/shelf-$dir"
share_hooks
printf 'made %s\n' "$tree"
