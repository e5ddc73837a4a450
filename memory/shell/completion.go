package shell

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/pattern"
	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

func writeFlags(appending bool) int {
	if appending {
		return os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	return os.O_WRONLY | os.O_CREATE | os.O_TRUNC
}

// runBindBuiltin only prints lists: the shell edits no lines.
func runBindBuiltin(sh *interp, _ []string) int {
	sh.errorf("bind: warning: line editing not enabled")
	return 0
}

// runCompleteBuiltin keeps specifications so that complete -p shows them again.
func runCompleteBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "abcdefgjksuvprDEIo:A:G:W:F:C:X:P:S:")
	if st >= 0 {
		return st
	}
	on := map[byte]bool{}
	for _, f := range list {
		on[f.c] = true
	}
	switch {
	case on['r']:
		m := map[string]string{}
		for k, v := range sh.specs {
			if len(rest) > 0 && !slices.Contains(rest, k) {
				m[k] = v
			}
		}
		sh.specs = m
		return 0
	case on['p'] || len(args) == 1:
		return printCompletions(sh, rest)
	}
	if len(rest) == 0 && !on['D'] && !on['E'] && !on['I'] {
		return sh.usage(sh.usageText(), "")
	}
	var spec strings.Builder
	for _, f := range list {
		spec.WriteString("-" + string(f.c) + " ")
		if strings.IndexByte("oAGWFCXPS", f.c) >= 0 {
			arg := f.arg
			if f.c == 'W' || f.c == 'G' || f.c == 'X' || f.c == 'P' || f.c == 'S' || f.c == 'C' {
				arg = sh.quoteShell(arg)
			}
			spec.WriteString(arg + " ")
		}
	}
	if !sh.keep(spec.String()) || !sh.spend(len(sh.specs)>>4) {
		return sh.status
	}
	m := map[string]string{}
	maps.Copy(m, sh.specs)
	for _, n := range rest {
		m[n] = spec.String()
	}
	sh.specs = m
	return 0
}

func printCompletions(sh *interp, names []string) int {
	if len(names) == 0 {
		for k := range sh.specs {
			names = append(names, k)
		}
		sortStrings(names)
	}
	st := 0
	var b strings.Builder
	for _, n := range names {
		s, ok := sh.specs[n]
		if !ok {
			st = sh.fail("%s: no completion specification", n)
			continue
		}
		b.WriteString("complete " + s + n + "\n")
	}
	return max(st, sh.outString(b.String()))
}

func runCompoptBuiltin(sh *interp, args []string) int {
	list, _, st := sh.parseOptions(args, "+o:DEI")
	if st >= 0 {
		return st
	}
	for _, f := range list {
		if f.c == 'o' && !strings.Contains(" bashdefault default dirnames filenames noquote nosort nospace plusdirs ", " "+f.arg+" ") {
			sh.fail("%s: invalid option name", f.arg)
			return 2
		}
	}
	return sh.fail("not currently executing completion function")
}

// runCompgenBuiltin lists the possible completions of a word.
func runCompgenBuiltin(sh *interp, args []string) int {
	list, rest, st := sh.parseOptions(args, "abcdefgjksuvo:A:G:W:F:C:X:P:S:V:")
	if st >= 0 {
		return st
	}
	word := ""
	if len(rest) > 0 {
		word = rest[0]
	}
	g := &generator{sh: sh, word: word}
	for _, f := range list {
		if st := g.option(f); st >= 0 {
			return st
		}
	}
	out := g.filtered()
	if len(out) == 0 {
		return 1
	}
	var b strings.Builder
	for _, s := range out {
		b.WriteString(g.prefix + s + g.suffix + "\n")
	}
	return sh.outString(b.String())
}

// generator collects completions of a word.
type generator struct {
	sh     *interp
	word   string
	list   []string
	filter string
	prefix string
	suffix string
}

var compgenActions = map[byte]string{
	'a': "alias", 'b': "builtin", 'c': "command", 'd': "directory", 'e': "export", 'f': "file", 'g': "group",
	'j': "job", 'k': "keyword", 's': "service", 'u': "user", 'v': "variable",
}

func (g *generator) option(f flag) int {
	sh := g.sh
	switch f.c {
	case 'A':
		return g.action(f.arg)
	case 'W':
		if msg := unclosedWords(f.arg, sh.parseStep()); msg != "" {
			sh.errorf("%s", msg)
			sh.abort()
			return 1
		}
		w := sh.textWord(f.arg)
		base := len(sh.stack)
		b := sh.builder()
		b.begin(forFields)
		b.split = true
		for _, p := range w.parts {
			p.expand(b, false)
		}
		if w.constant && len(w.parts) == 0 {
			b.expanded(w.lit)
		}
		b.end()
		sh.done(b)
		if sh.ctl == ctlAbort || sh.ctl == ctlExit && sh.subshell > 0 {
			sh.ctl = ctlNone
			sh.pop(base)
			return 1
		}
		g.add(sh.stack[base:])
		sh.pop(base)
	case 'G':
		g.list = append(g.list, sh.globNames(f.arg)...)
	case 'F':
		return g.function(f.arg)
	case 'C':
		sh.errorf("compgen: warning: -C option may not work as you expect")
		text := sh.substitute(&substPart{text: f.arg + " '' " + sh.quoteShell(g.word) + " ''", raw: true, line: sh.line})
		if !sh.hold(wordWeight * (len(text)/2 + 1)) {
			return sh.status
		}
		g.list = append(g.list, strings.Fields(text)...) // bounded: a word for two bytes is charged
	case 'X':
		g.filter = f.arg
	case 'P':
		g.prefix = f.arg
	case 'S':
		g.suffix = f.arg
	case 'o', 'V':
	default:
		return g.action(compgenActions[f.c])
	}
	return -1
}

// unclosedWords returns the unclosed construct in the text for -W, "" for none.
func unclosedWords(s string, step func(n, bytes int) bool) string {
	if _, err := syntax.Text(s, step); err == nil {
		return ""
	}
	for i := 0; i < len(s); i++ {
		switch rest := s[i:]; {
		case rest[0] == '\\':
			i++
		case rest[0] == '`':
			return "bad substitution: no closing \"`\" in " + rest
		case strings.HasPrefix(rest, "$(("):
			return "bad substitution: no closing `)' in " + rest
		case strings.HasPrefix(rest, "${"):
			return rest + ": bad substitution"
		}
	}
	return ""
}

// add takes those that begin with the word.
func (g *generator) add(list []string) {
	for _, s := range list {
		if strings.HasPrefix(s, g.word) {
			g.list = append(g.list, s)
		}
	}
}

func (g *generator) action(name string) int {
	sh := g.sh
	var names []string
	switch name {
	case "alias":
		names = append(names, sh.aliases.Names()...)
	case "builtin", "enabled", "helptopic":
		for n := range sh.m.lib.builtins {
			if name != "enabled" || !sh.disabled[n] {
				names = append(names, n)
			}
		}
	case "disabled":
		for n, off := range sh.disabled {
			if off {
				names = append(names, n)
			}
		}
	case "command":
		names = g.commands()
	case "directory", "file":
		g.files(name == "directory")
		return -1
	case "export", "variable", "arrayvar":
		for _, n := range sh.allNames() {
			c := sh.cell(sh.m.lib.symbols.known(n))
			if name == "export" && c.attr&attrExport == 0 || name == "arrayvar" && c.attr&(attrArray|attrAssoc) == 0 {
				continue
			}
			names = append(names, n)
		}
	case "function":
		for _, f := range sh.sortedFuncs() {
			names = append(names, f.name)
		}
	case "keyword":
		for n := range keywords {
			names = append(names, n)
		}
	case "shopt":
		names = append(names, shopt.Names...)
	case "setopt":
		for _, o := range option.Settings {
			names = append(names, o.Name)
		}
	case "signal":
		for n := 1; n <= signal.RTMAX; n++ {
			if s := signal.Name(n); s != "" {
				names = append(names, "SIG"+s)
			}
		}
	case "user":
		for line := range strings.SplitSeq(sh.readSmall("/etc/passwd"), "\n") {
			if n, _, ok := strings.Cut(line, ":"); ok {
				names = append(names, n) // bounded: by a small file
			}
		}
	case "group":
		for line := range strings.SplitSeq(sh.readSmall("/etc/group"), "\n") {
			if n, _, ok := strings.Cut(line, ":"); ok {
				names = append(names, n) // bounded: by a small file
			}
		}
	case "hostname":
		names = []string{sh.m.hostname}
	case "job", "running", "stopped":
		for _, j := range sh.jobsOf().Live() {
			n, _, _ := strings.Cut(j.Text, " ")
			names = append(names, n)
		}
	case "binding", "service":
	default:
		sh.fail("%s: invalid action name", name)
		return 2
	}
	sortStrings(names)
	g.add(names)
	return -1
}

// commands are all names that could begin a command.
func (g *generator) commands() []string {
	sh := g.sh
	seen := map[string]bool{}
	for _, n := range sh.aliases.Names() {
		seen[n] = true
	}
	for n := range keywords {
		seen[n] = true
	}
	for n := range sh.m.lib.builtins {
		seen[n] = true
	}
	for _, f := range sh.sortedFuncs() {
		seen[f.name] = true
	}
	for n := range sh.m.programs.Load().byName {
		seen[n] = true
	}
	for dir := range strings.SplitSeq(sh.get(slotPATH), ":") {
		entries, err := sh.m.fs.ReadDir(sh.cred, sh.abs(orDot(dir)))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.Mode.IsRegular() && !seen[e.Name] {
				if !sh.hold(nameWeight) {
					return nil
				}
				seen[e.Name] = true // bounded: charged above
			}
		}
	}
	names := make([]string, 0, len(seen))
	for n := range seen {
		names = append(names, n)
	}
	return names
}

func (g *generator) files(dirs bool) {
	sh := g.sh
	dir, base := "", g.word
	if i := strings.LastIndexByte(g.word, '/'); i >= 0 {
		dir, base = g.word[:i+1], g.word[i+1:]
	}
	entries, err := sh.m.fs.ReadDir(sh.cred, sh.abs(orDot(dir)))
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name, base) && (e.Name[0] != '.' || strings.HasPrefix(base, ".")) && (!dirs || e.Mode.IsDir()) {
			g.list = append(g.list, dir+e.Name)
		}
	}
}

// function runs a completion function and takes COMPREPLY.
func (g *generator) function(name string) int {
	sh := g.sh
	fn := sh.namedFunction(name)
	if fn == nil {
		sh.errorf("compgen: warning: -F option may not work as you expect")
		return sh.fail("%s: function not found", name)
	}
	sh.errorf("compgen: warning: -F option may not work as you expect")
	sym := sh.m.lib.symbols
	for name, value := range map[string]string{"COMP_CWORD": "-1", "COMP_LINE": "", "COMP_POINT": "0"} {
		sh.assign(sym.slot(name), value)
	}
	sh.setList(sym.slot("COMP_WORDS"), []string{})
	sh.call(fn, []string{name, "compgen", g.word, ""})
	if sh.ctl != ctlNone {
		return sh.status
	}
	if slot := sh.m.lib.symbols.known("COMPREPLY"); slot >= 0 {
		g.list = append(g.list, sh.elements(slot)...)
	}
	return -1
}

// filtered removes the words that match -X; with "!" at its beginning, those that do not.
func (g *generator) filtered() []string {
	if g.filter == "" {
		return g.list
	}
	text, not := strings.CutPrefix(g.filter, "!")
	pat := g.sh.patternOf(strings.ReplaceAll(text, "&", pattern.Escape(g.word)), g.sh.patternFlags())
	return slices.DeleteFunc(g.list, func(s string) bool { return pat.Match(work{g.sh}, s) != not })
}
