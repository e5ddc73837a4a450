package system

import (
	"crypto/md5"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func uuidgenCommand() program.Description {
	return program.Description{
		Name: "uuidgen", Usage: "[options]", Summary: "print a new UUID",
		Help: `  -r, --random          a random one; the default
  -t, --time            one of the time
  -n, --namespace NS    @dns, @url, @oid, @x500 or a UUID, for -m and -s
  -N, --name NAME       what is hashed with NS
  -m, --md5             the hash of NS and NAME by MD5
  -s, --sha1            the same by SHA-1
  -x, --hex             NAME is in hexadecimal`,
		Run: runUuidgen,
	}
}

func mcookieCommand() program.Description {
	return program.Description{
		Name: "mcookie", Usage: "[options]", Summary: "print 128 random bits in hexadecimal", Run: runMcookie,
	}
}

var uuidgenOptions = []getopt.Option{
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'm', Long: "md5"},
	{Short: 'n', Long: "namespace", Arg: getopt.Required},
	{Short: 'N', Long: "name", Arg: getopt.Required},
	{Short: 'r', Long: "random"},
	{Short: 's', Long: "sha1"},
	{Short: 't', Long: "time"},
	{Short: 'V', Long: "version", ID: getopt.Version},
	{Short: 'x', Long: "hex"},
}

// uuid is the number itself.
type uuid [16]byte

// marked sets the version, and the variant of RFC 4122.
func (u uuid) marked(version byte) uuid {
	u[6] = u[6]&0xf | version<<4
	u[8] = u[8]&0x3f | 0x80
	return u
}

func (u uuid) String() string {
	h := hex.EncodeToString(u[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func randomUUID(r *rand.Rand) uuid {
	var u uuid
	binary.BigEndian.PutUint64(u[:8], r.Uint64())
	binary.BigEndian.PutUint64(u[8:], r.Uint64())
	return u
}

func runUuidgen(p *shell.Proc) int {
	o := program.NewOptions(p, uuidgenCommand, uuidgenOptions)
	kind, space, name := 'r', "", ""
	hasSpace, hasName, isHex := false, false, false
	for o.Next() {
		switch o.ID {
		case 'n':
			space, hasSpace = o.Value, true
		case 'N':
			name, hasName = o.Value, true
		case 'x':
			isHex = true
		default:
			kind = rune(o.ID)
		}
	}
	if o.HasEnded() {
		return o.Status
	}
	hashed := kind == 'm' || kind == 's'
	switch {
	case hasSpace && !hasName:
		return program.UsageError(p, uuidgenCommand, 1, "--namespace requires --name argument")
	case hasName && !hasSpace:
		return program.UsageError(p, uuidgenCommand, 1, "--name requires --namespace argument")
	case hasSpace && !hashed:
		return program.UsageError(p, uuidgenCommand, 1, "--namespace requires --md5 or --sha1")
	case hashed && !hasSpace:
		return program.UsageError(p, uuidgenCommand, 1, "--md5 requires --namespace argument")
	}
	if !hashed {
		return program.PrintLine(p, newUUID(p, kind).String())
	}
	ns, ok := parseSpace(space)
	if !ok {
		p.Warn("unknown namespace: '%s'", space)
		return 1
	}
	data := []byte(name)
	if isHex {
		var err error
		if data, err = hex.DecodeString(name); err != nil {
			p.Warn("not a valid hex string")
			return 1
		}
	}
	data = append(ns[:], data...)
	if kind == 'm' {
		return program.PrintLine(p, uuid(md5.Sum(data)).marked(3).String())
	}
	sum := sha1.Sum(data)
	return program.PrintLine(p, uuid(sum[:16]).marked(5).String())
}

// newUUID makes a UUID from random numbers or from the time.
func newUUID(p *shell.Proc, kind rune) uuid {
	u := randomUUID(p.Rand())
	if kind != 't' {
		return u.marked(4)
	}
	const gregorian = 0x01b21dd213814000 // 100 ns from 1582-10-15 to 1970
	ticks := uint64(p.Now().UnixNano()/100) + gregorian
	binary.BigEndian.PutUint32(u[:4], uint32(ticks))
	binary.BigEndian.PutUint16(u[4:], uint16(ticks>>32))
	binary.BigEndian.PutUint16(u[6:], uint16(ticks>>48))
	u[10] |= 1 // The multicast bit marks a node that is not a network card's.
	return u.marked(1)
}

// parseSpace reads a name of RFC 4122, or a UUID.
func parseSpace(s string) (uuid, bool) {
	last := map[string]byte{"@dns": 0x10, "@url": 0x11, "@oid": 0x12, "@x500": 0x14}[s]
	if last != 0 {
		s = "6ba7b8" + hex.EncodeToString([]byte{last}) + "-9dad-11d1-80b4-00c04fd430c8"
	}
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(b) != 16 || len(s) != 36 {
		return uuid{}, false
	}
	return uuid(b), true
}

func runMcookie(p *shell.Proc) int {
	if status, done := program.NoOperands(p, mcookieCommand); done {
		return status
	}
	u := randomUUID(p.Rand())
	return program.PrintLine(p, hex.EncodeToString(u[:]))
}
