package guest

import "embed"

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
