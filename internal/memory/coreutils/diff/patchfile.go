package diff

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// ask writes a question; there is no terminal for an answer.
func (j *patchJob) ask(question string) {
	_, _ = j.talk.WriteString(question + "\n")
}

// mayReverse prints that a patch looks reversed and returns whether to reverse it.
func (j *patchJob) mayReverse(format string, args ...any) bool {
	if j.forward || !j.force || !j.quiet {
		q := j.quiet
		j.quiet = false
		j.say(format, args...)
		j.quiet = q
	}
	what := map[bool]string{true: "Ignor", false: "Assum"}[j.reversed]
	switch {
	case j.forward:
		_, _ = j.talk.WriteString("  Skipping patch.\n")
		j.skip = true
	case j.force:
		j.say("  Applying it anyway.\n")
	case j.batch:
		j.say("  %sing -R.\n", what)
		return true
	default:
		j.ask("  " + what + "e -R? [n] ")
		j.ask("Apply anyway? [n] ")
		j.say("Skipping patch.\n")
		j.skip = true
	}
	return false
}

// patchTarget is the file that one patch changes.
type patchTarget struct {
	name, out string // as messages show them: without -d
	info      vfs.Info
	missing   bool
	refused   bool
}

// one applies the patch of one file.
func (j *patchJob) one(fp *filePatch) error {
	j.reversed, j.skip, j.anyway = j.reverse, false, false
	t, ok := j.target(fp)
	if !ok {
		j.lost(fp)
		return fp.err
	}
	if err := j.check(fp, t); err != nil {
		return err
	}
	f := &patchedFile{j: j, name: t.out}
	early := j.skip && !t.refused
	if !t.missing && !j.skip {
		text, err := j.content(t)
		if err != nil {
			return err
		}
		f.lines = strings.SplitAfter(text, "\n") // bounded: ReadWhole has charged for lines
		if n := len(f.lines); f.lines[n-1] == "" {
			f.lines = f.lines[:n-1]
		}
	}
	if !j.skip {
		j.announce(fp, t)
	}
	if j.more && !j.skip {
		j.say("Using Plan A...\n")
	}
	if err := f.apply(fp); err != nil {
		return err
	}
	if fp.err != nil {
		return fp.err
	}
	if !j.skip {
		if err := j.finish(fp, t, f); err != nil {
			return err
		}
	}
	if err := j.summary(t, f, early); err != nil {
		return err
	}
	return nil
}

func (j *patchJob) announce(fp *filePatch, t *patchTarget) {
	verb := "patching"
	if j.dry {
		verb = "checking"
	}
	note := ""
	switch {
	case j.outName != "" && t.name != j.outName:
		note = " (read from " + shell.QuoteIfNeeded(t.name) + ")"
	case fp.rename && t.name != t.out:
		note = " (renamed from " + shell.QuoteIfNeeded(t.name) + ")"
	case fp.copy && t.name != t.out && !j.reversed:
		note = " (copied from " + shell.QuoteIfNeeded(t.name) + ")"
	case fp.rename:
		note = " (already renamed from " + shell.QuoteIfNeeded(fp.names[j.side(sideOld)]) + ")"
	}
	kind := "file"
	if t.info.Mode&fs.ModeSymlink != 0 || fp.hasMode[1] && fp.mode[1]&0o170000 == 0o120000 {
		kind = "symbolic link"
	}
	j.say("%s %s %s%s\n", verb, kind, shell.QuoteIfNeeded(t.out), note)
}

// side returns which side stands for old or new: -R swaps them.
func (j *patchJob) side(s int) int {
	if j.reversed {
		return 1 - s
	}
	return s
}

// lost reports that there is no file for a patch.
func (j *patchJob) lost(fp *filePatch) {
	j.somethingFailed = true
	n := len(fp.hunks)
	if j.skip {
		if n > 0 {
			j.say("%d out of %d hunk%s ignored\n", n, n, plural(n))
		}
		return
	}
	j.say("can't find file to patch at input line %d\n", fp.line)
	if fp.kind != patchGit || len(fp.header) > 0 {
		if j.strip < 0 {
			j.say("Perhaps you should have used the -p or --strip option?\n")
		} else {
			j.say("Perhaps you used the wrong -p or --strip option?\n")
		}
	}
	if quiet := j.quiet; !j.more {
		j.quiet = false
		j.tellHeader(fp)
		j.quiet = quiet
	}
	if j.force || j.batch {
		j.say("No file to patch.  Skipping patch.\n")
	} else {
		j.ask("File to patch: ")
		j.ask("Skip this patch? [y] ")
		j.say("Skipping patch.\n")
	}
	if n > 0 && fp.err == nil {
		fmt.Fprintf(j.talk, "%d out of %d hunk%s ignored\n", n, n, plural(n))
	}
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// check checks that the patch can apply to the file.
func (j *patchJob) check(fp *filePatch, t *patchTarget) error {
	if fp.binary {
		j.say("File %s: git binary diffs are not supported.\n", shell.QuoteIfNeeded(t.out))
		j.skip, j.somethingFailed = true, true
		return nil
	}
	if !t.missing && !t.info.Mode.IsRegular() {
		side := j.side(sideOld)
		if !fp.hasMode[side] {
			side = 1 - side
		}
		link := fp.hasMode[side] && fp.mode[side]&0o170000 == 0o120000
		if !link || t.info.Mode&fs.ModeSymlink == 0 {
			what := "regular file"
			if link {
				what = "symbolic link"
			}
			j.say("File %s is not a %s -- refusing to patch\n", shell.QuoteIfNeeded(t.name), what)
			j.skip, j.somethingFailed, t.refused = true, true, true
			return nil
		}
	}
	empty := t.missing || t.info.Size == 0
	if !fp.rename && !fp.copy {
		j.doubt(fp, t, empty)
	}
	if !t.missing && !j.skip && t.info.Mode&0o222 == 0 && j.readOnly != "ignore" {
		if j.readOnly == "fail" {
			j.say("File %s is read-only; refusing to patch\n", shell.QuoteIfNeeded(t.name))
			j.skip, j.somethingFailed = true, true
			return nil
		}
		j.say("File %s is read-only; trying to patch anyway\n", shell.QuoteIfNeeded(t.name))
	}
	return nil
}

// doubt asks for confirmation when the patch creates an existing file or deletes a missing one.
func (j *patchJob) doubt(fp *filePatch, t *patchTarget, empty bool) {
	index := func(a bool) int {
		if a != j.reversed {
			return 1
		}
		return 0
	}
	there := 1
	if empty {
		there = 0
	}
	if there >= fp.empty[index(empty)] {
		return
	}
	if empty && fp.empty[index(t.missing)] == 1 && fp.empty[index(!t.missing)] == 2 {
		return
	}
	when, verb, state := "", "create", "already exists"
	if j.reversed {
		when = ", when reversed,"
	}
	switch {
	case t.missing:
		verb, state = "delete", "does not exist"
	case empty:
		verb, state = "empty out", "is already empty"
	}
	if j.mayReverse("The next patch%s would %s the file %s,\nwhich %s!", when, verb, shell.QuoteIfNeeded(t.name), state) {
		j.reversed = !j.reversed
	}
}

// content reads the file, or a link's target.
func (j *patchJob) content(t *patchTarget) (string, error) {
	if t.info.Mode&fs.ModeSymlink != 0 {
		s, err := j.p.Readlink(j.path(t.name))
		if err != nil {
			return "", fatalf("Can't read link %s : %s", shell.QuoteIfNeeded(t.name), shell.Strerror(err))
		}
		return s, nil
	}
	in, err := j.p.OpenFile(j.path(t.name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fatalf("Can't open file %s : %s", shell.QuoteIfNeeded(t.name), shell.Strerror(err))
	}
	defer in.Close()
	return j.readAll(in)
}

// finish puts the result in its place.
func (j *patchJob) finish(fp *filePatch, t *patchTarget, f *patchedFile) error {
	text := joinLines(f.out)
	gone := fp.empty[j.side(sideNew)]
	if j.outName != "" {
		j.outLines = append(j.outLines, text) // bounded: ReadWhole has charged for lines
		return nil
	}
	if text == "" && (j.removeEmpty || gone == 2 && !j.posix) && !fp.hasHeadOnly() {
		return j.remove(t, f)
	}
	if text != "" && gone == 2 && !j.posix {
		j.somethingFailed = true
		j.say("Not deleting file %s as content differs from patch\n", shell.QuoteIfNeeded(t.out))
	}
	changed := f.failed < len(fp.hunks) || fp.kind == patchGit || fp.rename || fp.copy
	if j.dry {
		return nil
	}
	if !changed {
		if f.mismatch && j.backupMismatch || j.backup {
			return j.keepCopy(t)
		}
		return nil
	}
	return j.replace(fp, t, f, text)
}

// joinLines puts lines together. One without a newline gets it when others follow.
func joinLines(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		b.WriteString(line)
		if i+1 < len(lines) && !strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// hasHeadOnly reports whether a patch only changes modes or names.
func (fp *filePatch) hasHeadOnly() bool {
	return len(fp.hunks) == 0 && fp.empty[0] != 2 && fp.empty[1] != 2
}

func (j *patchJob) remove(t *patchTarget, f *patchedFile) error {
	if j.more {
		j.say("Removing file %s\n", shell.QuoteIfNeeded(t.out))
	}
	keep := f.mismatch && j.backupMismatch || j.backup
	switch {
	case j.dry:
		return nil
	case t.missing && keep:
		return j.keepCopy(t)
	case t.missing:
		return nil
	case keep:
		return j.rename(t.name, j.backupName(t.out))
	}
	if err := j.p.Unlink(j.path(t.name)); err != nil {
		return fatalf("Can't remove file %s : %s", shell.QuoteIfNeeded(t.name), shell.Strerror(err))
	}
	// Directories that the file leaves empty go with it.
	for dir := path.Dir(t.name); dir != "." && dir != "/" && j.p.Rmdir(j.path(dir)) == nil; {
		dir = path.Dir(dir)
	}
	return nil
}

// backupName returns the name of the original file.
func (j *patchJob) backupName(name string) string {
	if j.numbered {
		for i := 1; ; i++ {
			b := name + ".~" + strconv.Itoa(i) + "~"
			if _, err := j.p.Lstat(j.path(b)); err != nil {
				return b
			}
		}
	}
	if j.prefix == "" && j.basePrefix == "" {
		return name + j.suffix
	}
	dir, base := path.Split(name)
	b := j.prefix + dir + j.basePrefix + base
	if j.suffix != ".orig" {
		b += j.suffix
	}
	return b
}

func (j *patchJob) rename(from, to string) error {
	if err := j.directories(to); err != nil {
		return err
	}
	if err := j.p.Rename(j.path(from), j.path(to)); err != nil {
		return fatalf("Can't rename file %s to %s : %s", shell.QuoteIfNeeded(from), shell.QuoteIfNeeded(to), shell.Strerror(err))
	}
	return nil
}

// directories makes those above a file.
func (j *patchJob) directories(name string) error {
	for i := 1; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		if err := j.p.Mkdir(j.path(name[:i]), 0o777); err != nil && shell.Errno(err) != syscall.EEXIST {
			return fatalf("Can't create directory %s : %s", shell.QuoteIfNeeded(name[:i]), shell.Strerror(err))
		}
	}
	return nil
}

// keepCopy copies the file beside itself.
func (j *patchJob) keepCopy(t *patchTarget) error {
	name := j.backupName(t.out)
	if t.missing {
		return j.write(name, "", 0, false)
	}
	text, err := j.content(t)
	if err != nil {
		return err
	}
	return j.write(name, text, t.info.Mode.Perm(), true)
}

// write makes a file; exact says that mode is not to be narrowed by the umask.
func (j *patchJob) write(name, text string, mode fs.FileMode, exact bool) error {
	if err := j.directories(name); err != nil {
		return err
	}
	full := j.path(name)
	// What is there is not written through: it may be a link to elsewhere.
	if info, err := j.p.Lstat(full); err == nil && !info.IsDir() {
		_ = j.p.Unlink(full)
	}
	f, err := j.p.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fatalf("Can't create file %s : %s", shell.QuoteIfNeeded(name), shell.Strerror(err))
	}
	_, err = f.Write([]byte(text))
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil && exact {
		err = j.p.Chmod(full, mode)
	}
	if err != nil {
		return fatalf("write error : %s", shell.Strerror(err))
	}
	return nil
}

// replace writes the result.
func (j *patchJob) replace(fp *filePatch, t *patchTarget, f *patchedFile, text string) error {
	mode, exact := fs.FileMode(0), !t.missing
	if exact {
		mode = t.info.Mode.Perm() | t.info.Mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)
	}
	link := t.info.Mode&fs.ModeSymlink != 0
	if s := j.side(sideNew); fp.hasMode[s] {
		link = fp.mode[s]&0o170000 == 0o120000
		if exact || fp.mode[s]&0o111 != 0 {
			set := fp.mode[s].Perm()
			if !exact {
				set &^= j.p.Umask()
			} else {
				set = mode&^0o777 | gitMode(mode, set)
			}
			mode, exact = set, true
		}
	}
	if f.mismatch && j.backupMismatch || j.backup {
		if err := j.keepOld(fp, t); err != nil {
			return err
		}
	}
	if link {
		if err := j.writeLink(t, text); err != nil {
			return err
		}
	} else if err := j.write(t.out, text, mode, exact); err != nil {
		return err
	}
	if fp.rename && t.name != t.out && !t.missing {
		if err := j.p.Unlink(j.path(t.name)); err != nil && shell.Errno(err) != syscall.ENOENT {
			return fatalf("Can't remove file %s : %s", shell.QuoteIfNeeded(t.name), shell.Strerror(err))
		}
		for dir := path.Dir(t.name); dir != "." && dir != "/" && j.p.Rmdir(j.path(dir)) == nil; {
			dir = path.Dir(dir)
		}
	}
	if s := j.side(sideNew); j.setTime && fp.known[s] && f.failed == 0 {
		_ = j.p.Chtimes(j.path(t.out), fp.stamp[s], fp.stamp[s], true)
	}
	return nil
}

// gitMode gives a file the execute bits that git knows of, where it may be read.
func gitMode(now, set fs.FileMode) fs.FileMode {
	if set&0o111 == 0 {
		return now.Perm() &^ 0o111
	}
	return now.Perm() | now.Perm()&0o444>>2
}

// keepOld renames the file as it was; a new file gets an empty one.
func (j *patchJob) keepOld(fp *filePatch, t *patchTarget) error {
	name := j.backupName(t.out)
	if _, err := j.p.Lstat(j.path(t.out)); err != nil {
		if err := j.write(name, "", 0, false); err != nil || t.missing || !fp.rename || t.name == t.out {
			return err
		}
		return j.rename(t.name, j.backupName(t.name))
	}
	return j.rename(t.out, name)
}

func (j *patchJob) writeLink(t *patchTarget, text string) error {
	if err := j.directories(t.out); err != nil {
		return err
	}
	full := j.path(t.out)
	if _, err := j.p.Lstat(full); err == nil {
		_ = j.p.Unlink(full)
	}
	if err := j.p.Symlink(text, full); err != nil {
		return fatalf("Can't create symbolic link %s : %s", shell.QuoteIfNeeded(t.out), shell.Strerror(err))
	}
	return nil
}

// summary counts the failed hunks, and saves them unless the file was skipped.
func (j *patchJob) summary(t *patchTarget, f *patchedFile, early bool) error {
	if f.failed == 0 {
		return nil
	}
	j.somethingFailed = true
	word := "FAILED"
	if j.skip {
		word = "ignored"
	}
	fmt.Fprintf(j.talk, "%d out of %d hunk%s %s", f.failed, f.hunk, plural(f.hunk), word)
	if j.rejectName == "-" || j.dry || early {
		_ = j.talk.WriteByte('\n')
		return nil
	}
	name := j.rejectName
	if name == "" {
		name = t.out + ".rej"
	}
	fmt.Fprintf(j.talk, " -- saving rejects to file %s\n", shell.QuoteIfNeeded(name))
	return j.write(name, f.rejects.String(), 0, false)
}

// writeOutFile writes the collected output of -o.
func (j *patchJob) writeOutFile() error {
	if j.outName == "" || j.dry || j.outLines == nil {
		return nil
	}
	text := strings.Join(j.outLines, "")
	if j.outName == "-" {
		_, _ = j.out.WriteString(text)
		return nil
	}
	return j.write(j.outName, text, 0o600, true)
}
