package zip

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

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/packing"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// read copies what a member holds and checks it. It returns the error.
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
		_, err = packing.Copy(j.p, io.MultiWriter(out, sum), r)
	}
	switch {
	case err == nil:
		return ""
	case packing.IsWriteError(err):
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

// target returns where a member goes. It removes parts of the name that lead out of the directory.
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
			parts = append(parts, part) // bounded: a name in an archive has 65535 bytes
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
	return pathname.Resolve(strings.TrimRight(j.dir, "/"), strings.Join(parts, "/"))
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
		j.caution("checkdir error:  cannot create " + pathname.Dir(path) + "\n                 " + shell.Strerror(err) + "\n                 unable to process " + f.Name + ".")
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

// replaces decides whether to replace an existing file, and removes it then.
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
		line, _ := program.ReadAnswer(j.p.Stdin)
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

// linkMax is the longest target of a link, in bytes.
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
