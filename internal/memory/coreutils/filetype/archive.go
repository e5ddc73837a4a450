package filetype

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
)

// tarKind knows an archive by the sum in its first header.
func tarKind(head []byte) (string, bool) {
	if len(head) < 512 {
		return "", false
	}
	sum := int64(0)
	for i, c := range head[:512] {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int64(c)
	}
	field := strings.Trim(string(head[148:156]), " \x00")
	if want, err := strconv.ParseInt(field, 8, 32); err != nil || want != sum {
		return "", false
	}
	switch {
	case string(head[257:265]) == "ustar  \x00":
		return "POSIX tar archive (GNU)", true
	case string(head[257:262]) == "ustar":
		return "POSIX tar archive", true
	}
	return "tar archive", true
}

// gzipSystems are the names of the operating systems in gzip headers.
var gzipSystems = []string{
	"FAT filesystem (MS-DOS, OS/2, NT)", "Amiga", "VMS", "Unix", "VM/CMS", "Atari", "HPFS filesystem (OS/2, NT)", "MacOS", "Z-System",
	"CP/M", "TOPS/20", "NTFS filesystem (NT)", "QDOS", "Acorn RISCOS",
}

func gzipKind(b *fileBytes) string {
	h := b.at(0, 10)
	if h == nil {
		return ""
	}
	s := "gzip compressed data"
	if h[2] != 8 {
		s += ", reserved method"
	}
	flags := h[3]
	at := int64(10)
	if flags&1 != 0 {
		s += ", ASCII"
	}
	if flags&2 != 0 {
		s += ", has CRC"
	}
	if flags&4 != 0 {
		s += ", extra field"
		if n := b.at(10, 2); n != nil {
			at += 2 + int64(binary.LittleEndian.Uint16(n))
		}
	}
	if flags&8 != 0 && at < int64(len(b.head)) {
		if name, _, ok := bytes.Cut(b.head[at:min(int64(len(b.head)), at+256)], []byte{0}); ok {
			s += `, was "` + quoting.EscapeOctal(string(name)) + `"`
		}
	}
	if flags&16 != 0 {
		s += ", has comment"
	}
	if t := binary.LittleEndian.Uint32(h[4:]); t != 0 {
		s += ", last modified: " + time.Unix(int64(t), 0).UTC().Format("Mon Jan _2 15:04:05 2006")
	}
	switch h[8] {
	case 2:
		s += ", max compression"
	case 4:
		s += ", max speed"
	}
	if int(h[9]) < len(gzipSystems) {
		s += ", from " + gzipSystems[h[9]]
	}
	if tail := b.at(b.size-4, 4); tail != nil && b.seekable {
		s += fmt.Sprintf(", original size modulo 2^32 %d", binary.LittleEndian.Uint32(tail))
	}
	return s
}

func xzKind(b *fileBytes) string {
	v := b.at(7, 1)
	if v == nil {
		return "XZ compressed data"
	}
	switch v[0] & 0xf {
	case 0:
		return "XZ compressed data, checksum NONE"
	case 1:
		return "XZ compressed data, checksum CRC32"
	case 4:
		return "XZ compressed data, checksum CRC64"
	case 10:
		return "XZ compressed data, checksum SHA-256"
	}
	return "XZ compressed data"
}

// zipMethods are the ways to compress, by their number; "" is none.
var zipMethods = []string{
	"store", "shrinking", "reducing by factor of 1", "reducing by factor of 2", "reducing by factor of 3", "reducing by factor of 4",
	"imploding", "", "deflate", "deflate64", "", "", "bzip2", "", "lzma",
}

// zipKind distinguishes zip archives from documents that are stored as such.
func zipKind(b *fileBytes) (text, mime string) {
	h := b.at(0, 30)
	if h == nil {
		return "", ""
	}
	nameLen, extra := int(binary.LittleEndian.Uint16(h[26:])), int(binary.LittleEndian.Uint16(h[28:]))
	name := string(b.at(30, nameLen))
	switch {
	case name == "mimetype":
		size := int(binary.LittleEndian.Uint32(h[18:]))
		if text, mime, ok := documentKind(string(b.at(int64(30+nameLen+extra), min(size, 128)))); ok {
			return text, mime
		}
	case string(b.at(int64(30+nameLen), 2)) == "\xfe\xca":
		return "Java archive data (JAR)", "application/java-archive"
	case name == "[Content_Types].xml" || strings.HasPrefix(name, "_rels/.rels") || strings.HasPrefix(name, "docProps"):
		return officeKind(b)
	}
	version := binary.LittleEndian.Uint16(h[4:]) & 0xff
	text = fmt.Sprintf("Zip archive data, at least v%d.%d to extract", version/10, version%10)
	if m := int(binary.LittleEndian.Uint16(h[8:])); m < len(zipMethods) && zipMethods[m] != "" {
		text += ", compression method=" + zipMethods[m]
	}
	return text, "application/zip"
}

// documentKind knows a document by the type that it states.
func documentKind(stated string) (text, mime string, ok bool) {
	switch {
	case strings.HasPrefix(stated, "application/epub+zip"):
		return "EPUB document", "application/epub+zip", true
	case strings.HasPrefix(stated, "application/vnd.oasis.opendocument.text"):
		return "OpenDocument Text", "application/vnd.oasis.opendocument.text", true
	case strings.HasPrefix(stated, "application/vnd.oasis.opendocument.spreadsheet"):
		return "OpenDocument Spreadsheet", "application/vnd.oasis.opendocument.spreadsheet", true
	case strings.HasPrefix(stated, "application/vnd.oasis.opendocument.presentation"):
		return "OpenDocument Presentation", "application/vnd.oasis.opendocument.presentation", true
	}
	return "", "", false
}

// officeKind knows Microsoft's documents by the names in the archive.
func officeKind(b *fileBytes) (text, mime string) {
	const office = "application/vnd.openxmlformats-officedocument."
	head := b.head
	switch {
	case bytes.Contains(head, []byte("word/")):
		return "Microsoft Word 2007+", office + "wordprocessingml.document"
	case bytes.Contains(head, []byte("xl/")):
		return "Microsoft Excel 2007+", office + "spreadsheetml.sheet"
	case bytes.Contains(head, []byte("ppt/")):
		return "Microsoft PowerPoint 2007+", office + "presentationml.presentation"
	}
	return "Microsoft OOXML", mimeData
}
