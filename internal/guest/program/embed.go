package program

import (
	"embed"
	"strings"
)

// The release build puts the static guest there; a plain build embeds nothing. In
// the guest itself nothing uses it, so the linker leaves it out.
//
//go:embed all:bin
var embedded embed.FS

// Binary returns the guest program that this program carries; false when it was
// built without one. The bytes may not be changed.
func Binary() ([]byte, bool) {
	program, ok := carried()
	if !ok {
		return nil, false
	}
	data, err := embedded.ReadFile(program.path)
	return data, err == nil
}

// program is an embedded guest, before its bytes are read.
type program struct {
	path string // in embedded
	name string // it is extracted under
	size int64
}

// carried finds the embedded guest. The build names it by its hash, because
// hashing it at every start would cost more than finding it; one with a plain name
// is hashed here.
func carried() (program, bool) {
	entries, err := embedded.ReadDir("bin")
	if err != nil {
		return program{}, false
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.Size() == 0 {
			continue
		}
		p := program{path: "bin/" + e.Name(), name: e.Name(), size: info.Size()}
		switch {
		case strings.HasPrefix(e.Name(), extractedPrefix) && len(e.Name()) == len(extractedPrefix)+2*shortSum:
			return p, true
		case e.Name() == "sandbox-guest":
			data, err := embedded.ReadFile(p.path)
			p.name = nameOf(data)
			return p, err == nil
		}
	}
	return program{}, false
}
