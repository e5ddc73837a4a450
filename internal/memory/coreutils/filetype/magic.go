package filetype

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// binarySigns are the magic numbers of formats that need no further examination.
var binarySigns = []sign{
	{"BZh", "", "application/x-bzip2"},
	{"\x1f\x9d", "compress'd data", "application/x-compress"},
	{"\x04\x22\x4d\x18", "LZ4 compressed data (v1.4+)", "application/x-lz4"},
	{"\x28\xb5\x2f\xfd", "Zstandard compressed data (v0.8+), Dictionary ID: None", "application/zstd"},
	{"Rar!\x1a\x07\x00", "RAR archive data", "application/x-rar"},
	{"Rar!\x1a\x07\x01\x00", "RAR archive data, v5", "application/x-rar"},
	{"!<arch>\ndebian-binary   ", "Debian binary package", "application/vnd.debian.binary-package"},
	{"!<arch>\n", "current ar archive", "application/x-archive"},
	{"fLaC", "FLAC audio bitstream data", "audio/flac"},
	{"OggS", "Ogg data", mimeData},
	{"OTTO\x00", "OpenType font data", "application/vnd.ms-opentype"},
	{"wOFF", "Web Open Font Format", "font/woff"},
	{"wOF2", "Web Open Font Format (Version 2)", "font/woff2"},
	{"\x00asm\x01\x00\x00\x00", "WebAssembly (wasm) binary module version 0x1 (MVP)", "application/wasm"},
	{"Salted__", "openssl enc'd data with salted password", mimeText},
	{"{\\rtf1\\ansi", "Rich Text Format data, version 1, ANSI", "text/rtf"},
	{"{\\rtf1", "Rich Text Format data, version 1", "text/rtf"},
	{"BEGIN:VCALENDAR", "vCalendar calendar file", "text/calendar"},
	{"-----BEGIN CERTIFICATE-----", "PEM certificate", mimeText},
	{"-----BEGIN CERTIFICATE REQ", "PEM certificate request", mimeText},
	{"-----BEGIN RSA PRIVATE", "PEM RSA private key", mimeText},
	{"-----BEGIN DSA PRIVATE", "PEM DSA private key", mimeText},
	{"-----BEGIN EC PRIVATE", "PEM EC private key", mimeText},
	{"-----BEGIN OPENSSH PRIVATE KEY", "OpenSSH private key", mimeText},
	{"-----BEGIN PGP PUBLIC KEY BLOCK-", "PGP public key block", "application/pgp-keys"},
	{"-----BEGIN PGP MESSAGE-", "PGP message", "application/pgp-encrypted"},
	{"-----BEGIN PGP SIGNATURE-", "PGP signature", "application/pgp-signature"},
	{"ssh-rsa ", "OpenSSH RSA public key", mimeText},
	{"ssh-dss ", "OpenSSH DSA public key", mimeText},
	{"ssh-ed25519 ", "OpenSSH ED25519 public key", mimeText},
	{"ecdsa-sha2-nistp256 ", "OpenSSH ECDSA public key", mimeText},
	{"\xff\xfe\x00\x00", "Unicode text, UTF-32, little-endian", mimeText},
	{"\x00\x00\xfe\xff", "Unicode text, UTF-32, big-endian", mimeText},
	{"<svg", "SVG Scalable Vector Graphics image", "image/svg+xml"},
	{"ID3", "", mimeData},
	{"%!PS", "", "application/postscript"},
	{"%PDF-", "", "application/pdf"},
	{"7z\xbc\xaf\x27\x1c", "", "application/x-7z-compressed"},
	{"\xfd7zXZ\x00", "", "application/x-xz"},
	{"\x1f\x8b", "", "application/gzip"},
	{"PK\x03\x04", "", "application/zip"},
	{"PK\x05\x06", "Zip archive data (empty)", "application/zip"},
	{"\x89PNG\r\n\x1a\n", "", "image/png"},
	{"GIF8", "", "image/gif"},
	{"\xff\xd8\xff", "", "image/jpeg"},
	{"BM", "", "image/bmp"},
	{"RIFF", "", mimeData},
	{"II*\x00", "", "image/tiff"},
	{"MM\x00*", "", "image/tiff"},
	{"SQLite format 3\x00", "", "application/vnd.sqlite3"},
	{"\xca\xfe\xba\xbe", "", "application/x-java-applet"},
	{"\xcf\xfa\xed\xfe", "", "application/x-mach-binary"},
	{"MZ", "", "application/x-dosexec"},
	{"\x7fELF", "", mimeData},
}

// kindByMagic detects formats by their first bytes.
func kindByMagic(b *fileBytes) (text, mime string, ok bool) {
	head := b.head
	for i := range binarySigns {
		s := &binarySigns[i]
		if len(head) < len(s.start) || string(head[:len(s.start)]) != s.start {
			continue
		}
		text, mime = s.text, s.mime
		if text == "" {
			if text, mime = describeMagic(b, s); text == "" {
				continue
			}
		}
		if s.start == "\x1f\x9d" && len(head) > 2 {
			text += " " + strconv.Itoa(int(head[2]&0x1f)) + " bits"
		}
		return text, mime, true
	}
	if text, mime, ok := netpbmKind(string(head[:min(len(head), 64)])); ok && head[1] >= '5' {
		return text, mime, true
	}
	if len(head) > 8 && string(head[4:8]) == "ftyp" {
		text, mime = isoMedia(head)
		return text, mime, true
	}
	if _, ok := xmlVersion(string(head[:min(len(head), 32)])); ok && bytes.Contains(head[:min(len(head), 4096)], []byte("<svg")) {
		return "SVG Scalable Vector Graphics image", "image/svg+xml", true
	}
	if bytes.HasPrefix(head, []byte("#!")) && isPerl(string(head[:min(len(head), 256)])) {
		return "Perl script text executable", "text/x-perl", true
	}
	return "", "", false
}

// describeMagic takes a closer look; text is "" when it is something else after all.
func describeMagic(b *fileBytes, s *sign) (text, mime string) {
	mime = s.mime
	switch s.start {
	case "BZh":
		text = bzip2Kind(b)
	case "ID3":
		if v := b.at(3, 2); v != nil {
			text = fmt.Sprintf("Audio file with ID3 version 2.%d.%d", v[0], v[1])
		}
	case "%!PS":
		text = postscriptKind(b.head)
	case "%PDF-":
		text = pdfKind(b.head)
	case "7z\xbc\xaf\x27\x1c":
		if v := b.at(6, 2); v != nil {
			text = fmt.Sprintf("7-zip archive data, version %d.%d", v[0], v[1])
		}
	case "\xfd7zXZ\x00":
		text = xzKind(b)
	case "\x1f\x8b":
		text = gzipKind(b)
	case "PK\x03\x04":
		return zipKind(b)
	case "RIFF":
		return riffKind(b)
	case "SQLite format 3\x00":
		text = sqliteKind(b)
	case "\xca\xfe\xba\xbe":
		text = classKind(b)
	case "\xcf\xfa\xed\xfe":
		text = machKind(b)
	case "MZ":
		return dosKind(b)
	case "\x7fELF":
		return elfKind(b)
	default:
		text = imageKind(b, s.start)
	}
	return text, mime
}

func bzip2Kind(b *fileBytes) string {
	if v := b.at(3, 1); v != nil && v[0] >= '1' && v[0] <= '9' {
		return "bzip2 compressed data, block size = " + string(v) + "00k"
	}
	return ""
}

func postscriptKind(head []byte) string {
	text := "PostScript document text"
	if rest, ok := bytes.CutPrefix(head, []byte("%!PS-Adobe-")); ok {
		text += " conforming DSC level " + string(rest[:cutAt(string(rest[:min(len(rest), 8)]), '\n')])
	}
	return text
}

func pdfKind(head []byte) string {
	if len(head) < 8 {
		return ""
	}
	text := "PDF document, version " + string(head[5:8])
	_, rest, ok := bytes.Cut(head[:min(len(head), 4096)], []byte("/Count "))
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	if ok && digits > 0 {
		text += ", " + string(rest[:digits]) + " pages"
	}
	return text
}

// sqliteEncodings are the names by their number, from 1.
var sqliteEncodings = []string{"UTF-8", "UTF-16 little endian", "UTF-16 big endian"}

func sqliteKind(b *fileBytes) string {
	h := b.at(0, 100)
	if h == nil {
		return ""
	}
	n := func(at int) uint32 { return binary.BigEndian.Uint32(h[at:]) }
	var s strings.Builder
	s.WriteString("SQLite 3.x database")
	if app := n(68); app != 0 {
		fmt.Fprintf(&s, ", application id %d", app)
	}
	if user := n(60); user != 0 {
		fmt.Fprintf(&s, ", user version %d", user)
	}
	fmt.Fprintf(&s, ", last written using SQLite version %d", n(96))
	if page := binary.BigEndian.Uint16(h[16:]); page != 4096 {
		fmt.Fprintf(&s, ", page size %d", page)
	}
	if h[18] == 2 {
		fmt.Fprintf(&s, ", writer version %d", h[18])
	}
	if h[19] == 2 {
		fmt.Fprintf(&s, ", read version %d", h[19])
	}
	fmt.Fprintf(&s, ", file counter %d, database pages %d", n(24), n(28))
	if free := n(36); free != 0 {
		fmt.Fprintf(&s, ", 1st free page %d, free pages %d", n(32), free)
	}
	fmt.Fprintf(&s, ", cookie %s, schema %d, ", hexNumber(n(40)), n(44))
	if e := n(56); e >= 1 && int(e) <= len(sqliteEncodings) {
		s.WriteString(sqliteEncodings[e-1])
	} else {
		fmt.Fprintf(&s, "unknown %s encoding", hexNumber(e))
	}
	fmt.Fprintf(&s, ", version-valid-for %d", n(92))
	return s.String()
}

// hexNumber is C's %#x.
func hexNumber(n uint32) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%#x", n)
}
