// Package gitindex reads which files a git index hides: git does not compare a file whose entry is marked "assume unchanged"
// or "skip worktree" with the work tree, so that git status and git diff do not show its changes; gitformat-index(5).
package gitindex

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
)

// MaxSize is the number of bytes of the largest index that is read.
const MaxSize = 256 << 20

var errFormat = errors.New("invalid git index")

// Hidden returns the names that an index hides, in its order.
func Hidden(index []byte) ([]string, error) {
	for _, hash := range []int{20, 32} { // SHA-1 and SHA-256; the index does not say which
		if names, err := parse(index, hash); err == nil {
			return names, nil
		}
	}
	return nil, errFormat
}

// New returns the names in after that are not in before.
func New(before, after []string) []string {
	known := make(map[string]bool, len(before))
	for _, name := range before {
		known[name] = true
	}
	return slices.DeleteFunc(slices.Clone(after), func(name string) bool { return known[name] })
}

// IsIndex reports whether a path with slashes is that of an index in a git directory.
func IsIndex(path string) bool {
	return (strings.HasPrefix(path, ".git/") || strings.Contains(path, "/.git/")) && filepath.Base(path) == "index"
}

// Find returns the path of the index of the repository that contains dir; "" if there is none.
func Find(dir string) string {
	for ; ; dir = filepath.Dir(dir) {
		at := filepath.Join(dir, ".git")
		info, err := os.Lstat(at)
		switch {
		case err == nil && info.IsDir():
			return filepath.Join(at, "index")
		case err == nil && info.Mode().IsRegular():
			return ofFile(at)
		case dir == "/" || dir == ".":
			return ""
		}
	}
}

// ofFile returns the index of a linked worktree or submodule, whose .git is a file.
func ofFile(name string) string {
	const limit = 8 << 10
	f, err := hostfile.Open(name, os.O_RDONLY, 0, nil)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, _, err := hostfile.ReadAll(f, limit)
	dir, ok := strings.CutPrefix(string(text), "gitdir: ")
	if err != nil || !ok {
		return ""
	}
	if dir = strings.TrimRight(dir, "\r\n"); !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(name), dir)
	}
	return filepath.Join(dir, "index")
}

// HiddenIn is Hidden for a file; it returns nothing if that does not exist or is not an index.
func HiddenIn(file string) []string {
	if file == "" {
		return nil
	}
	f, err := hostfile.Open(file, os.O_RDONLY, 0, nil)
	if err != nil {
		return nil
	}
	defer f.Close()
	return HiddenOf(f)
}

// HiddenOf is HiddenIn for an open file.
func HiddenOf(r io.Reader) []string {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil || len(data) > MaxSize {
		return nil
	}
	names, _ := Hidden(data) // git does not read an invalid one either
	return names
}

const (
	assumeValid  = 0x8000 // in the flags
	extended     = 0x4000
	skipWorktree = 0x4000 // in the extended flags
)

// parse reads an index with object names of hash bytes.
func parse(index []byte, hash int) (names []string, err error) {
	const header, statSize = 12, 40
	if len(index) < header+hash || !bytes.HasPrefix(index, []byte("DIRC")) {
		return nil, errFormat
	}
	version, count := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("%w: version %d", errFormat, version)
	}
	rest := index[header : len(index)-hash] // the checksum ends it
	var name []byte
	for range count {
		size := statSize + hash + 2
		if len(rest) < size {
			return nil, errFormat
		}
		flags, more := binary.BigEndian.Uint16(rest[size-2:]), uint16(0)
		if flags&extended != 0 {
			if len(rest) < size+2 {
				return nil, errFormat
			}
			more = binary.BigEndian.Uint16(rest[size:])
			size += 2
		}
		if version == 4 {
			cut, n := offset(rest[size:])
			if n == 0 || cut > uint64(len(name)) {
				return nil, errFormat
			}
			size += n
			name = name[:len(name)-int(cut)]
		} else {
			name = name[:0]
		}
		end := bytes.IndexByte(rest[size:], 0)
		if end < 0 {
			return nil, errFormat
		}
		name = append(name, rest[size:size+end]...)
		if size += end + 1; version < 4 {
			size = (size + 7) &^ 7
		}
		if size > len(rest) {
			return nil, errFormat
		}
		rest = rest[size:]
		if flags&assumeValid != 0 || more&skipWorktree != 0 {
			names = append(names, string(name))
		}
	}
	for len(rest) > 0 { // valid extensions confirm that the entries were read correctly
		const head = 8
		if len(rest) < head || uint64(binary.BigEndian.Uint32(rest[4:])) > uint64(len(rest)-head) {
			return nil, errFormat
		}
		rest = rest[head+binary.BigEndian.Uint32(rest[4:]):]
	}
	return names, nil
}

// offset reads a number in the encoding of offsets in packs, and returns its length; 0: it is invalid.
func offset(data []byte) (value uint64, n int) {
	const most = 9
	for n < len(data) && n < most {
		c := data[n]
		n++
		value = value<<7 | uint64(c&0x7f)
		if c&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}
