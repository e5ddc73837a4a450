package zip

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func unzipCommand() program.Description {
	return program.Description{
		Name: "unzip", Usage: "[-Z] [OPTION]... ARCHIVE[.zip] [MEMBER]... [-x MEMBER...] [-d DIRECTORY]",
		Summary: "take files out of a zip archive",
		Help: `MEMBER may be a pattern, in which * takes slashes too.

  -l  list, -v  with more   -t  test           -p  write to standard output
  -c  the same with names   -Z  as zipinfo     -Z1 names alone
  -z  the comment           -d  where to       -x  leave out
  -o  overwrite             -n  never          -f, -u  only what is newer; -u adds
  -j  without directories   -q  quiet, -qq     -C  without regard to case
  -L  names in lower case   -a, -b, -K, -X     accepted`,
		Run: runUnzip,
	}
}

func zipinfoCommand() program.Description {
	c := unzipCommand()
	c.Name, c.Summary, c.Help = "zipinfo", "list a zip archive", "The options are -1 names alone, -l with packed sizes, -h, -t, -m, -s, -z, -x."
	c.Run = func(p *shell.Proc) int {
		p.Args = append([]string{"unzip", "-Z"}, p.Args[1:]...)
		return runUnzip(p)
	}
	return c
}

// unzipJob holds the parsed command line of unzip.
type unzipJob struct {
	p    *shell.Proc
	out  *program.Output
	name string // of the archive
	zip  *zipArchive

	list, verbose, test, pipe, chat, info, comment bool
	overwrite, never, freshen, update              bool
	junk, fold, lower, bare, long                  bool
	quiet                                          int
	dir                                            string
	members, exclude                               []string

	status int
	ended  error
	hit    []bool
	later  []unzipLater
	none   bool // nothing is replaced any more
}

// unzipLater is the work after all members are extracted: directories get their times, links are made.
type unzipLater struct {
	path, target string
	f            *zip.File
}

func runUnzip(p *shell.Proc) int {
	j := &unzipJob{p: p, out: program.NewOutput(p)}
	if !j.parse(p.Args[1:]) || j.name == "" {
		_, _ = io.WriteString(p.Stderr, unzipCommand().HelpText("unzip"))
		return 10
	}
	return j.out.Close(j.run())
}

// parse reads the arguments: options, the archive, members, and lists behind -x and -d.
func (j *unzipJob) parse(args []string) bool {
	list := &j.members
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' {
			if j.name == "" {
				j.name = a
			} else {
				*list = append(*list, a) // bounded: a word for an argument, which the shell has charged
			}
			continue
		}
		for k := 1; k < len(a); k++ {
			switch c := a[k]; {
			case c == 'x':
				list = &j.exclude
			case c == 'd' && !j.info:
				if j.dir = a[k+1:]; j.dir == "" {
					if i++; i >= len(args) {
						return false
					}
					j.dir = args[i]
				}
				k = len(a)
			case !j.letter(c):
				return false
			}
		}
	}
	return true
}

func (j *unzipJob) letter(c byte) bool {
	switch c {
	case 'Z':
		j.info = true
	case '1', '2':
		j.bare = j.info
		return j.info
	case 'l':
		j.list, j.long = true, true
	case 'v':
		j.list, j.verbose = true, true
	case 't':
		j.test = true
	case 'p':
		j.pipe = true
	case 'c':
		j.chat = true
	case 'z':
		j.comment = true
	case 'o':
		j.overwrite = true
	case 'n':
		j.never = true
	case 'f':
		j.freshen = true
	case 'u':
		j.update = true
	case 'j':
		j.junk = true
	case 'q':
		j.quiet++
	case 'C':
		j.fold = true
	case 'L':
		j.lower = true
	case 'a', 'b', 'K', 'X', 'h', 's', 'm':
	default:
		return false
	}
	return true
}

const unzipNoEnd = `  End-of-central-directory signature not found.  Either this file is not
  a zipfile, or it constitutes one disk of a multi-part archive.  In the
  latter case the central directory and zipfile comment will be found on
  the last disk(s) of this archive.
`

func (j *unzipJob) open() int {
	given := j.name
	var err error
	for _, suffix := range []string{"", ".zip", ".ZIP"} {
		j.name = given + suffix
		if j.zip, err = openZip(j.p, j.name); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	who, to := "unzip", j.p.Stderr
	if j.info {
		who = "zipinfo"
	}
	if j.info || j.test { // zipinfo and unzip -t report errors on standard output.
		to = j.out
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNoZip):
		if !j.pipe && j.quiet == 0 && !j.bare {
			_, _ = j.out.WriteString("Archive:  " + j.name + "\n")
		}
		_ = j.out.Flush()
		fmt.Fprintf(to, "%s%s:  cannot find zipfile directory in one of %s or\n        %s.zip, and cannot find %s.ZIP, period.\n", unzipNoEnd, who, given, given, given)
		return 9
	case errors.Is(err, fs.ErrNotExist):
		if j.test {
			to = j.p.Stderr
		}
		fmt.Fprintf(to, "%s:  cannot find or open %s, %s.zip or %s.ZIP.\n", who, given, given, given)
		return 9
	}
	if s := j.p.Status(err); s != 1 {
		return s
	}
	j.p.Warn(" cannot open %s: %s", j.name, shell.Strerror(err))
	return 9
}

func (j *unzipJob) run() int {
	if status := j.open(); status != 0 {
		return status
	}
	defer j.zip.file.Close()
	j.hit = make([]bool, len(j.members))
	all := len(j.members)+len(j.exclude) == 0
	if !j.pipe && !j.bare && j.quiet == 0 && (all || !j.info) {
		_, _ = j.out.WriteString("Archive:  " + j.name + "\n")
	}
	switch {
	case j.comment:
		if j.zip.Comment != "" {
			_, _ = j.out.WriteString(j.zip.Comment + "\n")
		}
		return 0
	case j.info:
		j.listInfo()
	case j.list:
		j.listFiles()
	default:
		j.extractAll()
	}
	j.missing()
	if j.ended != nil {
		return j.p.Status(j.ended)
	}
	return j.status
}

// missing reports operands without a matching member; a list only when it is empty.
func (j *unzipJob) missing() {
	listing := j.list || j.info
	if listing && slices.Contains(j.hit, true) {
		return
	}
	for i, ok := range j.hit {
		if ok {
			continue
		}
		j.status = max(j.status, 11)
		if !listing {
			_ = j.out.Flush()
			fmt.Fprintf(j.p.Stderr, "caution: filename not matched:  %s\n", j.members[i])
		}
	}
}

// isWanted reports whether a member is asked for.
func (j *unzipJob) isWanted(f *zip.File) bool {
	if j.ended = j.p.Spend(4); j.ended != nil {
		return false
	}
	if len(j.members) > 0 {
		found := false
		for i, m := range j.members {
			if _, ok := matchesZip([]string{m}, f.Name, j.fold); ok {
				j.hit[i], found = true, true
			}
		}
		if !found {
			return false
		}
	}
	_, out := matchesZip(j.exclude, f.Name, j.fold)
	return !out
}

func (j *unzipJob) extractAll() {
	if !j.test && !j.pipe && !j.chat && !j.makeTop() {
		return
	}
	tested := 0
	for _, f := range j.zip.File {
		if j.ended != nil || j.out.HasFailed() {
			return
		}
		if !j.isWanted(f) || j.ended != nil {
			continue
		}
		tested++
		switch {
		case j.test:
			j.testMember(f)
		case j.pipe || j.chat:
			j.printMember(f)
		default:
			j.extract(f)
		}
	}
	if j.ended == nil {
		j.finish()
	}
	if j.test && j.ended == nil && j.quiet < 2 {
		j.testResult(tested)
	}
}

// makeTop makes the directory that -d names, but none above it.
func (j *unzipJob) makeTop() bool {
	if j.dir == "" {
		return true
	}
	if err := j.p.Mkdir(strings.TrimRight(j.dir, "/"), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		j.caution("checkdir:  cannot create extraction directory: " + j.dir + "\n           " + shell.Strerror(err))
		j.status = 2
		return false
	}
	return true
}

func (j *unzipJob) testResult(tested int) {
	switch {
	case j.status >= 2:
		fmt.Fprintf(j.out, "At least one error was detected in %s.\n", j.name)
	case len(j.members)+len(j.exclude) > 0:
		fmt.Fprintf(j.out, "No errors detected in %s for the %d file%s tested.\n", j.name, tested, map[bool]string{false: "s"}[tested == 1])
	default:
		fmt.Fprintf(j.out, "No errors detected in compressed data of %s.\n", j.name)
	}
}

// say writes a line about a member; what follows it comes with the end.
func (j *unzipJob) say(verb, name string) {
	if j.quiet == 0 {
		fmt.Fprintf(j.out, "%11s: %-22s  ", verb, name)
	}
}

func (j *unzipJob) sayEnd(text string) {
	if j.quiet == 0 {
		_, _ = j.out.WriteString(text + "\n")
	}
}
