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

# What compares programs in memory with real ones, but not under the race detector.
compared='^internal/memory/coreutils(/|$)'

# The packages that have tests, by what they need.
listed_packages() { go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | sed "/^\$/d; s|^$module/||"; }

driving_packages() { listed_packages | grep -E "$driving" | grep -vE "$undriving" | sed "s|^|$module/|"; }
engine_packages() { listed_packages | grep -E "$engine" | sed "s|^|$module/|"; }
machine_packages() { listed_packages | grep -E "$machine" | sed "s|^|$module/|"; }
pure_packages() { listed_packages | grep -vE "$machine|$engine" | awk -v d="$driving" -v u="$undriving" '$0 !~ d || $0 ~ u' | sed "s|^|$module/|"; }
compared_packages() { listed_packages | grep -E "$compared" | sed "s|^|$module/|"; }
