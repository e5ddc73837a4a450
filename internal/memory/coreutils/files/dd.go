package files

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func ddCommand() program.Description {
	return program.Description{
		Name: "dd", Usage: "[OPERAND]...\nOPTION", Summary: "copy a file in blocks",
		Help: `  bs=BYTES      read and write up to BYTES at a time; overrides ibs and obs
  count=N       copy only N blocks of input
  conv=CONVS    convert, see below; several with commas
  ibs=BYTES     read up to BYTES at a time, 512 by default
  if=FILE       read FILE, not standard input
  iflag=FLAGS   append, count_bytes, skip_bytes, fullblock, and flags without effect here
  obs=BYTES     write BYTES at a time, 512 by default
  of=FILE       write to FILE, not to standard output
  oflag=FLAGS   append, seek_bytes, and flags without effect here
  seek=N        pass over N blocks of output; also oseek=N
  skip=N        pass over N blocks of input; also iseek=N
  status=LEVEL  none: no message but errors; noxfer: no rate; progress: as without

Numbers may have a unit: c 1, w 2, b 512, kB 1000, K 1024, MB, M, and so on for G, T, P, E; NxM is a
product. A number of blocks that ends with B counts bytes.

  lcase, ucase  change upper case to lower, or lower to upper
  swab          exchange every two bytes
  sync          fill up each block of input with zeros
  sparse        accepted: zeros take no room anyway
  excl, nocreat, notrunc   fail if FILE is there, or if it is not; do not cut it
  noerror       go on after errors of reading
  fdatasync, fsync         write everything out before the end`,
		Run: runDd,
	}
}

// ddJob holds the parsed operands.
type ddJob struct {
	proc               *shell.Proc
	in                 io.Reader
	inFile, outFile    *vfs.File // nil: the stream
	out                io.Writer
	inName, outName    string
	ibs, obs, both     int64 // both, from bs, overrides the others
	one                bool  // bs was given: what is read is written at once
	count, skip, seek  int64
	bytes              [3]bool // count, skip and seek count bytes
	upper, lower, swab bool
	sync, noError      bool
	noTrunc, flush     bool
	excl, noCreate     bool
	full, appends      bool
	level              string

	inFull, inPart, outFull, outPart int64
	copied                           int64
	odd                              []byte // half of a pair to exchange
}

func runDd(p *shell.Proc) int {
	d := &ddJob{proc: p, ibs: 512, obs: 512, count: -1}
	o := program.NewOptions(p, ddCommand, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	for _, arg := range o.Args() {
		if !d.operand(arg) {
			return 1
		}
	}
	if d.both > 0 {
		d.ibs, d.obs, d.one = d.both, d.both, true
	}
	if !d.open() {
		return 1
	}
	defer d.close()
	start := time.Now()
	status := 0
	if !d.skipInput() || !d.seekOutput() {
		status = 1
	} else if err := d.copy(); err != nil {
		if p.Context().Err() != nil || errors.Is(err, shell.ErrFuel) {
			return p.Status(err)
		}
		status = 1
	}
	d.report(time.Since(start))
	return status
}

// operand takes one NAME=VALUE.
func (d *ddJob) operand(arg string) bool {
	name, value, ok := strings.Cut(arg, "=")
	switch {
	case !ok:
	case name == "if":
		d.inName = value
		return true
	case name == "of":
		d.outName = value
		return true
	case name == "conv":
		return d.flags("conversion", value, d.conversion)
	case name == "iflag":
		return d.flags("input flag", value, d.inputFlag)
	case name == "oflag":
		return d.flags("output flag", value, d.outputFlag)
	case name == "status":
		if value != "none" && value != "noxfer" && value != "progress" {
			program.UsageError(d.proc, ddCommand, 1, "invalid status level: %s", quoting.Name(value))
			return false
		}
		d.level = value
		return true
	default:
		if known, fine := d.number(name, value); known {
			return fine
		}
	}
	program.UsageError(d.proc, ddCommand, 1, "unrecognized operand %s", quoting.Name(arg))
	return false
}

// number takes an operand whose value is one.
func (d *ddJob) number(name, value string) (known, fine bool) {
	var to []*int64
	unit := -1
	switch name {
	case "bs":
		to = []*int64{&d.both}
	case "ibs":
		to = []*int64{&d.ibs}
	case "obs":
		to = []*int64{&d.obs}
	case "count":
		to, unit = []*int64{&d.count}, 0
	case "skip", "iseek":
		to, unit = []*int64{&d.skip}, 1
	case "seek", "oseek":
		to, unit = []*int64{&d.seek}, 2
	default:
		return false, false
	}
	n, err := ddNumber(value)
	if err == nil && n == 0 && unit < 0 {
		err = sizes.ErrNotSize
	}
	if err != nil {
		why := ""
		if errors.Is(err, sizes.ErrSizeTooLarge) {
			why = ": " + shell.Strerror(syscall.EOVERFLOW)
		}
		d.proc.Warn("invalid number: %s%s", quoting.Name(value), why)
		return true, false
	}
	for _, t := range to {
		*t = n
	}
	if unit >= 0 && strings.HasSuffix(value, "B") && !strings.HasSuffix(value, "kB") && len(value) > 1 && value[len(value)-2] <= '9' {
		d.bytes[unit] = true
	}
	return true, true
}

// ddNumber reads a number, or a product of some.
func ddNumber(s string) (int64, error) {
	product := int64(1)
	for part := range strings.SplitSeq(s, "x") {
		n, err := ddFactor(part)
		if err != nil {
			return 0, err
		}
		if n > 0 && product > (1<<62)/n {
			return 0, sizes.ErrSizeTooLarge
		}
		product *= n
	}
	return product, nil
}

func ddFactor(s string) (int64, error) {
	words, isWords := strings.CutSuffix(s, "w")
	if isWords {
		s = words
	}
	n, plain, err := sizes.Parse(s, "bcB")
	switch {
	case plain:
		return 0, sizes.ErrNotSize
	case err != nil:
		return 0, err
	case isWords && n > 1<<61:
		return 0, sizes.ErrSizeTooLarge
	case isWords:
		n *= 2
	}
	return n, nil
}

// flags takes a list of words.
func (d *ddJob) flags(kind, list string, set func(string) bool) bool {
	for word := range strings.SplitSeq(list, ",") {
		if !set(word) {
			program.UsageError(d.proc, ddCommand, 1, "invalid %s: %s", kind, quoting.Name(word))
			return false
		}
	}
	return true
}

func (d *ddJob) conversion(word string) bool {
	switch word {
	case "lcase":
		d.lower = true
	case "ucase":
		d.upper = true
	case "swab":
		d.swab = true
	case "sync":
		d.sync = true
	case "noerror":
		d.noError = true
	case "notrunc":
		d.noTrunc = true
	case "excl":
		d.excl = true
	case "nocreat":
		d.noCreate = true
	case "fsync", "fdatasync":
		d.flush = true
	case "sparse":
	default:
		return false
	}
	return true
}

func (d *ddJob) inputFlag(word string) bool {
	switch word {
	case "fullblock":
		d.full = true
	case "count_bytes":
		d.bytes[0] = true
	case "skip_bytes":
		d.bytes[1] = true
	default:
		return isQuietFlag(word)
	}
	return true
}

func (d *ddJob) outputFlag(word string) bool {
	switch word {
	case "append":
		d.appends = true
	case "seek_bytes":
		d.bytes[2] = true
	default:
		return isQuietFlag(word)
	}
	return true
}

// isQuietFlag knows the flags that change nothing in a tree in memory.
func isQuietFlag(word string) bool {
	switch word {
	case "append", "binary", "text", "direct", "dsync", "sync", "noatime", "nocache", "noctty", "nofollow", "nolinks", "nonblock":
		return true
	}
	return false
}

// open opens both files.
func (d *ddJob) open() bool {
	d.in, d.out = d.proc.Stdin, d.proc.Stdout
	var err error
	if d.inName != "" {
		if d.inFile, err = d.proc.Open(d.inName); err != nil {
			d.proc.Errorf(err, "failed to open %s", shell.Quote(d.inName))
			return false
		}
		d.in = d.inFile
	} else {
		d.inName = "standard input"
	}
	if d.outName == "" {
		d.outName = "standard output"
		return true
	}
	flag := os.O_WRONLY
	if !d.noCreate {
		flag |= os.O_CREATE
	}
	if d.excl {
		flag |= os.O_EXCL
	}
	if d.appends {
		flag |= os.O_APPEND
	}
	if !d.noTrunc && d.seek == 0 {
		flag |= os.O_TRUNC
	}
	if d.outFile, err = d.proc.OpenFile(d.outName, flag, 0o666); err != nil {
		d.proc.Errorf(err, "failed to open %s", shell.Quote(d.outName))
		d.close()
		return false
	}
	d.out = d.outFile
	return true
}

func (d *ddJob) close() {
	for _, f := range []*vfs.File{d.inFile, d.outFile} {
		if f != nil {
			_ = f.Close() // All was written.
		}
	}
}

// report prints the amount of copied data.
func (d *ddJob) report(took time.Duration) {
	if d.level == "none" {
		return
	}
	s := fmt.Sprintf("%d+%d records in\n%d+%d records out\n", d.inFull, d.inPart, d.outFull, d.outPart)
	if d.level != "noxfer" {
		seconds := took.Seconds()
		s += ddAmount(d.copied) + " copied, " + strconv.FormatFloat(seconds, 'g', 6, 64) + " s, "
		if seconds > 0 {
			s += ddScaled(float64(d.copied)/seconds, 1000) + "/s\n"
		} else {
			s += "Infinity B/s\n"
		}
	}
	_, _ = io.WriteString(d.proc.Stderr, s) // No other stream can report it.
}

// ddAmount is a number of bytes, also in units.
func ddAmount(n int64) string {
	s := strconv.FormatInt(n, 10) + program.Plural(int(min(n, 2)), " byte", " bytes")
	switch {
	case n < 1000:
		return s
	case n < 1024:
		return s + " (" + ddScaled(float64(n), 1000) + ")"
	}
	return s + " (" + ddScaled(float64(n), 1000) + ", " + ddScaled(float64(n), 1024) + ")"
}

// ddScaled is a number of bytes in the unit that leaves at most three digits before the point.
func ddScaled(n, base float64) string {
	power := 0
	for ; n >= base && power < len(sizes.Units); power++ {
		n /= base
	}
	format := "%.0f "
	if n < 10 {
		format = "%.1f "
	}
	unit := ""
	if power > 0 {
		unit = sizes.Units[power-1 : power]
		if base == 1024 {
			unit += "i"
		} else if power == 1 {
			unit = "k"
		}
	}
	return fmt.Sprintf(format, n) + unit + "B"
}
