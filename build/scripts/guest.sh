#!/usr/bin/env bash
# Builds the guest, which the command embeds, compressed and under the hash of its content. Two runs at once in one tree,
# or a go build beside one, see either the old file or the new one, complete.
set -euo pipefail
# shellcheck source=build/scripts/project.sh
source "$(dirname "${BASH_SOURCE[0]}")/project.sh"
use_go
cd "$top"

program=internal/guest/program
new=$(mktemp -d "$program/.new-XXXXXX")
trap 'rm -rf "$new"' EXIT

# Where package confine has an entry of its own, the guest begins there.
entry=
if [[ $(go env GOOS)/$(go env GOARCH) = linux/amd64 ]]; then
  entry="-E $(go list -m)/internal/guest/confine.Entry"
fi
CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w $entry" -o "$new/sandbox-guest" ./cmd/sandbox-guest
sum=$(sha256sum <"$new/sandbox-guest" 2>/dev/null || shasum -a 256 <"$new/sandbox-guest")
name=guest-${sum:0:16}.gz
gzip -9 -n <"$new/sandbox-guest" >"$new/$name"
[[ -s $program/bin/$name ]] || mv "$new/$name" "$program/bin/$name"
for old in "$program"/bin/*guest*; do
  [[ $old = "$program/bin/$name" ]] || rm -f "$old"
done
mkdir -p bin/guest
mv "$new/sandbox-guest" bin/guest/sandbox-guest
