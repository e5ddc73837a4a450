package compress

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/packing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func xzCommand() program.Description {
	return program.Description{
		TryHelp: "%[1]s: Try `%[1]s --help' for more information.\n",
		Name:    "xz", Aliases: []string{"unxz", "xzcat", "lzma", "unlzma", "lzcat"}, Usage: "[OPTION]... [FILE]...",
		Summary: "compress FILEs in their place as .xz, or decompress them",
		Help: `  -z, --compress     compress
  -d, --decompress   decompress
  -t, --test         check compressed files
  -l, --list         say what .xz files hold
  -k, --keep         keep the input files
  -f, --force        overwrite, follow links, pass on what is not compressed
  -c, --stdout       write to standard output
  -S, --suffix=.SUF  use .SUF in place of .xz
  -F, --format=FMT   auto, xz, lzma
  -0 ... -9          how hard to try; 6 by default
  -e -T -M -C        accepted
  -q, --quiet        no warnings; twice no errors
  -v, --verbose      say what is done
  -V, --version      show the version and exit`,
		Run: runXz,
	}
}

const (
	xzAccepted = getopt.First + iota
	xzAcceptedValue
)

var xzOptions = []getopt.Option{
	{Short: 'z', Long: "compress"},
	{Short: 'd', Long: "decompress"},
	{Short: 'd', Long: "uncompress"},
	{Short: 't', Long: "test"},
	{Short: 'l', Long: "list"},
	{Short: 'k', Long: "keep"},
	{Short: 'f', Long: "force"},
	{Short: 'c', Long: "stdout"},
	{Short: 'c', Long: "to-stdout"},
	{Short: 'S', Long: "suffix", Arg: getopt.Required},
	{Short: 'F', Long: "format", Arg: getopt.Required},
	{Short: 'q', Long: "quiet"},
	{Short: 'v', Long: "verbose"},
	{Short: 'V', Long: "version", ID: getopt.Version},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: '0'},
	{Short: '1', Long: "fast"},
	{Short: '2'},
	{Short: '3'},
	{Short: '4'},
	{Short: '5'},
	{Short: '6'},
	{Short: '7'},
	{Short: '8'},
	{Short: '9', Long: "best"},
	{Short: 'e', Long: "extreme", ID: xzAccepted},
	{Long: "no-sparse", ID: xzAccepted},
	{Long: "no-adjust", ID: xzAccepted},
	{Short: 'Q', Long: "no-warn", ID: xzAccepted},
	{Short: 'T', Long: "threads", Arg: getopt.Required, ID: xzAcceptedValue},
	{Short: 'M', Long: "memlimit", Arg: getopt.Required, ID: xzAcceptedValue},
	{Short: 'C', Long: "check", Arg: getopt.Required, ID: xzAcceptedValue},
}

// xzJob holds the parsed command line of xz.
type xzJob struct {
	packJob
	mute   bool // -qq
	totals xzTotals
}

func runXz(p *shell.Proc) int {
	j := &xzJob{packJob: packJob{p: p, out: program.NewOutput(p), memory: codec.Memory{Reserve: p.Reserve}, format: codec.Xz, level: 6}}
	name := p.Name()
	j.decompress = strings.HasPrefix(name, "un") || strings.HasSuffix(name, "cat")
	j.stdout = strings.HasSuffix(name, "cat")
	if strings.Contains(name, "lz") && !j.decompress {
		j.format = codec.Lzma
	}
	o := program.NewOptions(p, xzCommand, xzOptions)
	for o.Next() {
		j.option(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	for _, name := range program.FilesOrStdin(o.Args()) {
		if j.ended != nil || j.out.HasFailed() {
			break
		}
		j.one(name)
	}
	if j.list && j.ended == nil {
		j.totals.sum(j)
	}
	return j.close()
}

func (j *xzJob) option(o *program.Options) {
	switch o.ID {
	case 'z':
		j.decompress, j.test, j.list = false, false, false
	case 'd':
		j.decompress, j.test = true, false
	case 't':
		j.decompress, j.test = true, true
	case 'l':
		j.decompress, j.list = true, true
	case 'k':
		j.keep = true
	case 'f':
		j.force = true
	case 'c':
		j.stdout = true
	case 'S':
		if o.Value == "" || strings.Contains(o.Value, "/") {
			o.RejectQuietly("%s: Invalid filename suffix", o.Value)
		}
		j.suffix = o.Value
	case 'F':
		f, ok := map[string]codec.Format{"auto": codec.Xz, "xz": codec.Xz, "lzma": codec.Lzma, "alone": codec.Lzma}[o.Value]
		if !ok {
			o.RejectQuietly("%s: Unknown file format type", o.Value)
		}
		j.format = f
	case 'q':
		j.mute, j.quiet = j.quiet, true
	case 'v':
		j.verbose = true
	default:
		if o.ID >= '0' && o.ID <= '9' {
			j.level = o.ID - '0'
		}
	}
}

// warn passes over a file.
func (j *xzJob) warn(name, text string) {
	if !j.quiet {
		j.p.Warn("%s: %s", name, text)
	}
	if j.status == 0 {
		j.status = 2
	}
}

// wrong says that a file could not be worked on.
func (j *xzJob) wrong(name, text string) {
	if !j.mute {
		j.p.Warn("%s: %s", name, text)
	}
	j.status = 1
}

func (j *xzJob) one(name string) {
	if name == "-" {
		if j.list {
			j.wrong("", "--list does not support reading from standard input")
			return
		}
		j.stream(j.p.Stdin, "(stdin)", -1)
		return
	}
	flag := os.O_RDONLY | syscall.O_NONBLOCK
	if !j.force && !j.stdout && !j.test && !j.list {
		flag |= syscall.O_NOFOLLOW
	}
	in, err := j.p.OpenFile(name, flag, 0)
	if shell.Errno(err) == syscall.ELOOP {
		j.warn(name, "Is a symbolic link, skipping")
		return
	}
	if err != nil {
		j.wrong(name, shell.Strerror(err))
		return
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		j.wrong(name, shell.Strerror(err))
		return
	}
	if info.IsDir() {
		j.warn(name, "Is a directory, skipping")
		return
	}
	switch {
	case j.list:
		j.totals.add(j, in, name)
	case j.stdout || j.test:
		j.stream(in, name, info.Size)
	case j.allowed(&info, name):
		j.file(in, &info, name)
	}
}

func (j *xzJob) allowed(info *vfs.Info, name string) bool {
	switch m := info.Mode; {
	case !m.IsRegular():
		j.warn(name, "Not a regular file, skipping")
	case j.force:
		return true
	case m&(fs.ModeSetuid|fs.ModeSetgid) != 0:
		j.warn(name, "File has setuid or setgid bit set, skipping")
	case m&fs.ModeSticky != 0:
		j.warn(name, "File has sticky bit set, skipping")
	case info.Nlink > 1:
		j.warn(name, "Input file has more than one hard link, skipping")
	default:
		return true
	}
	return false
}

// stream works from in to standard output, or nowhere.
func (j *xzJob) stream(in io.Reader, name string, size int64) {
	if !j.decompress && program.IsTerminal(j.p.Stdout) {
		j.p.Warn("Compressed data cannot be written to a terminal")
		program.TryHelp(j.p, xzCommand())
		j.status = 1
		return
	}
	var out io.Writer = j.out
	if j.test {
		out = io.Discard
	}
	n, err := j.through(in, out, size)
	j.report(name, "", n, err)
}

// file replaces a file.
func (j *xzJob) file(in *vfs.File, info *vfs.Info, name string) {
	if j.decompress {
		head := make([]byte, codec.SniffLength)
		k, err := in.ReadAt(head, 0)
		if f := codec.Sniff(head[:k]); err != nil && !program.IsEnd(err) || f != codec.Xz && f != codec.Lzma {
			j.wrong(name, "File format not recognized")
			return
		}
	}
	target, text := j.targetOf(name)
	if text != "" {
		j.warn(name, text)
		return
	}
	if j.force {
		_ = j.p.Unlink(target) // If the old file stays, creating the new one reports it.
	}
	n, err := j.replace(in, info, name, target)
	j.report(name, target, n, err)
}

func (j *xzJob) targetOf(name string) (target, wrong string) {
	suffixes := [][2]string{{".xz", ""}, {".txz", ".tar"}, {".lzma", ""}, {".tlz", ".tar"}}
	if j.suffix != "" {
		suffixes = append(suffixes, [2]string{j.suffix, ""})
	}
	own := suffixes
	if !j.decompress {
		own = suffixes[:2]
		if j.format == codec.Lzma {
			own = suffixes[2:4]
		}
	}
	base := pathname.Base(name)
	for _, s := range own {
		if strings.HasSuffix(base, s[0]) && len(base) > len(s[0]) {
			if !j.decompress {
				return "", "File already has `" + s[0] + "' suffix, skipping"
			}
			return strings.TrimSuffix(name, s[0]) + s[1], ""
		}
	}
	switch {
	case j.decompress:
		return "", "Filename has an unknown suffix, skipping"
	case j.suffix != "":
		return name + j.suffix, ""
	case j.format == codec.Lzma:
		return name + ".lzma", ""
	}
	return name + ".xz", ""
}

// report prints the result for a file.
func (j *xzJob) report(name, target string, n packCount, err error) {
	kind := codec.FaultOf(err)
	switch {
	case err == nil:
		if j.verbose {
			fmt.Fprintf(j.p.Stderr, "%s: %s / %s = %s\n", name, xzSize(n.packed), xzSize(n.plain), xzRatio(n))
		}
	case kind != 0:
		text, ok := packing.XzComplaints[kind]
		if !ok {
			text = "Compressed data is corrupt"
		}
		j.wrong(name, text)
	case j.isStopped(err), packing.IsWriteError(err) && target == "":
	case errors.Is(err, fs.ErrExist):
		j.wrong(target, "File exists")
	default:
		j.wrong(name, "Write error: "+shell.Strerror(err))
	}
}

// xzSize is a size in a unit that keeps it short.
func xzSize(n int64) string {
	if n < 10000 {
		return fmt.Sprintf("%d B", n)
	}
	d, unit := float64(n)/1024, 0
	for d > 9999.9 && unit < 3 {
		d /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %ciB", d, sizes.Units[unit])
}

func xzRatio(n packCount) string {
	if n.plain == 0 || float64(n.packed)/float64(n.plain) > 9.999 {
		return "---"
	}
	return fmt.Sprintf("%.3f", float64(n.packed)/float64(n.plain))
}

// xzTotals are the rows of xz -l.
type xzTotals struct {
	files, streams, blocks int64
	count                  packCount
	checks                 [16]bool // by kind
}

func (t *xzTotals) add(j *xzJob, in *vfs.File, name string) {
	r := codec.NewXzReader(bufio.NewReaderSize(in, program.BufferSize), &j.memory)
	if _, err := packing.Copy(j.p, io.Discard, r); err != nil {
		j.report(name, "", packCount{}, err)
		return
	}
	if t.files == 0 {
		_, _ = j.out.WriteString("Strms  Blocks   Compressed Uncompressed  Ratio  Check   Filename\n")
	}
	n := packCount{r.Unpacked, r.Packed}
	t.row(j, r.Streams, r.Blocks, n, xzCheck(r.Check), name)
	t.files++
	t.streams += r.Streams
	t.blocks += r.Blocks
	t.count.plain += n.plain
	t.count.packed += n.packed
	t.checks[r.Check] = true
}

// xzCheck names a kind of check sum.
func xzCheck(kind byte) string {
	if name, ok := map[byte]string{0: "None", 1: "CRC32", 4: "CRC64", 10: "SHA-256"}[kind]; ok {
		return name
	}
	return fmt.Sprintf("Unknown-%d", kind)
}

func (t *xzTotals) row(j *xzJob, streams, blocks int64, n packCount, check, name string) {
	fmt.Fprintf(j.out, "%5d %7d  %11s  %11s  %5s  %-7s %s\n", streams, blocks, xzSize(n.packed), xzSize(n.plain), xzRatio(n), check, name)
}

func (t *xzTotals) sum(j *xzJob) {
	if t.files > 1 {
		_, _ = j.out.WriteString(strings.Repeat("-", 79) + "\n")
		var checks []string
		for kind, ok := range t.checks {
			if ok {
				checks = append(checks, xzCheck(byte(kind)))
			}
		}
		t.row(j, t.streams, t.blocks, t.count, strings.Join(checks, ","), fmt.Sprintf("%d files", t.files))
	}
}
