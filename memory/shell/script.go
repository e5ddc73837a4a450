package shell

import (
	"fmt"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// unitKey names a source and what its reading depends on.
type unitKey struct {
	src   string
	line  int
	flags parseFlags
}

// parseFlags are the options that change how a script is read.
type parseFlags uint8

const (
	parseExtGlob parseFlags = 1 << iota
	parseAliases            // there are aliases: nothing of it is kept
)

// script is a source with the commands that have been read of it.
type script struct {
	mu     sync.Mutex
	lib    *library
	parser *syntax.Parser
	units  []*unit
	nodes  int  // of all units
	kept   bool // by the library
	ended  bool // a process that had no more memory or time stopped reading
}

// unit is a complete command of a script.
type unit struct {
	run   command
	err   *syntax.Error
	warn  []syntax.Unended
	start int
	src   string // its text
	line  int
	ends  bool // the end of the script
	nodes int
}

// script returns the source for the key, new or as it was read before.
func (l *library) script(k unitKey) *script {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.units[k]
	if s == nil {
		ext := k.flags&parseExtGlob != 0
		s = &script{lib: l, parser: syntax.NewParser(k.src, syntax.Options{ExtGlob: func() bool { return ext }, Line: k.line})}
		l.room(len(k.src) + 256)
		if len(k.src) < maxUnits/4 {
			s.kept = true
			l.units[k] = s
		}
	}
	return s
}

// room forgets all scripts when those that are kept would become too much by size. Under l.mu.
func (l *library) room(size int) {
	if l.unitSize += size; l.unitSize > maxUnits {
		clear(l.units)
		l.unitSize = size
	}
}

// grow counts what a script has become by reading on. Under s.mu.
func (s *script) grow(k unitKey, u *unit) {
	s.nodes += u.nodes
	s.ended = u.err != nil && u.err.Stopped
	if !s.kept {
		return
	}
	s.lib.mu.Lock()
	defer s.lib.mu.Unlock()
	s.lib.room(u.nodes * nodeWeight)
	if s.ended || len(k.src)+s.nodes*nodeWeight > maxUnits/4 {
		s.kept = false
		delete(s.lib.units, k)
	}
}

// unit returns the i-th command of a script, reading up to it; nil when another process
// that was reading it had to stop.
func (sh *interp) unit(k unitKey, s *script, i int) *unit {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i >= len(s.units) {
		if s.ended {
			return nil
		}
		u := sh.readUnit(s.parser)
		if s.grow(k, u); s.ended {
			return u
		}
		s.units = append(s.units, u)
	}
	return s.units[i]
}

// nodeWeight is about how many bytes a node of the tree takes with the closures made of it.
const nodeWeight = 400

// readUnit reads and compiles the next command. Its memory is held by the command that reads.
func (sh *interp) readUnit(p *syntax.Parser) *unit {
	names := sh.m.lib.symbols.weight.Load()
	n := 0
	p.Step = func(nodes, bytes int) bool {
		n += nodes
		return sh.hold(nodes*nodeWeight+bytes) && sh.spend(nodes)
	}
	u := sh.m.lib.read(p)
	p.Step = nil
	u.nodes = n
	sh.tellNames(names)
	return u
}

// tellNames charges for names that have become known since their weight was as much.
func (sh *interp) tellNames(before int64) {
	if n := int(sh.m.lib.symbols.weight.Load() - before); n > 0 && !sh.m.take(n) {
		sh.noMemory(n)
	}
}

// read reads and compiles the next command.
func (l *library) read(p *syntax.Parser) *unit {
	u := &unit{}
	u.start, u.line = p.Pos()
	list, err := p.Next()
	u.src, u.warn = p.Since(u.start), p.Unended()
	if err != nil {
		// Next has no other errors.
		u.err, _ = err.(*syntax.Error) //nolint:errorlint // Not wrapped.
		return u
	}
	if list == nil {
		u.ends = true
		return u
	}
	u.run = (&compiler{lib: l}).list(list)
	return u
}

func (sh *interp) parseFlags() parseFlags {
	var f parseFlags
	if sh.shopt&shExtGlob != 0 {
		f = parseExtGlob
	}
	if sh.shopt&shExpandAliases != 0 && len(sh.aliases) > 0 {
		f |= parseAliases
	}
	return f
}

// runText runs a script command by command; what names it in messages of the parser: "-c", "eval".
func (sh *interp) runText(src string, line int, what string) int {
	flags := sh.parseFlags()
	if int64(len(src)) > sh.m.limits.Source {
		sh.m.meet(ErrSource)
		sh.errorf("script too large")
		return sh.exit(2)
	}
	if flags&parseAliases != 0 {
		return sh.runParser(sh.parser(src, line, nil), what)
	}
	held := sh.held
	defer func() { sh.letGo(held) }()
	k := unitKey{src, line, flags}
	s := sh.m.lib.script(k)
	ran, at := false, 0
	for i := 0; ; i++ {
		u := sh.unit(k, s, i)
		if u == nil {
			return sh.runParser(sh.parser(src[at:], line+strings.Count(src[:at], "\n"), nil), what)
		}
		at = u.start + len(u.src)
		if i > 0 && sh.parseFlags() != flags { // From here on it reads differently.
			return sh.runParser(sh.parser(src[u.start:], u.line, nil), what)
		}
		if u.ends {
			if !ran {
				sh.status = 0
			}
			return sh.status
		}
		ran = true
		if !sh.runUnit(u, what) {
			return sh.status
		}
	}
}

// parser returns a parser that asks this process for its aliases and options.
func (sh *interp) parser(src string, line int, more func() (string, bool)) *syntax.Parser {
	return syntax.NewParser(src, syntax.Options{
		Alias: sh.alias, ExtGlob: func() bool { return sh.shopt&shExtGlob != 0 }, More: more, Line: line,
	})
}

// alias returns what an alias stands for.
func (sh *interp) alias(name string) (string, bool) {
	if sh.shopt&shExpandAliases == 0 {
		return "", false
	}
	s, ok := sh.aliases[name]
	return s, ok
}

// runParser runs what the parser reads.
func (sh *interp) runParser(p *syntax.Parser, what string) int {
	ran := false
	for {
		held := sh.held
		u := sh.readUnit(p)
		if u.ends {
			if !ran {
				sh.status = 0
			}
			return sh.status
		}
		ran = true
		goOn := sh.runUnit(u, what)
		if sh.letGo(held); !goOn {
			return sh.status
		}
	}
}

// runUnit runs one command of a script; false: the script is over.
func (sh *interp) runUnit(u *unit, what string) bool {
	if sh.opt&optVerbose != 0 && u.src != "" && !sh.echoed {
		sh.errorRaw(strings.TrimSuffix(u.src, "\n") + "\n")
	}
	if u.err != nil && u.err.Stopped {
		if sh.ctl == ctlNone {
			sh.exit(2)
		}
		return false
	}
	for _, w := range u.warn {
		sh.errorRaw(fmt.Sprintf("%s: line %d: warning: here-document at line %d delimited by end-of-file (wanted `%s')\n",
			sh.messageName(), w.Line, w.Start, w.Delim))
	}
	if u.err != nil {
		sh.syntaxError(u.err, what)
		return u.err.Goes
	}
	if sh.opt&optNoExec != 0 && sh.opt&optInteractive == 0 {
		return true
	}
	if sh.opt&optHistory != 0 {
		sh.remember(u.src)
	}
	u.run(sh)
	switch sh.ctl {
	case ctlNone:
		return true
	case ctlAbort:
		sh.ctl = ctlNone
		sh.noErrExit = sh.unitBase
		sh.loops = 0
		return true
	default:
	}
	return false
}

// syntaxError tells what is wrong with a script.
func (sh *interp) syntaxError(e *syntax.Error, what string) {
	switch {
	case e.Status != 0:
		sh.status = e.Status
	case what == "eval" || what == "source":
		sh.status = 2
	}
	name := sh.messageName()
	if what != "" {
		name += ": " + what
	}
	prefix := name + ": line " + itoa(e.Line) + ": "
	if e.Msg == "" { // Some errors end a script without a word.
		return
	}
	var msg strings.Builder
	msg.WriteString(prefix + e.Msg + "\n")
	for _, m := range e.Then {
		msg.WriteString(name + ": line " + itoa(m.Line) + ": " + m.Msg + "\n")
	}
	if e.Source != "" {
		source := e.Source
		if what != "" && e.AtEnd && strings.HasSuffix(source, "\\") { // As bash reads on behind it.
			source += "\\"
		}
		msg.WriteString(prefix + "`" + source + "'\n")
	}
	sh.errorRaw(msg.String())
}

// evalText is eval and what works like it.
func (sh *interp) evalText(src string, line int, what string) int {
	if !sh.deeper("eval") {
		return sh.status
	}
	base, loops := sh.unitBase, sh.loops
	sh.unitBase = sh.noErrExit
	sh.status = 0
	st := sh.runText(src, line, what)
	sh.unitBase = base
	sh.loops = loops
	sh.depth--
	return st
}

// trapText returns what the parser's messages call the commands of a trap.
func trapText(n int) string {
	switch n {
	case trapExit:
		return "exit trap"
	case trapDebug:
		return "debug trap"
	case trapErr:
		return "error trap"
	case trapReturn:
		return "return trap"
	}
	return "trap"
}

// evalTrap runs the commands of a trap.
func (sh *interp) evalTrap(n int, src string) {
	line := sh.line
	if n == trapExit || n > 0 && n <= signal.RTMAX {
		line = 1
	}
	status := sh.status
	if !sh.deeper("trap") {
		return
	}
	base := sh.unitBase
	sh.unitBase = sh.noErrExit
	sh.status = status
	sh.runText(src, line, trapText(n))
	sh.unitBase = base
	sh.depth--
}
