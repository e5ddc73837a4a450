package compress

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/packing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func zstdCommand() program.Description {
	return program.Description{
		Name: "zstd", Aliases: []string{"unzstd", "zstdcat", "zstdmt"}, Usage: "[OPTION]... [FILE]... [-o FILE]",
		Summary: "compress FILEs beside themselves as .zst, or decompress them",
		Help: `  -# (1 to 19)       how hard to try; 3 by default
  -d, --decompress   decompress
  -z, --compress     compress
  -c, --stdout       write to standard output
  -o FILE            write to FILE
  -f, --force        overwrite, follow links, pass on what is not compressed
  -k, --keep         keep the input files, as usual
      --rm           remove the input files
  -t, --test         check compressed files
  -q, --quiet        no messages but errors
  -v, --verbose      say what is done
  -T#, --ultra, --long, --no-progress   accepted`,
		Run: runZstd,
	}
}

// zstdJob holds the parsed command line of zstd.
type zstdJob struct {
	packJob
	toFile bool // -o
	many   bool
}

func runZstd(p *shell.Proc) int {
	j := &zstdJob{packJob: packJob{p: p, out: program.NewOutput(p), memory: codec.Memory{Reserve: p.Reserve}, format: codec.Zstd, level: 3, keep: true}}
	j.decompress = p.Name() != "zstd" && p.Name() != "zstdmt"
	if p.Name() == "zstdcat" {
		j.stdout, j.force, j.quiet = true, true, true
	}
	var names []string
	for args := p.Args[1:]; len(args) > 0; args = args[1:] {
		a := args[0]
		switch {
		case a == "--":
			names = append(names, args[1:]...)
			args = args[len(args)-1:]
		case a == "-o" && len(args) > 1:
			j.target, j.toFile = args[1], true
			args = args[1:]
		case a == "-h" || a == "--help" || a == "-H":
			_, _ = j.out.WriteString(zstdCommand().HelpText(p.Name()))
			return j.close()
		case a == "-V" || a == "--version":
			_, _ = j.out.WriteString("*** Zstandard CLI (64-bit) v1.5.4, as agent-sandbox has it ***\n")
			return j.close()
		case a == "-" || !strings.HasPrefix(a, "-"):
			names = append(names, a)
		case !j.option(a):
			_, _ = io.WriteString(p.Stderr, "Incorrect parameters \n"+zstdCommand().HelpText(p.Name()))
			return 1
		}
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	j.many = len(names) > 1
	for _, name := range names {
		if j.ended != nil || j.out.HasFailed() {
			break
		}
		j.one(name)
	}
	return j.close()
}

// option takes letters, or a long option.
func (j *zstdJob) option(a string) bool {
	if name, ok := strings.CutPrefix(a, "--"); ok {
		letter, ok := map[string]string{
			"decompress": "d", "uncompress": "d", "compress": "z", "stdout": "c", "force": "f", "keep": "k", "test": "t", "quiet": "q", "verbose": "v",
			"ultra": "", "no-progress": "", "long": "", "check": "", "no-check": "", "sparse": "", "no-sparse": "", "rm": "-",
		}[name]
		if !ok {
			return false
		}
		if letter == "-" {
			j.keep = false
			letter = ""
		}
		a = "-" + letter
	}
	for a = a[1:]; a != ""; {
		digits := len(a) - len(strings.TrimLeft(a, "0123456789"))
		switch c := a[0]; {
		case digits > 0:
			n, err := strconv.Atoi(a[:digits])
			if err != nil {
				return false
			}
			j.level = min(max(n, 1), 22)
			a = a[digits:]
			continue
		case c == 'T':
			a = strings.TrimLeft(a[1:], "0123456789")
			continue
		case c == 'd':
			j.decompress = true
		case c == 'z':
			j.decompress = false
		case c == 'c':
			j.stdout = true
		case c == 'f':
			j.force = true
		case c == 'k':
			j.keep = true
		case c == 't':
			j.test, j.decompress = true, true
		case c == 'q':
			j.quiet = true
		case c == 'v':
			j.verbose = true
		default:
			return false
		}
		a = a[1:]
	}
	return true
}

func (j *zstdJob) wrong(format string, args ...any) {
	j.fail(1, fmt.Sprintf(format, args...))
}

func (j *zstdJob) one(name string) {
	if name == "-" {
		var out io.Writer = j.out
		if j.test {
			out = io.Discard
		}
		j.streamTo(j.p.Stdin, out, `/*stdin*\`, -1)
		return
	}
	info, err := j.p.Lstat(name)
	if err == nil && info.Mode&fs.ModeSymlink != 0 {
		if !j.force {
			j.wrong("Warning : %s is a symbolic link, ignoring \n", name)
			return
		}
		info, err = j.p.Stat(name)
	}
	_, known := j.targetOf(name)
	switch {
	case !known && !j.stdout && !j.test && !j.toFile:
		j.wrong("zstd: %s: unknown suffix (.zst/.tzst/.gz/.tgz/.lzma/.xz/.txz/.lz4/.tlz4 expected). Can't derive the output file name. Specify it with -o dstFileName. Ignoring.\n", name)
		return
	case err != nil:
		j.wrong("zstd: can't stat %s : %s -- ignored \n", name, shell.Strerror(err))
		return
	case info.IsDir():
		j.wrong("zstd: %s is a directory -- ignored \n", name)
		return
	}
	in, err := j.p.Open(name)
	if err != nil {
		j.wrong("zstd: %s: %s \n", name, shell.Strerror(err))
		return
	}
	defer in.Close()
	switch {
	case j.test:
		j.streamTo(in, io.Discard, name, info.Size)
	case j.stdout && !j.toFile:
		j.streamTo(in, j.out, name, info.Size)
	default:
		j.file(in, &info, name)
	}
}

// streamTo works on a stream.
func (j *zstdJob) streamTo(in io.Reader, out io.Writer, name string, size int64) {
	n, err := j.through(in, out, size)
	target := ""
	if j.test {
		target = "test"
	}
	j.report(name, target, n, err)
}

func (j *zstdJob) file(in *vfs.File, info *vfs.Info, name string) {
	target := j.target
	if !j.toFile {
		target, _ = j.targetOf(name) // It was looked at before.
	}
	if there, err := j.p.Lstat(target); err == nil && there.Mode.IsRegular() {
		switch {
		case j.force:
		case j.quiet:
			j.wrong("zstd: %s already exists; not overwritten  \n", target)
			return
		default:
			_, _ = io.WriteString(j.p.Stderr, "zstd: "+target+" already exists; overwrite (y/n) ? ")
			if line, _ := program.ReadAnswer(j.p.Stdin); line == "" || line[0] != 'y' && line[0] != 'Y' {
				j.wrong("Not overwritten  \n \n")
				return
			}
		}
		_ = j.p.Unlink(target) // If the old file stays, creating the new one reports it.
	}
	n, err := j.replace(in, info, name, target)
	j.report(name, target, n, err)
}

func (j *zstdJob) targetOf(name string) (string, bool) {
	if !j.decompress {
		return name + ".zst", true
	}
	for _, s := range [][2]string{{".zst", ""}, {".tzst", ".tar"}, {".gz", ""}, {".tgz", ".tar"}, {".lzma", ""}, {".xz", ""}, {".txz", ".tar"}} {
		if base, ok := strings.CutSuffix(name, s[0]); ok && base != "" {
			return base + s[1], true
		}
	}
	return "", false
}

// report prints the result for a file.
func (j *zstdJob) report(name, target string, n packCount, err error) {
	kind := codec.FaultOf(err)
	switch {
	case err == nil:
		if target != "" && !j.quiet && !j.many {
			j.done(name, target, n)
		}
	case kind == codec.NotFormat && err.Error() != (&codec.Error{Fault: kind}).Error():
		j.wrong("zstd: %s: unknown header \n", name)
	case kind == codec.NotFormat, kind == codec.Garbage:
		j.wrong("zstd: %s: unsupported format \n", name)
	case kind == codec.Truncated && n.packed == 0:
		j.wrong("zstd: %s: unexpected end of file \n", name)
	case kind == codec.Truncated:
		j.wrong("%s : Read error (39) : premature end \n", name)
	case kind == codec.Checksum:
		j.wrong("%s : Decoding error (36) : Restored data doesn't match checksum \n", name)
	case kind == codec.TooLarge:
		j.wrong("%s : Decoding error (36) : Frame requires too much memory for decoding \n", name)
	case kind != 0:
		j.wrong("%s : Decoding error (36) : Data corruption detected \n", name)
	case j.isStopped(err), packing.IsWriteError(err) && target == "":
	default:
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			name = target
		}
		j.wrong("zstd: %s: %s \n", name, shell.Strerror(err))
	}
}

func (j *zstdJob) done(name, target string, n packCount) {
	if j.decompress {
		fmt.Fprintf(j.p.Stderr, "%-20s: %d bytes \n", name, n.plain)
		return
	}
	part := 0.0
	if n.plain > 0 {
		part = 100 * float64(n.packed) / float64(n.plain)
	}
	fmt.Fprintf(j.p.Stderr, "%-20s :%6.2f%%   (%s => %s, %s) \n", name, part, zstdSize(n.plain), zstdSize(n.packed), target)
}

// zstdSize is a size of six columns with its unit.
func zstdSize(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%6d B", n)
	}
	d, unit := float64(n)/1024, 0
	for d >= 1024 && unit < 3 {
		d /= 1024
		unit++
	}
	return fmt.Sprintf("%6.3g %ciB", d, sizes.Units[unit])
}
