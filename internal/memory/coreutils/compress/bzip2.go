package compress

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/codec"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/packing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func bzip2Command() program.Description {
	return program.Description{
		Name: "bzip2", Aliases: []string{"bunzip2", "bzcat"}, Usage: "[OPTION]... [FILE]...",
		Summary: "compress FILEs in their place by sorting blocks; bunzip2 and bzcat decompress",
		Help: `  -c, --stdout       write to standard output
  -d, --decompress   decompress
  -z, --compress     compress
  -f, --force        overwrite
  -k, --keep         keep the input files
  -t, --test         check compressed files
  -q, --quiet        fewer messages
  -v, --verbose      say what is done
  -s, --small        accepted
  -1, --fast ... -9, --best   the size of the blocks; 9 by default`,
		Run: runBzip2,
	}
}

// bzip2Job holds the parsed command line of bzip2.
type bzip2Job struct {
	packJob
	pad    int
	failed bool // a test
}

var bzip2Long = map[string]byte{
	"--stdout": 'c', "--decompress": 'd', "--compress": 'z', "--force": 'f', "--keep": 'k', "--test": 't', "--quiet": 'q', "--verbose": 'v',
	"--small": 's', "--fast": '1', "--best": '9', "--exponential": 's', "--repetitive-best": 's', "--repetitive-fast": 's',
}

func runBzip2(p *shell.Proc) int {
	j := &bzip2Job{packJob: packJob{p: p, out: program.NewOutput(p), memory: codec.Memory{Reserve: p.Reserve}, format: codec.Bzip2, level: 9}, pad: 7}
	j.decompress = strings.Contains(p.Name(), "unzip") || strings.Contains(p.Name(), "cat")
	j.stdout = strings.Contains(p.Name(), "cat")
	var names []string
	for i, a := range p.Args[1:] {
		letters := strings.TrimPrefix(a, "-")
		switch {
		case a == "--":
			names = append(names, p.Args[i+2:]...)
			letters = ""
		case a == "--help" || a == "-h" || a == "--version" || a == "-V" || a == "--license" || a == "-L":
			_, _ = io.WriteString(p.Stderr, bzip2Command().HelpText(p.Name()))
			return 0
		case !strings.HasPrefix(a, "-"):
			names = append(names, a)
			letters = ""
		case strings.HasPrefix(a, "--"):
			letters = string(bzip2Long[a])
		}
		if a == "--" {
			break
		}
		for k := range len(letters) {
			if !j.letter(letters[k]) {
				fmt.Fprintf(p.Stderr, "%s: Bad flag `%s'\n%s", p.Name(), a, bzip2Command().HelpText(p.Name()))
				return 1
			}
		}
	}
	j.work(names)
	return j.close()
}

func (j *bzip2Job) letter(c byte) bool {
	switch c {
	case 'c':
		j.stdout = true
	case 'd':
		j.decompress, j.test = true, false
	case 'z':
		j.decompress, j.test = false, false
	case 'f':
		j.force = true
	case 'k':
		j.keep = true
	case 't':
		j.test, j.decompress = true, true
	case 'q':
		j.quiet = true
	case 'v':
		j.verbose = true
	case 's':
	default:
		if c < '1' || c > '9' {
			return false
		}
		j.level = int(c - '0')
	}
	return true
}

func (j *bzip2Job) work(names []string) {
	for _, name := range names {
		j.pad = max(j.pad, len(name))
	}
	if len(names) == 0 {
		if !j.force && !j.decompress && program.IsTerminal(j.p.Stdout) {
			j.fail(1, fmt.Sprintf("%[1]s: I won't write compressed data to a terminal.\n%[1]s: For help, type: `%[1]s --help'.\n", j.p.Name()))
			return
		}
		if j.test {
			n, err := j.unpack(j.p.Stdin, io.Discard, false)
			j.said("(stdin)", n, err)
		} else {
			n, err := j.through(j.p.Stdin, j.out, -1)
			j.report("(stdin)", "(stdout)", n, err)
		}
	}
	for i, name := range names {
		if j.ended != nil || j.out.HasFailed() {
			return
		}
		if !j.file(name) {
			if left := len(names) - i - 1; left > 0 && !j.quiet {
				fmt.Fprintf(j.p.Stderr, "%[1]s: WARNING: some files have not been processed:\n%[1]s:    %d specified on command line, %d not processed yet.\n\n", j.p.Name(), len(names), left)
			}
			return
		}
	}
	if j.failed && !j.quiet {
		_, _ = io.WriteString(j.p.Stderr, packing.Bzip2Hint)
	}
}

// refuse skips a file with a message.
func (j *bzip2Job) refuse(noisy bool, format string, args ...any) bool {
	text := ""
	if noisy {
		text = j.p.Name() + ": " + fmt.Sprintf(format, args...) + "\n"
	}
	j.fail(1, text)
	return true
}

// file works on one file; false ends all.
func (j *bzip2Job) file(name string) bool {
	info, err := j.p.Stat(name)
	if err != nil {
		what := "input file "
		if j.test {
			what = "input "
		}
		return j.refuse(true, "Can't open %s%s: %s.", what, name, shell.Strerror(err))
	}
	if !j.decompress {
		for _, s := range []string{".bz2", ".bz", ".tbz2", ".tbz"} {
			if strings.HasSuffix(name, s) {
				return j.refuse(!j.quiet, "Input file %s already has %s suffix.", name, s)
			}
		}
	}
	if info.IsDir() {
		return j.refuse(true, "Input file %s is a directory.", name)
	}
	if !j.stdout && !j.test && !j.force {
		if l, err := j.p.Lstat(name); err != nil || !l.Mode.IsRegular() {
			return j.refuse(!j.quiet, "Input file %s is not a normal file.", name)
		}
	}
	target, ok := j.targetOf(name, &info)
	if !ok {
		return true
	}
	in, err := j.p.Open(name)
	if err != nil {
		return j.refuse(true, "Can't open input file %s: %s.", name, shell.Strerror(err))
	}
	defer in.Close()
	j.begin(name)
	switch {
	case j.test:
		n, err := j.unpack(in, io.Discard, false)
		j.said(name, n, err)
		return j.ended == nil
	case j.stdout:
		n, err := j.through(in, j.out, info.Size)
		return j.report(name, "(stdout)", n, err)
	}
	n, err := j.replace(in, &info, name, target)
	return j.report(name, target, n, err)
}

// targetOf finds the name of the output and makes room for it.
func (j *bzip2Job) targetOf(name string, info *vfs.Info) (target string, ok bool) {
	if j.stdout || j.test {
		return "", true
	}
	target = name + ".bz2"
	if j.decompress {
		target = name + ".out"
		for _, s := range [][2]string{{".bz2", ""}, {".bz", ""}, {".tbz2", ".tar"}, {".tbz", ".tar"}} {
			if base, ok := strings.CutSuffix(name, s[0]); ok {
				target = base + s[1]
				break
			}
		}
		if target == name+".out" && !j.quiet {
			fmt.Fprintf(j.p.Stderr, "%s: Can't guess original name for %s -- using %s\n", j.p.Name(), name, target)
		}
	}
	if _, err := j.p.Lstat(target); err == nil {
		if !j.force {
			j.refuse(true, "Output file %s already exists.", target)
			return "", false
		}
		_ = j.p.Unlink(target) // If the old file stays, creating the new one reports it.
	}
	if links := info.Nlink - 1; links > 0 && !j.force {
		j.refuse(true, "Input file %s has %d other link%s.", name, links, program.Plural(links, "", "s"))
		return "", false
	}
	return target, true
}

func (j *bzip2Job) begin(name string) {
	if j.verbose {
		fmt.Fprintf(j.p.Stderr, "  %s: %s", name, strings.Repeat(" ", max(0, j.pad-len(name)))) // bounded: as long as a name
	}
}

// said prints the result of a test.
func (j *bzip2Job) said(name string, _ packCount, err error) {
	text := ""
	switch {
	case err == nil:
		if j.verbose {
			_, _ = io.WriteString(j.p.Stderr, "ok\n")
		}
		return
	case codec.FaultOf(err) == 0:
		j.report(name, "", packCount{}, err)
		return
	case codec.FaultOf(err) == codec.NotFormat:
		text = "bad magic number (file not created by bzip2)\n"
	case codec.FaultOf(err) == codec.Truncated:
		text = "file ends unexpectedly\n"
	case codec.FaultOf(err) == codec.Garbage:
		fmt.Fprintf(j.p.Stderr, "trailing garbage after EOF ignored\n")
		return
	default:
		text = "data integrity (CRC) error in data\n"
	}
	if !j.verbose {
		text = j.p.Name() + ": " + name + ": " + text
	}
	j.failed = true
	j.fail(2, text)
}

// report prints the result for a file; false ends the run.
func (j *bzip2Job) report(name, target string, n packCount, err error) bool {
	kind := codec.FaultOf(err)
	switch {
	case err == nil || kind == codec.Garbage:
		if kind == codec.Garbage && !j.quiet {
			_, _ = io.WriteString(j.p.Stderr, packing.Bzip2Complaint(j.p.Name(), name, target, err))
		}
		j.done(n)
		return true
	case kind == codec.NotFormat:
		j.fail(2, packing.Bzip2Complaint(j.p.Name(), name, target, err))
		return true
	case kind != 0:
		text := packing.Bzip2Complaint(j.p.Name(), name, target, err)
		if target != "(stdout)" {
			text += j.p.Name() + ": Deleting output file " + target + ", if it exists.\n"
		}
		j.fail(2, text)
		return false
	case j.isStopped(err), packing.IsWriteError(err) && target == "(stdout)":
		return false
	}
	if errors.Is(err, fs.ErrExist) {
		j.refuse(true, "Output file %s already exists.", target)
		return true
	}
	j.fail(1, fmt.Sprintf("\n%s: I/O or other error, bailing out.  Possible reason follows.\n%s: %s\n\tInput file = %s, output file = %s\n", j.p.Name(), j.p.Name(), shell.Strerror(err), name, target))
	return false
}

func (j *bzip2Job) done(n packCount) {
	switch {
	case !j.verbose:
	case j.decompress:
		_, _ = io.WriteString(j.p.Stderr, "done\n")
	case n.plain == 0:
		_, _ = io.WriteString(j.p.Stderr, " no data compressed.\n")
	default:
		plain, packed := float64(n.plain), float64(n.packed)
		fmt.Fprintf(j.p.Stderr, "%6.3f:1, %6.3f bits/byte, %5.2f%% saved, %d in, %d out.\n", plain/packed, 8*packed/plain, 100*(1-packed/plain), n.plain, n.packed)
	}
}
