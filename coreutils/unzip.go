package coreutils

import (
	"archive/zip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/shell"
)

func unzipCommand() shell.Command {
	return shell.Command{
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

func zipinfoCommand() shell.Command {
	c := unzipCommand()
	c.Name, c.Summary, c.Help = "zipinfo", "list a zip archive", "The options are -1 names alone, -l with packed sizes, -h, -t, -m, -s, -z, -x."
	c.Run = func(p *shell.Proc) int {
		p.Args = append([]string{"unzip", "-Z"}, p.Args[1:]...)
		return runUnzip(p)
	}
	return c
}

// unzipJob is what unzip is asked for.
type unzipJob struct {
	p    *shell.Proc
	out  *output
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

// unzipLater is what is done at the end: directories get their times, links are made.
type unzipLater struct {
	path, target string
	f            *zip.File
}

func runUnzip(p *shell.Proc) int {
	j := &unzipJob{p: p, out: newOutput(p)}
	if !j.parse(p.Args[1:]) || j.name == "" {
		_, _ = io.WriteString(p.Stderr, helpText("unzip", unzipCommand()))
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
				*list = append(*list, a)
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
	if j.info || j.test { // What looks into an archive answers there.
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

// missing reports what no member was found for; a list only when it is empty.
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

// wants tells whether a member is asked for.
func (j *unzipJob) wants(f *zip.File) bool {
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
		if j.ended != nil || j.out.failed() {
			return
		}
		if !j.wants(f) || j.ended != nil {
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

// read copies what a member holds and checks it. It returns what is wrong.
func (j *unzipJob) read(f *zip.File, out io.Writer) (wrong string) {
	if f.Flags&1 != 0 {
		j.status = max(j.status, 82)
		return " encrypted: there are no passwords here"
	}
	r, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		j.status = max(j.status, 81)
		return fmt.Sprintf(" unsupported compression method %d", f.Method)
	}
	sum := crc32.NewIEEE()
	if err == nil {
		defer r.Close()
		_, err = pump(j.p, io.MultiWriter(out, sum), r)
	}
	switch {
	case err == nil:
		return ""
	case isWriteError(err):
		j.status = max(j.status, 50)
		if out == io.Writer(j.out) {
			return ""
		}
		return " write error: " + shell.Strerror(err)
	case j.p.Context().Err() != nil || errors.Is(err, shell.ErrFuel):
		j.ended = err
		return ""
	case errors.Is(err, zip.ErrChecksum):
		j.status = max(j.status, 2)
		return fmt.Sprintf(" bad CRC %08x  (should be %08x)", sum.Sum32(), f.CRC32)
	}
	j.status = max(j.status, 3)
	return " invalid compressed data"
}

func (j *unzipJob) testMember(f *zip.File) {
	j.say("testing", f.Name)
	if wrong := j.read(f, io.Discard); wrong != "" {
		j.sayEnd(wrong)
		return
	}
	j.sayEnd(" OK")
}

func (j *unzipJob) printMember(f *zip.File) {
	if strings.HasSuffix(f.Name, "/") {
		return
	}
	if j.chat {
		j.say(unzipVerb(f), f.Name)
		j.sayEnd("")
	}
	if wrong := j.read(f, j.out); wrong != "" {
		_ = j.out.Flush()
		j.p.Warn(" %s:%s", f.Name, wrong)
	}
	if j.chat {
		j.sayEnd("")
	}
}

func unzipVerb(f *zip.File) string {
	if f.Method == zip.Store {
		return "extracting"
	}
	return "inflating"
}

// target returns where a member goes. What would lead out is taken off.
func (j *unzipJob) target(f *zip.File) string {
	name := strings.ReplaceAll(f.Name, "\x00", "")
	if j.lower {
		name = strings.ToLower(name)
	}
	if strings.HasPrefix(name, "/") {
		j.caution("warning:  stripped absolute path spec from " + f.Name)
	}
	var parts []string
	up := false
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			up = true
		default:
			parts = append(parts, part)
		}
	}
	if up {
		j.caution("warning:  skipped \"../\" path component(s) in " + f.Name)
	}
	if len(parts) == 0 {
		return ""
	}
	if j.junk {
		parts = parts[len(parts)-1:]
	}
	return tarPath(strings.TrimRight(j.dir, "/"), strings.Join(parts, "/"))
}

func (j *unzipJob) caution(text string) {
	_ = j.out.Flush()
	_, _ = io.WriteString(j.p.Stderr, text+"\n")
	j.status = max(j.status, 1)
}

func (j *unzipJob) extract(f *zip.File) {
	dir := strings.HasSuffix(f.Name, "/")
	path := j.target(f)
	if path == "" || dir && j.junk {
		return
	}
	if dir {
		j.makeDir(f, path)
		return
	}
	if !j.replaces(f, path) {
		return
	}
	if err := j.parents(path); err != nil {
		j.caution("checkdir error:  cannot create " + dirName(path) + "\n                 " + shell.Strerror(err) + "\n                 unable to process " + f.Name + ".")
		j.status = max(j.status, 2)
		return
	}
	if f.Mode()&fs.ModeSymlink != 0 {
		j.link(f, path)
		return
	}
	j.say(unzipVerb(f), path)
	out, err := j.p.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		j.caution("error:  cannot create " + path + "\n        " + shell.Strerror(err))
		j.status = max(j.status, 50)
		return
	}
	wrong := j.read(f, out)
	if err := out.Close(); err != nil && wrong == "" {
		wrong = " write error: " + shell.Strerror(err)
	}
	j.sayEnd(wrong)
	j.attributes(f, path)
}

// replaces decides about what is in the way, and removes it.
func (j *unzipJob) replaces(f *zip.File, path string) bool {
	info, err := j.p.Lstat(path)
	if err != nil {
		return !j.freshen
	}
	if (j.freshen || j.update) && !j.zip.modified(f).After(info.Mtime) {
		return false
	}
	switch {
	case info.IsDir(), j.never, j.none:
		return false
	case !j.overwrite:
		_ = j.out.Flush()
		fmt.Fprintf(j.p.Stderr, "replace %s? [y]es, [n]o, [A]ll, [N]one, [r]ename: ", path)
		line, _ := readAnswer(j.p.Stdin)
		switch {
		case line == "":
			_, _ = io.WriteString(j.p.Stderr, " NULL\n(EOF or read error, treating as \"[N]one\" ...)\n")
			j.none, j.status = true, max(j.status, 1)
			return false
		case line[0] == 'A':
			j.overwrite = true
		case line[0] == 'N':
			j.none = true
			return false
		case line[0] != 'y' && line[0] != 'Y':
			return false
		}
	}
	return j.p.Unlink(path) == nil
}

// parents makes the directories above path. A link on the way that was there before counts as
// the directory it leads to; those of the archive are made last.
func (j *unzipJob) parents(path string) error {
	for i := 1; i < len(path); i++ {
		if path[i] != '/' {
			continue
		}
		if err := j.p.Mkdir(path[:i], 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func (j *unzipJob) makeDir(f *zip.File, path string) {
	if _, err := j.p.Stat(path); err == nil {
		return
	}
	err := j.parents(path)
	if err == nil {
		err = j.p.Mkdir(path, 0o777)
	}
	if err != nil {
		j.caution("checkdir error:  cannot create " + path + "\n                 " + shell.Strerror(err))
		j.status = max(j.status, 2)
		return
	}
	if j.quiet == 0 {
		fmt.Fprintf(j.out, "   creating: %s/\n", path)
	}
	j.put(unzipLater{path: path, f: f})
}

func (j *unzipJob) put(l unzipLater) {
	if j.ended = j.p.Reserve(len(l.path) + len(l.target) + 64); j.ended == nil {
		j.later = append(j.later, l)
	}
}

// linkMax is how long the target of a link may be.
const linkMax = 4096

func (j *unzipJob) link(f *zip.File, path string) {
	var target strings.Builder
	wrong := ""
	if f.UncompressedSize64 > linkMax {
		wrong = " link too long"
	} else {
		wrong = j.read(f, &target)
	}
	if wrong != "" {
		j.caution(f.Name + ":" + wrong)
		return
	}
	if j.quiet == 0 {
		fmt.Fprintf(j.out, "    linking: %-22s  -> %s \n", path, target.String())
	}
	j.put(unzipLater{path: path, target: target.String(), f: f})
}

func (j *unzipJob) finish() {
	said := false
	for _, l := range j.later {
		if l.target == "" {
			continue
		}
		if !said && j.quiet == 0 {
			_, _ = j.out.WriteString("finishing deferred symbolic links:\n")
		}
		said = true
		if j.quiet == 0 {
			fmt.Fprintf(j.out, "  %-22s -> %s\n", l.path, l.target)
		}
		if err := j.p.Symlink(l.target, l.path); err != nil {
			j.caution("symlink error: " + shell.Strerror(err))
		}
	}
	for _, l := range slices.Backward(j.later) {
		if l.target == "" {
			j.attributes(l.f, l.path)
		}
	}
}

// attributes gives a file its permissions and its time.
func (j *unzipJob) attributes(f *zip.File, path string) {
	if f.CreatorVersion>>8 == 3 && f.ExternalAttrs>>16 != 0 {
		_ = j.p.Chmod(path, f.Mode().Perm()) // It is the process's own file.
	} else if !strings.HasSuffix(f.Name, "/") {
		_ = j.p.Chmod(path, 0o666&^j.p.Umask())
	}
	t := j.zip.modified(f)
	_ = j.p.Chtimes(path, t, t, false)
}
