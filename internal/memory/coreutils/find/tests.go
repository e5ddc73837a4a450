package find

import (
	"io/fs"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/ascii"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filemode"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/filesystem"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/fnmatch"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/sizes"
	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// patternTests are those whose argument a shell may have expanded by mistake.
var patternTests = map[string]bool{
	"-name": true, "-iname": true, "-path": true, "-ipath": true, "-wholename": true, "-iwholename": true,
	"-lname": true, "-ilname": true, "-regex": true, "-iregex": true,
}

// primary reads a test, an option or an action; nil after a fault.
func (p *findParser) primary(w string) predicate {
	if w == "-help" || w == "--help" {
		p.failed = true
		_, _ = p.out.WriteString(findCommand().HelpText(p.proc.Name())) // The error stays in out.
		return nil
	}
	if w == "-version" || w == "--version" {
		p.failed = true
		_, _ = p.out.WriteString(findCommand().VersionText(p.proc.Name())) // The error stays in out.
		return nil
	}
	if test, ok := p.option(w); ok {
		return test
	}
	if test, ok := p.plainTest(w); ok {
		return test
	}
	if test, ok := p.plainAction(w); ok {
		return test
	}
	if strings.HasPrefix(w, "-newer") && w != "-newer" {
		return p.newerXY(w)
	}
	read, ok := findArguments[w]
	if !ok {
		p.fault("unknown predicate `%s'", w)
		return nil
	}
	arg, ok := p.argument(w)
	if !ok {
		return nil
	}
	return read(p, w, arg)
}

// findArguments are the tests and actions with one argument.
var findArguments = map[string]func(p *findParser, w, arg string) predicate{
	"-name": (*findParser).name, "-iname": (*findParser).name, "-path": (*findParser).path, "-ipath": (*findParser).path,
	"-wholename": (*findParser).path, "-iwholename": (*findParser).path, "-lname": (*findParser).linkName,
	"-ilname": (*findParser).linkName, "-regex": (*findParser).regex, "-iregex": (*findParser).regex,
	"-type": (*findParser).types, "-xtype": (*findParser).types, "-size": (*findParser).size, "-perm": (*findParser).perm,
	"-user": (*findParser).user, "-group": (*findParser).group, "-uid": (*findParser).number, "-gid": (*findParser).number,
	"-links": (*findParser).number, "-inum": (*findParser).number, "-samefile": (*findParser).sameFile,
	"-fstype": (*findParser).fileSystem, "-context": (*findParser).context,
	"-amin": (*findParser).minutes, "-cmin": (*findParser).minutes, "-mmin": (*findParser).minutes,
	"-atime": (*findParser).days, "-ctime": (*findParser).days, "-mtime": (*findParser).days, "-used": (*findParser).used,
	"-newer": (*findParser).newer, "-anewer": (*findParser).newer, "-cnewer": (*findParser).newer,
	"-printf": (*findParser).printf, "-fprint": (*findParser).fprint, "-fprint0": (*findParser).fprint,
	"-fls": (*findParser).fls, "-fprintf": (*findParser).fprintf,
	"-exec": (*findParser).exec, "-execdir": (*findParser).exec, "-ok": (*findParser).exec, "-okdir": (*findParser).exec,
}

// plainTest reads the tests without arguments.
func (p *findParser) plainTest(w string) (predicate, bool) {
	access := func(mask int) predicate {
		return func(e *findEntry) bool { return p.proc.Access(e.path, mask) == nil }
	}
	switch w {
	case "-true":
		return always, true
	case "-false":
		return func(*findEntry) bool { return false }, true
	case "-empty":
		return p.empty, true
	case "-readable":
		return access(vfs.MayRead), true
	case "-writable":
		return access(vfs.MayWrite), true
	case "-executable":
		return access(vfs.MayExec), true
	case "-nouser":
		return func(e *findEntry) bool {
			if !e.stat() {
				return false
			}
			_, ok := accounts.ByID(p.accounts.AllUsers(), e.info.UID)
			return !ok
		}, true
	case "-nogroup":
		return func(e *findEntry) bool {
			if !e.stat() {
				return false
			}
			_, ok := accounts.ByID(p.accounts.AllGroups(), e.info.GID)
			return !ok
		}, true
	}
	return nil, false
}

func (p *findParser) empty(e *findEntry) bool {
	if e.mode.IsDir() {
		entries, err := p.proc.ReadDir(e.path)
		if err != nil {
			p.fail(e.path, err)
			return false
		}
		return len(entries) == 0
	}
	return e.mode.IsRegular() && e.stat() && e.info.Size == 0
}

func foldFlag(w string) fnmatch.Flags {
	if strings.HasPrefix(w, "-i") {
		return fnmatch.Fold
	}
	return 0
}

func (p *findParser) name(w, pattern string) predicate {
	if strings.Contains(pattern, "/") && strings.Trim(pattern, "/") != "" && p.warnings {
		alternative := map[string]string{"-name": "-wholename", "-iname": "-iwholename"}[w]
		p.proc.Warn("warning: %s matches against basenames only, but the given pattern contains a directory separator (%s), thus "+
			"the expression will evaluate to false all the time.  Did you mean %s?", quoting.Name(w), "'/'", quoting.Name(alternative))
	}
	flags := foldFlag(w)
	if plain := flags == 0 && !strings.ContainsAny(pattern, `*?[\`); plain {
		return func(e *findEntry) bool { return e.name() == pattern }
	}
	return func(e *findEntry) bool { return fnmatch.Match(pattern, e.name(), flags) }
}

func (p *findParser) path(w, pattern string) predicate {
	flags := foldFlag(w)
	return func(e *findEntry) bool { return fnmatch.Match(pattern, e.path, flags) }
}

func (p *findParser) linkName(w, pattern string) predicate {
	flags := foldFlag(w)
	return func(e *findEntry) bool {
		if e.mode&fs.ModeSymlink == 0 {
			return false
		}
		target, err := p.proc.Readlink(e.path)
		return err == nil && fnmatch.Match(pattern, target, flags)
	}
}

func (p *findParser) regex(w, expression string) predicate {
	flags := p.syntax | regex.WholeLine
	if w == "-iregex" {
		flags |= regex.IgnoreCase
	}
	re, err := regex.Compile(expression, flags)
	if err != nil {
		p.fault("failed to compile regular expression '%s': %s", expression, err)
		return nil
	}
	m := re.Matcher(p.proc.Spend)
	return func(e *findEntry) bool { return m.Match([]byte(e.path)) }
}

// types reads -type f,d and -xtype.
func (p *findParser) types(w, list string) predicate {
	if list == "" {
		p.fault("Arguments to %s should contain at least one letter", w)
		return nil
	}
	seen := ""
	for i := 0; i < len(list); i += 2 {
		c := list[i]
		if strings.IndexByte("bcdflps", c) < 0 {
			if c == 'D' {
				p.fault("%s %c is not supported because Solaris doors are not supported on the platform find was compiled on.", w, c)
			} else {
				p.fault("Unknown argument to %s: %c", w, c)
			}
			return nil
		}
		if strings.IndexByte(seen, c) >= 0 {
			p.fault("Duplicate file type '%c' in the argument list to %s.", c, w)
			return nil
		}
		seen += string(c)
		if i+1 < len(list) && list[i+1] != ',' {
			p.fault("Must separate multiple arguments to %s using: ','", w)
			return nil
		}
		if i+2 == len(list) {
			p.fault("Last file type in list argument to %s is missing, i.e., list is ending on: ','", w)
			return nil
		}
	}
	is := func(m fs.FileMode) bool {
		c := filemode.TypeLetter(m)
		if c == '-' {
			c = 'f'
		}
		return strings.IndexByte(seen, c) >= 0
	}
	if w == "-type" {
		return func(e *findEntry) bool { return is(e.mode) }
	}
	return func(e *findEntry) bool {
		m, ok := p.otherMode(e)
		return ok && is(m)
	}
}

// otherMode is the type of a file for -xtype: through links where -type does not look through
// them, and the other way round.
func (p *findParser) otherMode(e *findEntry) (fs.FileMode, bool) {
	if p.follow == 'L' {
		info, err := p.proc.Lstat(e.path)
		return info.Mode, err == nil
	}
	if e.mode&fs.ModeSymlink == 0 {
		return e.mode, true
	}
	info, err := p.proc.Stat(e.path)
	if err != nil {
		no := shell.Errno(err)
		if no == syscall.ENOENT || no == syscall.ENOTDIR {
			return fs.ModeSymlink, true
		}
		p.fail(e.path, err)
		return 0, false
	}
	return info.Mode, true
}

// comparison reads a number with + or - before it.
func comparison(arg string) (kind byte, rest string) {
	if arg != "" && (arg[0] == '+' || arg[0] == '-') {
		return arg[0], arg[1:]
	}
	return '=', arg
}

func compareNumber(kind byte, value, n uint64) bool {
	switch kind {
	case '+':
		return value > n
	case '-':
		return value < n
	}
	return value == n
}

func (p *findParser) number(w, arg string) predicate {
	kind, digits := comparison(arg)
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		p.fault("invalid argument `%s' to `%s'", arg, w)
		return nil
	}
	value := map[string]func(i *vfs.Info) uint64{
		"-uid":   func(i *vfs.Info) uint64 { return uint64(i.UID) },
		"-gid":   func(i *vfs.Info) uint64 { return uint64(i.GID) },
		"-links": func(i *vfs.Info) uint64 { return uint64(max(0, i.Nlink)) },
		"-inum":  func(i *vfs.Info) uint64 { return i.Ino },
	}[w]
	return func(e *findEntry) bool { return e.stat() && compareNumber(kind, value(&e.info), n) }
}

// size reads -size N[bcwkMG]: the size in units, rounded up.
func (p *findParser) size(w, arg string) predicate {
	if arg == "" {
		p.fault("invalid null argument to -size")
		return nil
	}
	unit := int64(512)
	digits := arg
	if last := arg[len(arg)-1]; !ascii.IsDigit(last) {
		units := map[byte]int64{'b': 512, 'c': 1, 'w': 2, 'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}
		var ok bool
		if unit, ok = units[last]; !ok {
			p.fault("invalid -size type `%c'", last)
			return nil
		}
		digits = arg[:len(arg)-1]
	}
	kind, digits := comparison(digits)
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		p.fault("Invalid argument `%s' to %s", arg, w)
		return nil
	}
	return func(e *findEntry) bool {
		return e.stat() && compareNumber(kind, uint64(max(0, sizes.CeilDiv(e.info.Size, unit))), n)
	}
}

// perm reads -perm MODE, -MODE (all of these bits) and /MODE (any of them).
func (p *findParser) perm(_, arg string) predicate {
	kind, text := byte('='), arg
	if arg != "" && (arg[0] == '-' || arg[0] == '/') {
		kind, text = arg[0], arg[1:]
	}
	change, ok := filemode.Parse(text)
	if !ok || arg != "" && arg[0] == '+' && len(arg) > 1 && ascii.IsDigit(arg[1]) {
		p.fault("invalid mode %s", quoting.Name(arg))
		return nil
	}
	file, _ := change.Apply(0, false, 0)
	dir, _ := change.Apply(0, true, 0)
	if kind == '/' && file == 0 && dir == 0 {
		p.proc.Warn("warning: you have specified a mode pattern %s (which is equivalent to /000). The meaning of -perm /000 has now "+
			"been changed to be consistent with -perm -000; that is, while it used to match no files, it now matches all files.", arg)
		kind = '-'
	}
	return func(e *findEntry) bool {
		if !e.stat() {
			return false
		}
		want, bits := file, filemode.Bits(e.info.Mode)
		if e.mode.IsDir() {
			want = dir
		}
		switch kind {
		case '-':
			return bits&want == want
		case '/':
			return bits&want != 0
		}
		return bits == want
	}
}

func (p *findParser) user(w, arg string) predicate {
	if arg == "" {
		p.fault("The argument to %s should not be empty", w)
		return nil
	}
	id, ok := p.accounts.UserID(arg)
	if !ok {
		p.fault("%s is not the name of a known user", quoting.Name(arg))
		return nil
	}
	return func(e *findEntry) bool { return e.stat() && e.info.UID == id }
}

func (p *findParser) group(w, arg string) predicate {
	if arg == "" {
		p.fault("argument to %s is empty, but should be a group name", w)
		return nil
	}
	id, ok := p.accounts.GroupID(arg)
	if !ok {
		p.fault("%s is not the name of an existing group", quoting.Name(arg))
		return nil
	}
	return func(e *findEntry) bool { return e.stat() && e.info.GID == id }
}

func (p *findParser) sameFile(_, arg string) predicate {
	info, err := p.look(arg, 0)
	if err != nil {
		p.fault("%s: %s", quoting.Name(arg), shell.Strerror(err))
		return nil
	}
	return func(e *findEntry) bool { return e.stat() && e.info.Ino == info.Ino }
}

func (p *findParser) fileSystem(_, arg string) predicate {
	return func(*findEntry) bool { return arg == filesystem.Type }
}

func (p *findParser) context(string, string) predicate {
	p.fault("invalid predicate -context: SELinux is not enabled.")
	return nil
}
