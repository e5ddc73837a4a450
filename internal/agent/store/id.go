package store

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	maxName = 256 // bytes of a user's, an assistant's or a model's name
	maxID   = 128
)

var ids = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
})

// NewID returns an ID for a chat or a run: 26 unguessable digits and letters; later ones sort after earlier ones.
func NewID(now time.Time) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(max(0, now.UnixMilli()))<<16)
	_, _ = rand.Read(b[6:]) // documented never to fail
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// CheckID validates an external ID of a chat or a run.
func CheckID(id string) error {
	if ids().MatchString(id) {
		return nil
	}
	return sandbox.Errorf(sandbox.Invalid, "id %s: expected at most %d letters, digits, '.', '_' and '-', and a letter or digit first",
		quoteBriefly(id), maxID).WithHint("choose another id, or leave it out")
}

// checkName validates an external name.
func checkName(what, name string) error {
	if name != "" && len(name) <= maxName && utf8.ValidString(name) && !strings.ContainsRune(name, 0) {
		return nil
	}
	return sandbox.Errorf(sandbox.Invalid, "%s %s: expected UTF-8 of 1 to %d bytes", what, quoteBriefly(name), maxName)
}

func checkOwner(user, chat string) error {
	if err := checkName("user", user); err != nil {
		return err
	}
	return CheckID(chat)
}

// quoteBriefly quotes a possibly long text.
func quoteBriefly(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%q...", s[:60])
	}
	return fmt.Sprintf("%q", s)
}

// encodeComponent encodes any name as one path component. Different names give different components, even on file systems that
// ignore case or Unicode normalization. Lower-case letters, digits, '-', '_' and a '.' that is not the first stand for
// themselves, every other byte becomes '=' and two digits; a long name is cut and followed by '=.' and a hash.
func encodeComponent(name string) string {
	const most, prefix = 120, 48
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02x", c)
		}
	}
	out := b.String()
	if len(out) <= most {
		return out
	}
	sum := sha256.Sum256([]byte(name))
	return out[:prefix] + "=." + hex.EncodeToString(sum[:])
}
