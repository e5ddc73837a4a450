package filetype

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// fileKind is the detected type of a file.
type fileKind struct {
	text    string // in words
	mime    string
	charset string // the encoding as MIME has it, or "binary"
	plain   bool   // text of which only the encoding is known
	err     error  // why nothing is known
}

const (
	mimeData   = "application/octet-stream"
	mimeText   = "text/plain"
	binaryData = "binary"
	fileHead   = 1 << 20  // how much of a file is looked at
	textHead   = 64 << 10 // and how much of it to find its encoding
	inodeMime  = "inode/"
)

// look detects the type of a file: from its inode, or from its first bytes.
func (f *fileNames) look(name string) fileKind {
	if name == "-" {
		k := f.content("-", "", 0)
		if k.mime == inodeMime+"x-empty" {
			k.mime = "application/x-empty"
		}
		return k
	}
	info, err := f.stat(name)
	if err != nil {
		return fileKind{err: err}
	}
	prefix := specialBits(info.Mode)
	special := func(text, mime string) fileKind {
		if prefix != "" {
			text = prefix[:len(prefix)-1] + ", " + text
		}
		return fileKind{text: text, mime: inodeMime + mime, charset: binaryData}
	}
	switch info.Mode.Type() {
	case fs.ModeDir:
		return special("directory", "directory")
	case fs.ModeSymlink:
		return f.link(name)
	case fs.ModeNamedPipe:
		return special("fifo (named pipe)", "fifo")
	case fs.ModeSocket:
		return special("socket", "socket")
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		if !f.devices {
			word, mime := "block", "blockdevice"
			if info.Mode&fs.ModeCharDevice != 0 {
				word, mime = "character", "chardevice"
			}
			return special(fmt.Sprintf("%s special (%d/%d)", word, info.Rdev>>8&0xfff, info.Rdev&0xff), mime)
		}
		return f.content(name, prefix, 0)
	default:
	}
	return f.content(name, prefix, info.Size)
}

// specialBits names the set-ID and sticky bits of a mode, each with a blank behind it.
func specialBits(mode fs.FileMode) string {
	var b strings.Builder
	if mode&fs.ModeSetuid != 0 {
		b.WriteString("setuid ")
	}
	if mode&fs.ModeSetgid != 0 {
		b.WriteString("setgid ")
	}
	if mode&fs.ModeSticky != 0 {
		b.WriteString("sticky ")
	}
	return b.String()
}

func (f *fileNames) stat(name string) (vfs.Info, error) {
	if f.follow {
		return f.proc.Stat(name)
	}
	return f.proc.Lstat(name)
}

// link describes a link that is not followed.
func (f *fileNames) link(name string) fileKind {
	target, err := f.proc.Readlink(name)
	if err != nil {
		return fileKind{err: err}
	}
	if _, err := f.proc.Stat(name); err != nil {
		return fileKind{text: "broken symbolic link to " + f.printable(target), mime: inodeMime + "symlink"}
	}
	return fileKind{text: "symbolic link to " + f.printable(target), mime: inodeMime + "symlink", charset: binaryData}
}

// content detects the type of a file by its content.
func (f *fileNames) content(name, prefix string, size int64) fileKind {
	open := f.proc.Open
	if name == "-" {
		open = func(string) (*vfs.File, error) { return f.proc.Stream(0) }
	}
	in, err := open(name)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return fileKind{text: prefix + "regular file, no read permission", mime: inodeMime + "x-empty", charset: binaryData}
		}
		return fileKind{err: err}
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, fileHead))
	if err != nil && len(b) == 0 {
		return fileKind{err: err}
	}
	if err := f.proc.Spend(1 + len(b)>>6); err != nil {
		return fileKind{err: err}
	}
	k := kindOf(fileBytes{head: b, size: max(size, int64(len(b))), seek: in, seekable: size > 0})
	if k.plain && prefix != "" {
		prefix += ", "
	}
	k.text = prefix + k.text
	return k
}

// fileBytes are the bytes of a file that is looked at.
type fileBytes struct {
	head     []byte
	size     int64
	seek     io.ReaderAt
	seekable bool
}

// isWhole reports whether head is the whole file.
func (b *fileBytes) isWhole() bool { return int64(len(b.head)) >= b.size }

// at returns n bytes at an offset; nil when they are not there.
func (b *fileBytes) at(off int64, n int) []byte {
	if off < 0 || n < 0 || off+int64(n) > b.size || off > b.size {
		return nil
	}
	if off+int64(n) <= int64(len(b.head)) {
		return b.head[off : off+int64(n)]
	}
	if !b.seekable || n > fileHead {
		return nil
	}
	buf := make([]byte, n) // bounded: by fileHead
	if got, _ := b.seek.ReadAt(buf, off); got < n {
		return nil
	}
	return buf
}

// kindOf detects the type of data, the most reliable signs first.
func kindOf(b fileBytes) fileKind {
	switch len(b.head) {
	case 0:
		return fileKind{text: "empty", mime: inodeMime + "x-empty", charset: binaryData}
	case 1:
		return fileKind{text: "very short file (no magic)", mime: mimeData, charset: binaryData}
	}
	t := readEncoding(b.head[:min(len(b.head), textHead)])
	k := fileKind{text: "data", mime: mimeData, charset: t.charset}
	if text, mime, ok := kindByStructure(&b, t); ok {
		k.text, k.mime = text, mime
		return k
	}
	if text, mime, ok := kindByMagic(&b); ok {
		k.text, k.mime = text, mime
		return k
	}
	if t.name == "" {
		return k
	}
	text := t.decoded(b.head)
	what, mime := kindByText(text)
	k.mime, k.plain = mime, what == ""
	k.text = t.describe(text, what, b.isWhole())
	return k
}

// kindByStructure detects formats that have a structure but no signature.
func kindByStructure(b *fileBytes, t textEncoding) (text, mime string, ok bool) {
	if text, ok := tarKind(b.head); ok {
		return text, "application/x-tar", true
	}
	if t.name == "" || t.wide {
		return "", "", false
	}
	switch jsonKind(b.head, b.isWhole()) {
	case 1:
		return "JSON text data", "application/json", true
	case 2:
		return "New Line Delimited JSON text data", "application/x-ndjson", true
	}
	if isCSV(b.head) {
		return "CSV text", "text/csv", true
	}
	return "", "", false
}
