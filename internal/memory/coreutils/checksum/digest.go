// Package checksum holds the programs that compute and check digests: cksum, sum, crc32 and those of the
// families md5sum, sha1sum and b2sum.
package checksum

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// digestKind is an algorithm whose result is written in hexadecimal.
type digestKind struct {
	tag  string // as in "MD5 (file) = ..."
	bits int
	make func(bits int) hash.Hash
}

var digestKinds = map[string]*digestKind{
	"md5":     {"MD5", 128, func(int) hash.Hash { return md5.New() }},
	"sha1":    {"SHA1", 160, func(int) hash.Hash { return sha1.New() }},
	"sha224":  {"SHA224", 224, func(int) hash.Hash { return sha256.New224() }},
	"sha256":  {"SHA256", 256, func(int) hash.Hash { return sha256.New() }},
	"sha384":  {"SHA384", 384, func(int) hash.Hash { return sha512.New384() }},
	"sha512":  {"SHA512", 512, func(int) hash.Hash { return sha512.New() }},
	"blake2b": {"BLAKE2b", 512, func(bits int) hash.Hash { return newBlake2b(bits / 8) }},
	"sm3":     {"SM3", 256, func(int) hash.Hash { return newSM3() }},
}

func digestCommand(name, kind string) program.Description {
	k := digestKinds[kind]
	length := ""
	if kind == "blake2b" {
		length = "\n  -l, --length=BITS     length of the result in bits, a multiple of 8; 512"
	}
	describe := func() program.Description { return digestCommand(name, kind) }
	return program.Description{
		Name: name, Usage: "[OPTION]... [FILE]...",
		Summary: fmt.Sprintf("write or check %s (%d-bit) checksums", k.tag, k.bits),
		Help: `With no FILE, or when FILE is -, read standard input.

  -b, --binary          mark files as read in binary mode
  -c, --check           read checksums from the FILEs and check them` + length + `
      --tag             write BSD's form
  -t, --text            mark files as read in text mode; this is so by default
  -z, --zero            end lines with NUL, and do not escape names

With --check:
      --ignore-missing  say nothing of files that are missing
      --quiet           do not say OK of each file
      --status          write nothing; the exit status tells
      --strict          fail for lines that are not as they should be
  -w, --warn            say which lines are not as they should be

      --help            show this help and exit
      --version         show the version and exit`,
		Run: func(p *shell.Proc) int { return runDigest(p, describe, kind) },
	}
}

func md5sumCommand() program.Description { return digestCommand("md5sum", "md5") }

func sha1sumCommand() program.Description { return digestCommand("sha1sum", "sha1") }

func sha224sumCommand() program.Description { return digestCommand("sha224sum", "sha224") }

func sha256sumCommand() program.Description { return digestCommand("sha256sum", "sha256") }

func sha384sumCommand() program.Description { return digestCommand("sha384sum", "sha384") }

func sha512sumCommand() program.Description { return digestCommand("sha512sum", "sha512") }

func b2sumCommand() program.Description { return digestCommand("b2sum", "blake2b") }

const (
	digestTag = getopt.First + iota
	digestIgnoreMissing
	digestQuiet
	digestStatus
	digestStrict
	digestUntagged
	digestDebug
)

var digestOptions = []getopt.Option{
	{Short: 'b', Long: "binary"},
	{Short: 'c', Long: "check"},
	{Short: 't', Long: "text"},
	{Short: 'w', Long: "warn"},
	{Short: 'z', Long: "zero"},
	{Long: "tag", ID: digestTag},
	{Long: "ignore-missing", ID: digestIgnoreMissing},
	{Long: "quiet", ID: digestQuiet},
	{Long: "status", ID: digestStatus},
	{Long: "strict", ID: digestStrict},
}

var b2sumOptions = append([]getopt.Option{{Short: 'l', Long: "length", Arg: getopt.Required}}, digestOptions...)

// digestJob holds the parsed command line of a digest command.
type digestJob struct {
	p    *shell.Proc
	out  *program.Output
	kind *digestKind
	bits int

	check, tag, untagged    bool
	binary, text, zero      bool
	ignoreMissing, quiet    bool
	silent, strict, warn    bool
	auto                    bool // cksum -c: the kind is what a line's tag says
	length, algorithm       string
	lengthGiven, isCksum    bool
	debug, algorithmGiven   bool
	describe                func() program.Description
	buf                     []byte
	ended                   error
	matched, failed         int
	malformed, unread, seen int
}

func runDigest(p *shell.Proc, describe func() program.Description, kind string) int {
	d := &digestJob{p: p, kind: digestKinds[kind], describe: describe}
	table := digestOptions
	if kind == "blake2b" {
		table = b2sumOptions
	}
	o := program.NewOptions(p, describe, table)
	for o.Next() {
		d.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	if status := d.setLength(); status != 0 {
		return status
	}
	if status := d.conflicts(); status != 0 {
		return status
	}
	return d.files(o.Args())
}

func (d *digestJob) option(o *program.Options) {
	switch o.ID {
	case 'a':
		d.algorithm, d.algorithmGiven = o.Value, true
	case 'b':
		d.binary, d.text = true, false
	case 'c':
		d.check = true
	case 'l':
		d.length, d.lengthGiven = o.Value, true
	case 't':
		d.text, d.binary = true, false
	case 'w':
		d.silent, d.warn, d.quiet = false, true, false
	case 'z':
		d.zero = true
	case digestTag:
		d.tag, d.binary = true, true
	case digestUntagged:
		d.untagged = true
	case digestIgnoreMissing:
		d.ignoreMissing = true
	case digestQuiet:
		d.silent, d.warn, d.quiet = false, false, true
	case digestStatus:
		d.silent, d.warn, d.quiet = true, false, false
	case digestStrict:
		d.strict = true
	case digestDebug:
		d.debug = true
	}
}

func (d *digestJob) setLength() int {
	if d.kind == nil {
		return 0
	}
	d.bits = d.kind.bits
	if !d.lengthGiven {
		return 0
	}
	n, err := strconv.ParseUint(d.length, 10, 63)
	if err != nil {
		d.p.Warn("invalid length: %s", shell.Quote(d.length))
		return 1
	}
	if n%8 != 0 {
		d.p.Warn("invalid length: %s", shell.Quote(d.length))
		d.p.Warn("length is not a multiple of 8")
		return 1
	}
	if n > 512 {
		d.p.Warn("invalid length: %s", shell.Quote(d.length))
		d.p.Warn("maximum digest length for %s is 512 bits", shell.Quote("BLAKE2b"))
		return 1
	}
	if n != 0 {
		d.bits = int(n)
	}
	return 0
}

// conflicts rejects options that contradict each other.
func (d *digestJob) conflicts() int {
	if d.tag && d.text && !d.isCksum {
		return program.UsageError(d.p, d.describe, 1, "--tag does not support --text mode")
	}
	if d.zero && d.check {
		return program.UsageError(d.p, d.describe, 1, "the --zero option is not supported when verifying checksums")
	}
	if d.tag && d.check && !d.isCksum {
		return program.UsageError(d.p, d.describe, 1, "the --tag option is meaningless when verifying checksums")
	}
	if d.check && (d.binary || d.text) && !d.isCksum {
		return program.UsageError(d.p, d.describe, 1, "the --binary and --text options are meaningless when verifying checksums")
	}
	if d.check {
		return 0
	}
	for _, c := range []struct {
		set  bool
		name string
	}{{d.ignoreMissing, "ignore-missing"}, {d.silent, "status"}, {d.warn, "warn"}, {d.quiet, "quiet"}, {d.strict, "strict"}} {
		if c.set {
			return program.UsageError(d.p, d.describe, 1, "the --%s option is meaningful only when verifying checksums", c.name)
		}
	}
	return 0
}

func (d *digestJob) files(names []string) int {
	d.out = program.NewOutput(d.p)
	if len(names) == 0 {
		names = []string{"-"}
	}
	status := 0
	for _, name := range names {
		ok := false
		if d.check {
			ok = d.checkFile(name)
		} else {
			ok = d.print(name)
		}
		if d.ended != nil {
			return d.p.Status(d.ended)
		}
		if !ok {
			status = 1
		}
	}
	return d.out.Close(status)
}

func (d *digestJob) print(name string) bool {
	sum, err := d.sum(name, d.kind, d.bits)
	if err != nil {
		if d.ended == nil {
			_ = d.out.Flush()
			d.p.Error(name, err)
		}
		return false
	}
	escaped, shown := "", name
	if !d.zero {
		if s := escapeDigestName(name); s != name {
			escaped, shown = `\`, s
		}
	}
	end := "\n"
	if d.zero {
		end = "\x00"
	}
	if d.tag {
		tag := d.kind.tag
		if d.bits != d.kind.bits {
			tag += "-" + strconv.Itoa(d.bits)
		}
		fmt.Fprintf(d.out, "%s%s (%s) = %s%s", escaped, tag, shown, sum, end)
		return true
	}
	mark := " "
	if d.binary {
		mark = "*"
	}
	fmt.Fprintf(d.out, "%s%s %s%s%s", escaped, sum, mark, shown, end)
	return true
}

func escapeDigestName(name string) string {
	if !strings.ContainsAny(name, "\\\n\r") {
		return name
	}
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`).Replace(name)
}

// sum returns the digest of a file in hexadecimal.
func (d *digestJob) sum(name string, kind *digestKind, bits int) (string, error) {
	h := kind.make(bits)
	if err := d.feed(name, h); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// feed writes a file's content to w.
func (d *digestJob) feed(name string, w io.Writer) error {
	in, err := program.OpenInput(d.p, name)
	if err != nil {
		return err
	}
	defer in.Close()
	if d.buf == nil {
		d.buf = make([]byte, program.BufferSize)
	}
	for {
		n, err := in.Read(d.buf)
		if e := d.p.Spend(1 + n>>6); e != nil {
			d.ended = e
			return e
		}
		_, _ = w.Write(d.buf[:n])
		if program.IsEnd(err) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
