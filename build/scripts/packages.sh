# shellcheck shell=bash
# Sourced by scripts that choose packages: what each needs in order to be tested. A new package is pure until it is named
# here.

module=github.com/seed434b0696/agent-sandbox

# What drives built programs on this machine, or counts memory and time, which the race detector multiplies.
driving='^test/(e2e/|docs$)'
undriving='^test/e2e/(house|model|broker)$'
# What needs a container engine for most of its tests.
engine='^(backend/docker(/|$)|internal/(engine|persist)(/|$)|test/e2e/(docker|persistent)$)'
# What asks the kernel of this machine for much: namespaces, mounts, filters, processes.
machine='^(backend/(bwrap|kube)(/|$)|internal/(guest|guard|stage|seccomp|firewall)(/|$)|internal/agent/hook(/|$)|test/programs)'

# Programs in memory, which are compared with the real ones, without the race detector. What each does alone is done in one
# goroutine, which test/e2e/house checks, so that the detector would see nothing in their tests.
compared='^internal/memory/coreutils(/|$)'
# But those that start goroutines have them, and the package that runs all of them in pipelines, many at once.
compared_and_raced='^internal/memory/coreutils(/(find|text))?$'
# What reads answers with the makers' SDKs is built with the tag sdk and runs without the detector: they take minutes to
# compile, with it even more.
sdk_packages=(./internal/agent/broker)
sdk_tests='^Test_(Answers_Of_Every_Kind_Arrive|Unreported_Usage_Is_Estimated|A_Chat_With_Results_And_Images_Is_Translated)$'

# What links SQLite, whose translation from C takes half a minute of processor time to compile.
sqlite='^(agent|internal/agent/store)$'

# The packages that have tests, by what they need.
listed_packages() { go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | sed "/^\$/d; s|^$module/||"; }

driving_packages() { listed_packages | grep -E "$driving" | grep -vE "$undriving" | sed "s|^|$module/|"; }
engine_packages() { listed_packages | grep -E "$engine" | sed "s|^|$module/|"; }
machine_packages() { listed_packages | grep -E "$machine" | sed "s|^|$module/|"; }
pure_packages() { listed_packages | grep -vE "$machine|$engine" | awk -v d="$driving" -v u="$undriving" '$0 !~ d || $0 ~ u' | sed "s|^|$module/|"; }
quick_packages() { pure_packages | sed "s|^$module/||" | grep -vE "$sqlite" | sed "s|^|$module/|"; }
compared_packages() { listed_packages | grep -E "$compared" | sed "s|^|$module/|"; }
raced_packages() { pure_packages | sed "s|^$module/||" | awk -v c="$compared" -v r="$compared_and_raced" '$0 !~ c || $0 ~ r' | sed "s|^|$module/|"; }

# changed_files are those of this module that a change is about.
changed_files() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null) || base=
  [[ -n $base && $base != "$(git rev-parse HEAD)" ]] || base=$(git rev-parse -q --verify HEAD~) || base=$(git rev-parse HEAD)
  git diff --name-only --diff-filter=d "$base"
  git ls-files --others --exclude-standard
}
changed_packages() {
  changed_files | sed -n 's|[^/]*\.go$||p' | sort -u | grep -v -e /testdata/ -e '^build/tools/' -e '^test/testbed/' |
    sed "s|^|$module/|; s|/$||"
}
