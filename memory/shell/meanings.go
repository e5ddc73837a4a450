package shell

import (
	"maps"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/alias"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/pathcache"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// keywords are the reserved words.
var keywords = map[string]bool{
	"if": true, "then": true, "else": true, "elif": true, "fi": true, "case": true, "esac": true, "for": true, "select": true,
	"while": true, "until": true, "do": true, "done": true, "in": true, "function": true, "time": true, "{": true, "}": true,
	"!": true, "[[": true, "]]": true, "coproc": true,
}

// commandNames maps names to commands, without functions. The cache of paths is that of one value of PATH.
type commandNames struct {
	aliases  alias.Table
	hash     pathcache.Cache
	disabled map[string]bool   // builtins that enable -n has turned off; never changed, only replaced
	specs    map[string]string // of complete
}

// meaning is one of the things that a name can mean.
type meaning struct {
	kind string // alias, keyword, function, builtin, file
	text string // of an alias or the path of a file
	fn   *function
	hash bool
}

// search selects the places in which a name is looked up.
type search struct {
	all      bool // find all meanings, not only the first
	noFuncs  bool // leave out functions
	onlyPath bool // look only in PATH
}

// meanings returns the meanings of a name, in the order in which the shell tries them.
func (sh *interp) meanings(name string, s search) []meaning {
	var list []meaning
	if !s.onlyPath {
		if text, ok := sh.aliases.Lookup(name); ok && sh.shopt&shopt.ExpandAliases != 0 {
			list = append(list, meaning{kind: "alias", text: text})
		}
		if keywords[name] {
			list = append(list, meaning{kind: "keyword"})
		}
		if f := sh.namedFunction(name); f != nil && !s.noFuncs {
			list = append(list, meaning{kind: "function", fn: f})
		}
		if sh.m.lib.builtins[name] != nil && !sh.disabled[name] {
			list = append(list, meaning{kind: "builtin"})
		}
	}
	if len(list) > 0 && !s.all {
		return list[:1]
	}
	if h := sh.hash.Lookup(name); h != nil && !s.all {
		return append(list, meaning{kind: "file", text: h.Path, hash: true})
	}
	for _, p := range sh.allPaths(name) {
		list = append(list, meaning{kind: "file", text: p})
		if !s.all {
			break
		}
	}
	return list
}

// allPaths returns where programs of the name are.
func (sh *interp) allPaths(name string) []string {
	if name == "" {
		return nil
	}
	if strings.Contains(name, "/") {
		if _, p, err := sh.programAt(name); err == nil {
			return []string{p}
		}
		return nil
	}
	var list []string
	for dir := range strings.SplitSeq(sh.get(slotPATH), ":") {
		clean := strings.TrimRight(dir, "/")
		if dir == "" {
			clean = "."
		}
		if c, p, err := sh.programAt(clean + "/" + name); err == nil {
			// Of the directories where registered commands appear, one is enough.
			if c != nil && len(list) > 0 {
				continue
			}
			if !sh.hold(2*wordWeight + len(p)) {
				return nil
			}
			list = append(list, p) // bounded: charged above
		}
	}
	return list
}

func runTypeBuiltin(sh *interp, args []string) int {
	// The old way to write the options.
	for i, a := range args {
		switch a {
		case "-type", "--type":
			args[i] = "-t"
		case "-path", "--path":
			args[i] = "-p"
		case "-all", "--all":
			args[i] = "-a"
		}
	}
	list, rest, st := sh.parseOptions(args, "afptP")
	if st >= 0 {
		return st
	}
	on := map[byte]bool{}
	for _, f := range list {
		on[f.c] = true
	}
	st = 0
	for _, name := range rest {
		found := sh.meanings(name, search{all: on['a'], noFuncs: on['f'], onlyPath: on['P']})
		if len(found) == 0 {
			st = 1
			if !on['t'] && !on['p'] && !on['P'] {
				sh.fail("%s: not found", name)
			}
			continue
		}
		if on['p'] && !on['a'] && found[0].kind != "file" {
			continue
		}
		for _, m := range found {
			if (on['p'] || on['P']) && m.kind != "file" {
				continue
			}
			if out := m.describe(name, on); out != "" {
				if s := sh.outString(out + "\n"); s != 0 {
					return s
				}
			}
		}
	}
	return st
}

// describe is a line of type.
func (m *meaning) describe(name string, on map[byte]bool) string {
	switch {
	case on['t']:
		return m.kind
	case on['p'] || on['P']:
		return m.text
	}
	switch m.kind {
	case "alias":
		return name + " is aliased to `" + m.text + "'"
	case "keyword":
		return name + " is a shell keyword"
	case "function":
		return name + " is a function\n" + m.fn.text()
	case "builtin":
		return name + " is a shell builtin"
	}
	if m.hash {
		return name + " is hashed (" + m.text + ")"
	}
	return name + " is " + m.text
}

// runCommandBuiltin is command: without functions, or -v and -V.
func runCommandBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "pvV")
	if st >= 0 {
		return st
	}
	path := false
	var about byte
	for _, f := range list {
		if f.c == 'p' {
			if path = true; sh.isRestricted() {
				return sh.fail("-p: restricted")
			}
		} else {
			about = f.c
		}
	}
	if about != 0 {
		return describeNames(sh, rest, about == 'V')
	}
	if len(rest) == 0 {
		return 0
	}
	if b := sh.m.lib.builtins[rest[0]]; b != nil && !sh.disabled[b.name] {
		sh.declArgs = shiftArgs(sh.declArgs, len(args)-len(rest))
		// "command" removes the special properties of special builtins.
		return sh.runBuiltin(b, rest)
	}
	if path {
		saved := sh.cell(slotPATH)
		c := &cell{epoch: sh.epoch, attr: attrExport}
		c.store("/usr/bin:/bin:/usr/sbin:/sbin")
		sh.put(slotPATH, c)
		defer sh.put(slotPATH, saved)
	}
	return sh.external(rest)
}

// shiftArgs renumbers assignments when words before them are gone.
func shiftArgs(m map[int]*assignCode, n int) map[int]*assignCode {
	if m == nil {
		return nil
	}
	out := make(map[int]*assignCode, len(m))
	for i, a := range m {
		out[i-n] = a
	}
	return out
}

func describeNames(sh *interp, names []string, long bool) int {
	st := min(len(names), 1)
	for _, name := range names {
		found := sh.meanings(name, search{})
		if len(found) == 0 {
			if long {
				sh.fail("%s: not found", name)
			}
			continue
		}
		st = 0
		m := found[0]
		out := name
		switch {
		case long:
			out = m.describe(name, map[byte]bool{})
		case m.kind == "alias":
			out = "alias " + name + "='" + strings.ReplaceAll(m.text, "'", `'\''`) + "'"
		case m.kind == "file":
			out = m.text
		}
		if s := sh.outString(out + "\n"); s != 0 {
			return s
		}
	}
	return st
}

func runBuiltinBuiltin(sh *interp, args []string) int {
	if len(args) > 1 && args[1] == "--help" {
		return sh.helpText(args[0])
	}
	skip := 1
	if len(args) > 1 && args[1] == "--" {
		skip = 2
	}
	rest := args[skip:]
	if len(rest) == 0 {
		return 0
	}
	b := sh.m.lib.builtins[rest[0]]
	if b == nil || sh.disabled[b.name] {
		return sh.fail("%s: not a shell builtin", rest[0])
	}
	sh.declArgs = shiftArgs(sh.declArgs, skip)
	return sh.runBuiltin(b, rest)
}

// runHashBuiltin remembers where programs are.
func runHashBuiltin(sh *interp, args []string) int {
	if !sh.hash.IsFor(sh.get(slotPATH)) {
		sh.hash.Clear()
	}
	list, rest, st := sh.parseOptions(args, "dlp:rt")
	if st >= 0 {
		return st
	}
	on := map[byte]bool{}
	path := ""
	for _, f := range list {
		on[f.c] = true
		if f.c == 'p' {
			if path = f.arg; sh.isRestricted() && strings.Contains(path, "/") {
				return sh.fail("%s: restricted", path)
			}
		}
	}
	if on['r'] {
		sh.hash.Clear()
	}
	if len(rest) == 0 {
		if on['r'] {
			return 0
		}
		return printHash(sh, on['l'])
	}
	st = 0
	for _, name := range rest {
		switch {
		case on['p']:
			sh.setHash(name, path, 0)
		case on['d']:
			if sh.hash.Lookup(name) == nil {
				st = sh.fail("%s: not found", name)
			}
			sh.setHash(name, "", 0)
		case on['t']:
			h := sh.hash.Lookup(name)
			if h == nil {
				st = sh.fail("%s: not found", name)
				continue
			}
			line := h.Path
			if len(rest) > 1 {
				line = name + "\t" + line
			}
			sh.outString(line + "\n")
		default:
			if sh.namedFunction(name) != nil || sh.m.lib.builtins[name] != nil || strings.Contains(name, "/") {
				continue
			}
			paths := sh.allPaths(name)
			if len(paths) == 0 {
				st = sh.fail("%s: not found", name)
				continue
			}
			sh.setHash(name, paths[0], 0)
		}
	}
	return st
}

// setHash enters the path of a program into the cache; an empty path removes the program.
func (sh *interp) setHash(name, path string, hits int) {
	sh.hash.SetPath(sh.get(slotPATH))
	if path == "" {
		sh.hash.Delete(name, sh.epoch)
	} else if len(path) < lightText || sh.keep(name, path) {
		sh.hash.Set(name, pathcache.Entry{Path: path, Hits: hits}, sh.epoch)
	}
}

func printHash(sh *interp, reusable bool) int {
	if sh.hash.Len() == 0 {
		sh.outString("hash: hash table empty\n")
		return 0
	}
	var b strings.Builder
	if !reusable {
		b.WriteString("hits\tcommand\n")
	}
	for _, n := range sh.hash.Names() {
		h := sh.hash.Lookup(n)
		if reusable {
			b.WriteString("builtin hash -p " + h.Path + " " + n + "\n")
			continue
		}
		s := itoa(h.Hits)
		b.WriteString(strings.Repeat(" ", max(0, 4-len(s))) + s + "\t" + h.Path + "\n")
	}
	return sh.outString(b.String())
}

func runAliasBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "p")
	if st >= 0 {
		return st
	}
	if len(rest) == 0 || len(list) > 0 {
		var b strings.Builder
		for _, n := range sh.aliases.Names() {
			text, _ := sh.aliases.Lookup(n)
			b.WriteString(sh.aliasLine(n, text))
		}
		if st := sh.outString(b.String()); st != 0 {
			return st
		}
	}
	st = 0
	for _, a := range rest {
		name, value, assign := strings.Cut(a, "=")
		if !assign || name == "" {
			s, ok := sh.aliases.Lookup(a)
			if !ok {
				st = sh.fail("%s: not found", a)
				continue
			}
			sh.outString(sh.aliasLine(a, s))
			continue
		}
		if strings.ContainsAny(name, " \t\n/$`=\\\"'|&;()<>") {
			st = sh.fail("`%s': invalid alias name", name)
			continue
		}
		if !sh.keep(name, value) {
			return sh.status
		}
		sh.aliases.Set(name, value)
	}
	return st
}

// aliasLine returns an alias as the builtin of that name prints it.
func (o *shellOptions) aliasLine(name, value string) string {
	dash := ""
	if strings.HasPrefix(name, "-") {
		dash = "-- "
	}
	word := "alias "
	if o.opt&option.Posix != 0 {
		word, dash = "", ""
	}
	return word + dash + name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'\n"
}

func runUnaliasBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "a")
	if st >= 0 {
		return st
	}
	if len(list) > 0 {
		sh.aliases.Clear()
		return 0
	}
	if len(rest) == 0 {
		return sh.usage(sh.usageText(), "")
	}
	st = 0
	for _, a := range rest {
		if _, ok := sh.aliases.Lookup(a); !ok {
			st = sh.fail("%s: not found", a)
			continue
		}
		sh.aliases.Delete(a)
	}
	return st
}

func runEnableBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "adnpsf:")
	if st >= 0 {
		return st
	}
	on := map[byte]bool{}
	for _, f := range list {
		on[f.c] = true
	}
	if len(rest) == 0 || on['p'] {
		var b strings.Builder
		for _, bi := range builtinTable() {
			off := sh.disabled[bi.name]
			if on['s'] && !bi.special || !on['a'] && off != on['n'] {
				continue
			}
			if off {
				b.WriteString("enable -n " + bi.name + "\n")
			} else {
				b.WriteString("enable " + bi.name + "\n")
			}
		}
		return sh.outString(b.String())
	}
	if sh.isRestricted() && (!on['n'] || on['f']) {
		return sh.fail("restricted")
	}
	st = 0
	for _, name := range rest {
		if sh.m.lib.builtins[name] == nil {
			st = sh.fail("%s: not a shell builtin", name)
			continue
		}
		m := make(map[string]bool, len(sh.disabled)+1)
		maps.Copy(m, sh.disabled)
		m[name] = on['n']
		sh.disabled = m
	}
	return st
}

// helpText is --help of a builtin. It returns 2, as bash does.
func (sh *interp) helpText(name string) int {
	if b := sh.m.lib.builtins[name]; b != nil {
		sh.outString(b.name + ": " + strings.TrimSpace(b.usage) + "\n    " + b.about + "\n")
	}
	return 2
}
