package shell

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// directories is the stack of pushd and popd. The working directory, which the execution has, is on top of it.
type directories struct {
	dirStack []string // without the working directory
}

// runCdBuiltin changes the directory.
func runCdBuiltin(sh *interp, args []string) int {
	if sh.isRestricted() {
		return sh.fail("restricted")
	}
	list, rest, st := sh.parseOptions(args, "LPe@")
	if st >= 0 {
		return st
	}
	physical := sh.opt&option.Physical != 0
	for _, f := range list {
		switch f.c {
		case 'L':
			physical = false
		case 'P':
			physical = true
		}
	}
	if len(rest) > 1 {
		return sh.fail("too many arguments")
	}
	dir, show := "", false
	switch {
	case len(rest) == 0:
		home, ok := sh.value(slotHOME)
		if !ok {
			return sh.fail("HOME not set")
		}
		if dir = home; dir == "" {
			return 0
		}
	case rest[0] == "-":
		old, ok := sh.value(slotOLDPWD)
		if !ok {
			return sh.fail("OLDPWD not set")
		}
		dir, show = old, true
	case rest[0] == "":
		return sh.changeDir(sh.dir, "", false)
	default:
		dir = rest[0]
	}
	if st := changeDirAlongPath(sh, dir, physical, show); st >= 0 {
		return st
	}
	err := sh.tryDir(dir, physical)
	if err == nil {
		if show {
			return sh.outString(sh.get(slotPWD) + "\n")
		}
		return 0
	}
	if sh.shopt&shopt.CDableVars != 0 && len(rest) > 0 && isName(rest[0]) {
		if v := sh.namedValue(rest[0]); v != "" && sh.tryDir(v, physical) == nil {
			return sh.outString(v + "\n")
		}
	}
	return sh.fail("%s: %s", dir, Strerror(err))
}

// changeDirAlongPath tries the directories of CDPATH; -1 when none has it.
func changeDirAlongPath(sh *interp, dir string, physical, show bool) int {
	if dir == "" || dir[0] == '/' || dir == "." || dir == ".." || strings.HasPrefix(dir, "./") || strings.HasPrefix(dir, "../") || show {
		return -1
	}
	list, ok := sh.value(slotCDPATH)
	if !ok {
		return -1
	}
	for base := range strings.SplitSeq(list, ":") {
		full := dir
		if base != "" && base != "." {
			full = strings.TrimSuffix(base, "/") + "/" + dir
		}
		if sh.tryDir(full, physical) == nil {
			if base != "" {
				return sh.outString(sh.get(slotPWD) + "\n")
			}
			return 0
		}
	}
	return -1
}

// tryDir makes dir the working directory.
func (sh *interp) tryDir(dir string, physical bool) error {
	if dir == "" {
		return syscall.ENOENT
	}
	full := dir
	if dir[0] != '/' {
		full = strings.TrimSuffix(sh.dir, "/") + "/" + dir
	}
	info, err := sh.m.fs.Stat(sh.cred, full)
	logical := cleanPath(full)
	if err != nil {
		// "cd .." from a directory that has been removed goes by its name.
		if info, err = sh.m.fs.Stat(sh.cred, logical); err != nil || !strings.Contains(dir, "..") {
			if err == nil {
				_, err = sh.m.fs.Stat(sh.cred, full)
			}
			return err
		}
	}
	if !info.Mode.IsDir() {
		return syscall.ENOTDIR
	}
	if err := sh.m.fs.Access(sh.cred, full, 1); err != nil {
		return err
	}
	target := logical
	if physical {
		if target, err = sh.m.fs.Realpath(sh.cred, full); err != nil {
			return err
		}
	} else if other, err := sh.m.fs.Stat(sh.cred, logical); err != nil || !other.Mode.IsDir() {
		// The directory does not exist by name; it exists when links are followed.
		if target, err = sh.m.fs.Realpath(sh.cred, full); err != nil {
			return err
		}
	}
	sh.changeDir(target, target, true)
	return nil
}

// changeDir records the new directory in PWD and OLDPWD.
func (sh *interp) changeDir(dir, pwd string, set bool) int {
	if set {
		if strings.HasPrefix(dir, "/proc/") { // Names there mean something else to others, and later.
			if at, err := sh.m.fs.Realpath(sh.cred, dir); err == nil {
				dir = at
			}
		}
		sh.dir = dir
		sh.showDir()
	} else {
		pwd = sh.dir
	}
	old := sh.get(slotPWD)
	sh.assignTo(place{slot: slotOLDPWD}, old, false)
	sh.assignTo(place{slot: slotPWD}, pwd, false)
	return 0
}

// cleanPath resolves "." and ".." by name alone, as the shell's logical directory does.
func cleanPath(p string) string {
	double := strings.HasPrefix(p, "//") && !strings.HasPrefix(p, "///")
	out := make([]byte, 0, len(p)+1) // Names with a slash before each.
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "", ".":
		case "..":
			out = out[:max(bytes.LastIndexByte(out, '/'), 0)]
		default:
			out = append(append(out, '/'), part...) // bounded: by the path
		}
	}
	s := cmp.Or(string(out), "/")
	if double {
		s = "/" + s
	}
	return s
}

func runPwdBuiltin(sh *interp, args []string) int {
	list, _, st := sh.parseOptions(args, "LP")
	if st >= 0 {
		return st
	}
	physical := sh.opt&option.Physical != 0
	for _, f := range list {
		physical = f.c == 'P'
	}
	dir := sh.dir
	if physical {
		real, err := sh.m.fs.Realpath(sh.cred, sh.dir)
		if err != nil {
			return sh.fail("error retrieving current directory: getcwd: cannot access parent directories: %s", Strerror(err))
		}
		dir = real
	}
	return sh.outString(dir + "\n")
}

// dirs is the stack of directories, the current one first.
func (sh *interp) dirs() []string { return append([]string{sh.dir}, sh.dirStack...) }

// short writes a directory with ~ for HOME.
func (v *settings) short(dir string) string {
	home := v.get(slotHOME)
	if home != "" && home != "/" && (dir == home || strings.HasPrefix(dir, home+"/")) {
		return "~" + dir[len(home):]
	}
	return dir
}

func runDirsBuiltin(sh *interp, args []string) int {
	long, lines, verbose := false, false, false
	pick := -1
	for _, a := range args[1:] {
		switch a {
		case "-c":
			sh.dirStack = nil
			return 0
		case "-l":
			long = true
		case "-p":
			lines = true
		case "-v":
			lines, verbose = true, true
		case "--help":
			return sh.helpText(args[0])
		case "--":
		default:
			n, err := strconv.Atoi(strings.TrimLeft(a, "+-"))
			if err != nil || a[0] != '+' && a[0] != '-' {
				if a != "" && a[0] == '-' {
					sh.fail("%s: invalid number", a)
					sh.errorRaw("dirs: usage: " + sh.usageText() + "\n")
					return 2
				}
				sh.usage(sh.usageText(), "%s: invalid option", a)
				return 2
			}
			if a[0] == '-' {
				n = len(sh.dirStack) - n
			}
			if len(sh.dirStack) == 0 && n != 0 {
				return sh.fail("directory stack empty")
			}
			if n < 0 || n > len(sh.dirStack) {
				return sh.fail("%s: directory stack index out of range", strings.TrimPrefix(a, "+"))
			}
			pick = n
		}
	}
	var b strings.Builder
	for i, d := range sh.dirs() {
		if pick >= 0 && i != pick {
			continue
		}
		if !long {
			d = sh.short(d)
		}
		switch {
		case verbose:
			s := itoa(i)
			b.WriteString(strings.Repeat(" ", max(0, 2-len(s))) + s + "  " + d + "\n")
		case lines:
			b.WriteString(d + "\n")
		default:
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(d)
		}
	}
	if !lines {
		b.WriteByte('\n')
	}
	return sh.outString(b.String())
}

// stackArg reads +N and -N; n is an index into dirs.
func (d *directories) stackArg(a string) (n int, isIndex, ok bool) {
	if len(a) < 2 || a[0] != '+' && a[0] != '-' {
		return 0, false, true
	}
	n, err := strconv.Atoi(a[1:])
	if err != nil {
		return 0, false, false
	}
	if a[0] == '-' {
		n = len(d.dirStack) - n
	}
	return n, true, n >= 0 && n <= len(d.dirStack)
}

func runPushdBuiltin(sh *interp, args []string) int {
	if sh.isRestricted() {
		return sh.fail("restricted")
	}
	args = args[1:]
	stay := false
	for len(args) > 0 && (args[0] == "-n" || args[0] == "--") {
		stay = stay || args[0] == "-n"
		args = args[1:]
	}
	if len(args) > 1 {
		return sh.fail("too many arguments")
	}
	if len(args) == 0 {
		if stay {
			return 0
		}
		if len(sh.dirStack) == 0 {
			return sh.fail("no other directory")
		}
		old := sh.dir
		if err := sh.tryDir(sh.dirStack[0], false); err != nil {
			return sh.fail("%s: %s", sh.dirStack[0], Strerror(err))
		}
		sh.dirStack = append([]string{old}, sh.dirStack[1:]...)
		return runDirsBuiltin(sh, []string{"dirs"})
	}
	n, index, ok := sh.stackArg(args[0])
	if !ok {
		if !index && args[0][0] == '-' {
			return sh.usage(sh.usageText(), "%s: invalid number", args[0])
		}
		if len(sh.dirStack) == 0 {
			return sh.fail("directory stack empty")
		}
		return sh.fail("%s: directory stack index out of range", args[0])
	}
	if index {
		all := sh.dirs()
		all = append(append([]string(nil), all[n:]...), all[:n]...)
		if err := sh.tryDir(all[0], false); err != nil {
			return sh.fail("%s: %s", all[0], Strerror(err))
		}
		sh.dirStack = all[1:]
		return runDirsBuiltin(sh, []string{"dirs"})
	}
	if stay {
		if !sh.keep(args[0]) || !sh.spend(len(sh.dirStack)>>4) {
			return sh.status
		}
		sh.dirStack = append([]string{args[0]}, sh.dirStack...)
		return runDirsBuiltin(sh, []string{"dirs"})
	}
	old := sh.dir
	dir := args[0]
	if dir == "-" {
		dir = sh.get(slotOLDPWD)
	}
	if err := sh.tryDir(dir, false); err != nil {
		return sh.fail("%s: %s", args[0], Strerror(err))
	}
	if !sh.keep(old) || !sh.spend(len(sh.dirStack)>>4) {
		return sh.status
	}
	sh.dirStack = append([]string{old}, sh.dirStack...)
	return runDirsBuiltin(sh, []string{"dirs"})
}

func runPopdBuiltin(sh *interp, args []string) int {
	args = args[1:]
	stay := false
	for len(args) > 0 && (args[0] == "-n" || args[0] == "--") {
		stay = stay || args[0] == "-n"
		args = args[1:]
	}
	n := 0
	if len(args) > 0 {
		if len(args) > 1 {
			return sh.fail("too many arguments")
		}
		i, index, ok := sh.stackArg(args[0])
		if !index {
			if args[0] != "" && args[0][0] == '-' {
				return sh.usage(sh.usageText(), "%s: invalid number", args[0])
			}
			return sh.usage(sh.usageText(), "%s: invalid argument", args[0])
		}
		if !ok {
			if len(sh.dirStack) == 0 {
				return sh.fail("directory stack empty")
			}
			return sh.fail("%s: directory stack index out of range", args[0])
		}
		n = i
	}
	if len(sh.dirStack) == 0 {
		return sh.fail("directory stack empty")
	}
	if n == 0 && !stay {
		if sh.isRestricted() {
			return sh.fail("restricted")
		}
		if err := sh.tryDir(sh.dirStack[0], false); err != nil {
			return sh.fail("%s: %s", sh.dirStack[0], Strerror(err))
		}
		sh.dirStack = append([]string(nil), sh.dirStack[1:]...)
		return runDirsBuiltin(sh, []string{"dirs"})
	}
	if n == 0 {
		n = 1
	}
	sh.dirStack = append(append([]string(nil), sh.dirStack[:n-1]...), sh.dirStack[n:]...)
	return runDirsBuiltin(sh, []string{"dirs"})
}
