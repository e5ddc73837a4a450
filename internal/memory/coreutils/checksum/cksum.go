package checksum

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/crc"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func cksumCommand() program.Description {
	return program.Description{
		Name: "cksum", Usage: "[OPTION]... [FILE]...",
		Summary: "write or check checksums",
		Help: `With no FILE, or when FILE is -, read standard input. By default the CRC of POSIX is written.

  -a, --algorithm=TYPE  sysv, bsd, crc, md5, sha1, sha224, sha256, sha384, sha512,
                          blake2b or sm3
  -c, --check           read checksums from the FILEs and check them
  -l, --length=BITS     length of the result of blake2b, a multiple of 8; 512
      --tag             write BSD's form, as is done by default
      --untagged        write the form without the algorithm
  -z, --zero            end lines with NUL, and do not escape names

With --check:
      --ignore-missing  say nothing of files that are missing
      --quiet           do not say OK of each file
      --status          write nothing; the exit status tells
      --strict          fail for lines that are not as they should be
  -w, --warn            say which lines are not as they should be

      --debug           does nothing
      --help            show this help and exit
      --version         show the version and exit`,
		Run: runCksum,
	}
}

var cksumOptions = append([]getopt.Option{
	{Short: 'a', Long: "algorithm", Arg: getopt.Required},
	{Short: 'l', Long: "length", Arg: getopt.Required},
	{Long: "untagged", ID: digestUntagged},
	{Long: "debug", ID: digestDebug},
}, digestOptions...)

var cksumAlgorithms = []string{"bsd", "sysv", "crc", "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "sm3"}

func runCksum(p *shell.Proc) int {
	d := &digestJob{p: p, describe: cksumCommand, isCksum: true, algorithm: "crc"}
	o := program.NewOptions(p, cksumCommand, cksumOptions)
	for o.Next() {
		d.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	var ok bool
	if d.algorithm, ok = uniquePrefix(d.algorithm, cksumAlgorithms); !ok {
		return program.UsageError(p, cksumCommand, 1, "invalid argument %s for '--algorithm'\nValid arguments are:\n  - '%s'",
			shell.Quote(d.algorithm), strings.Join(cksumAlgorithms, "'\n  - '"))
	}
	d.kind = digestKinds[d.algorithm]
	d.tag = !d.untagged
	if d.lengthGiven && d.algorithm != "blake2b" {
		p.Warn("--length is only supported with --algorithm=blake2b")
		return 1
	}
	if status := d.setLength(); status != 0 {
		return status
	}
	if d.check && d.kind == nil && d.algorithmGiven {
		p.Warn("--check is not supported with --algorithm={bsd,sysv,crc}")
		return 1
	}
	d.auto = d.check && d.kind == nil
	if status := d.conflicts(); status != 0 {
		return status
	}
	if d.kind == nil && !d.check {
		return d.legacy(o.Args())
	}
	return d.files(o.Args())
}

// uniquePrefix returns the name that s is or begins, if it is only one.
func uniquePrefix(s string, names []string) (string, bool) {
	found := ""
	for _, n := range names {
		if n == s {
			return n, true
		}
		if strings.HasPrefix(n, s) && s != "" {
			if found != "" {
				return s, false
			}
			found = n
		}
	}
	if found == "" {
		return s, false
	}
	return found, true
}

// legacy writes the sums of the old algorithms (bsd, sysv, crc) for files.
func (d *digestJob) legacy(names []string) int {
	d.out = program.NewOutput(d.p)
	status := 0
	named := len(names) > 0
	if !named {
		names = []string{"-"}
	}
	for _, name := range names {
		var sum legacySum
		switch d.algorithm {
		case "bsd":
			sum = &bsdSum{}
		case "sysv":
			sum = &sysvSum{}
		default:
			sum = &posixCRC{}
		}
		if err := d.feed(name, sum); err != nil {
			if d.ended != nil {
				return d.p.Status(d.ended)
			}
			_ = d.out.Flush()
			d.p.Error(name, err)
			status = 1
			continue
		}
		_, _ = d.out.WriteString(sum.line())
		if named {
			_, _ = d.out.WriteString(" " + name)
		}
		if d.zero {
			_ = d.out.WriteByte(0)
		} else {
			_ = d.out.WriteByte('\n')
		}
	}
	return d.out.Close(status)
}

// legacySum is a sum that is shown in decimal, with the size.
type legacySum interface {
	Write(b []byte) (int, error)
	line() string
}

type posixCRC struct {
	crc uint32
	n   uint64
}

func (s *posixCRC) Write(b []byte) (int, error) {
	sum, table := s.crc, crc.Table()
	for _, c := range b {
		sum = sum<<8 ^ table[byte(sum>>24)^c]
	}
	s.crc = sum
	s.n += uint64(len(b))
	return len(b), nil
}

func (s *posixCRC) line() string {
	sum, table := s.crc, crc.Table()
	for n := s.n; n != 0; n >>= 8 {
		sum = sum<<8 ^ table[byte(sum>>24)^byte(n)]
	}
	return fmt.Sprintf("%d %d", ^sum, s.n)
}

type bsdSum struct {
	sum uint16
	n   uint64
}

func (s *bsdSum) Write(b []byte) (int, error) {
	for _, c := range b {
		s.sum = s.sum>>1 | s.sum<<15
		s.sum += uint16(c)
	}
	s.n += uint64(len(b))
	return len(b), nil
}

func (s *bsdSum) line() string { return fmt.Sprintf("%05d %5d", s.sum, (s.n+1023)/1024) }

type sysvSum struct {
	sum uint32
	n   uint64
}

func (s *sysvSum) Write(b []byte) (int, error) {
	for _, c := range b {
		s.sum += uint32(c)
	}
	s.n += uint64(len(b))
	return len(b), nil
}

func (s *sysvSum) line() string {
	r := s.sum&0xffff + s.sum>>16
	r = r&0xffff + r>>16
	return fmt.Sprintf("%d %d", r, (s.n+511)/512)
}
