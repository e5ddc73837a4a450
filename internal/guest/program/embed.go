package program

import (
	"compress/gzip"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The release build puts the compressed static guest there; a plain build embeds no guest. The
// guest itself does not use it, so the linker omits it.
//
//go:embed all:bin
var embedded embed.FS

// compressed is the suffix of the name of an embedded guest, a gzip file.
const compressed = ".gz"

// Binary returns the guest program that is embedded in this program; false if it was built
// without one. Each call decompresses it.
func Binary() ([]byte, bool) {
	program, ok := carried()
	if !ok {
		return nil, false
	}
	data, err := program.read()
	return data, err == nil
}

// program is an embedded guest, before it is decompressed.
type program struct {
	path string // in embedded
	name string // name of the extracted program
	size int64  // of the extracted program
}

// carried returns the embedded guest. The build names it by the hash of its content, because
// hashing it at every start would be slow.
func carried() (program, bool) {
	entries, err := embedded.ReadDir("bin")
	if err != nil {
		return program{}, false
	}
	for _, e := range entries {
		name, isCompressed := strings.CutSuffix(e.Name(), compressed)
		if !isCompressed || !strings.HasPrefix(name, extractedPrefix) || len(name) != len(extractedPrefix)+2*shortSum {
			continue
		}
		p := program{path: "bin/" + e.Name(), name: name}
		if p.size, err = p.decompressedSize(); err == nil {
			return p, true
		}
	}
	return program{}, false
}

// decompressedSize reads the last field of gzip's trailer alone: ISIZE, RFC 1952 section 2.3.1.
func (p program) decompressedSize() (int64, error) {
	file, err := embedded.Open(p.path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	var size [4]byte
	if _, err := file.(io.Seeker).Seek(-int64(len(size)), io.SeekEnd); err != nil { // embed.FS promises a Seeker
		return 0, err
	}
	if _, err := io.ReadFull(file, size[:]); err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint32(size[:])), nil
}

// read decompresses an embedded guest.
func (p program) read() ([]byte, error) {
	file, err := embedded.Open(p.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	data := make([]byte, p.size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	switch n, err := r.Read(make([]byte, 1)); { // gzip compares the checksum at the end
	case n > 0:
		return nil, fmt.Errorf("%s: longer than the %d bytes that it names", p.path, p.size)
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	return data, nil
}
