package guest

import (
	"embed"
	"io/fs"
)

// The release build puts the static guest there; a plain build embeds nothing. In
// the guest itself nothing uses it, so the linker leaves it out.
//
//go:embed all:bin
var embedded embed.FS

// Binary returns the guest program that this program carries; false when it was
// built without one. The bytes may not be changed.
func Binary() ([]byte, bool) {
	data, err := embedded.ReadFile("bin/sandbox-guest")
	return data, err == nil && len(data) > 0
}

// extractedName is the name under which the embedded program is extracted, and its
// size. The build leaves the hash beside the program, because hashing it at every
// start would cost more than finding it; without that it is computed.
func extractedName() (name string, size int64, ok bool) {
	info, err := fs.Stat(embedded, "bin/sandbox-guest")
	if err != nil || info.Size() == 0 {
		return "", 0, false
	}
	sum, err := embedded.ReadFile("bin/sum")
	if err == nil && len(sum) == 2*shortSum+1 {
		return extractedPrefix + string(sum[:2*shortSum]), info.Size(), true
	}
	data, _ := Binary()
	return nameOf(data), info.Size(), true
}
