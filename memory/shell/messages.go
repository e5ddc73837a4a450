package shell

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/char"
	"github.com/seed434b0696/agent-sandbox/internal/memory/quote"
	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/option"
	"github.com/seed434b0696/agent-sandbox/memory/shell/internal/shopt"
)

// messageName returns the first word of messages: the script, or $0.
func (ex *execution) messageName() string {
	if s := ex.currentSource(); s != "" && ex.opt&option.Interactive == 0 {
		return s
	}
	return ex.name
}

// errorf writes a message of the shell to descriptor 2: "bash: line 3: text".
func (ex *execution) errorf(format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	prefix := ex.messageName() + ": "
	if ex.opt&option.Interactive == 0 {
		prefix += "line " + itoa(ex.line) + ": "
	}
	ex.errorRaw(prefix + msg + "\n")
}

// fail writes a message of the running builtin: "bash: line 3: cd: text". It returns 1.
func (ex *execution) fail(format string, args ...any) int {
	ex.errorf("%s: %s", ex.builtinName, fmt.Sprintf(format, args...))
	return 1
}

// usage writes a message about wrong use and how it is right. It returns 2.
func (ex *execution) usage(usage, format string, args ...any) int {
	if format != "" {
		ex.fail(format, args...)
	}
	ex.errorRaw(ex.builtinName + ": usage: " + usage + "\n")
	return 2
}

// errorRaw writes to descriptor 2; that it cannot has no consequence.
func (t *descriptors) errorRaw(s string) {
	if d := t.fds.Get(2); d != nil {
		_, _ = d.Write(t.ctx, []byte(s))
	}
}

// arithMessage writes the message for a wrong expression.
func (ex *execution) arithMessage(err *arithError) {
	prefix := ""
	if ex.builtinName != "" && !err.fatal {
		prefix = ex.builtinName + ": "
	}
	ex.errorf("%s%s", prefix, err.Error())
}

// out writes to descriptor 1 for a builtin and returns its status: that of success, or the one that a
// failed write asks for.
func (sh *interp) out(b []byte) int {
	d := sh.fds.Get(1)
	if d == nil {
		return sh.fail("write error: Bad file descriptor")
	}
	if len(b) == 0 {
		return 0
	}
	if len(b) > 64 {
		sh.gas -= len(b) >> 6
	}
	if _, err := d.Write(sh.ctx, b); err != nil {
		return sh.writeFailed(err)
	}
	return 0
}

func (sh *interp) outString(s string) int { return sh.out([]byte(s)) }

// writeFailed handles a failed write: without readers the process dies of SIGPIPE unless
// that is ignored.
func (sh *interp) writeFailed(err error) int {
	if sh.ctx.Err() != nil {
		sh.tickSlow()
		return sh.status
	}
	if strings.HasSuffix(Strerror(err), "Broken pipe") && sh.p.Ignored.Load()&(1<<signal.PIPE) == 0 {
		if !sh.traps.Owns(signal.PIPE) {
			sh.dieOf(signal.PIPE)
			return sh.status
		}
		sh.process().Send(signal.PIPE)
	}
	return sh.fail("write error: %s", Strerror(err))
}

// xtrace writes a line of set -x.
func (sh *interp) xtrace(s string) {
	if sh.opt&option.XTrace == 0 || sh.inXTrace {
		return
	}
	sh.inXTrace = true
	prefix := sh.tracePrefix()
	sh.inXTrace = false
	d := sh.fds.Get(2)
	if fd, ok := plainInt(sh.namedValue("BASH_XTRACEFD")); ok && sh.namedValue("BASH_XTRACEFD") != "" && sh.fds.Get(int(fd)) != nil {
		d = sh.fds.Get(int(fd))
	}
	if d != nil {
		_, _ = d.Write(sh.ctx, []byte(prefix+s+"\n")) // Losing a trace is not an error.
	}
}

// tracePrefix expands PS4; its first character is repeated for each level of evaluation.
func (e *expansion) tracePrefix() string {
	s, ok := e.sh.value(slotPS4)
	if !ok {
		return ""
	}
	saved := e.sh.captureState()
	text := e.expandNested(e.promptText(e.promptEscapes(s)), e.quotedText)
	e.sh.restoreState(saved)
	n := e.sh.evals
	if n > 0 && text != "" {
		_, w := char.Decode(text)
		text = strings.Repeat(text[:w], min(n, 100)) + text
	}
	return text
}

func (sh *interp) xtraceArgs(args []string) {
	q := make([]string, len(args))
	for i, a := range args {
		q[i] = quote.Trace(sh.locale(), a)
	}
	sh.xtrace(strings.Join(q, " "))
}

// promptText is text for the inside of double quotes, compiled.
func (e *expansion) promptText(s string) *word {
	if !strings.ContainsAny(s, "$`\\") {
		return &word{constant: true, lit: s, parts: []wpart{&quotedPart{s}}}
	}
	names := e.sh.m.lib.symbols.weight.Load()
	parsed, err := syntax.QuotedText(s, e.sh.parseStep())
	if err != nil {
		return &word{constant: true, lit: s, parts: []wpart{&quotedPart{s}}}
	}
	w := e.sh.m.lib.compileText(parsed)
	e.sh.chargeNames(names)
	return w
}

// prompt is ${x@P}: the escapes of prompts, then expansions.
func (e *expansion) prompt(s string) string {
	s = e.promptEscapes(s)
	if e.sh.shopt&shopt.PromptVars == 0 {
		return s
	}
	return e.expandNested(e.promptText(s), e.quotedText)
}

// promptEscapes replaces \u, \h, \w and similar escapes; their values are not expanded again.
func (e *expansion) promptEscapes(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if s[i] >= '0' && s[i] <= '7' {
			n := 0
			v := 0
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				v = v*8 + int(s[i+n]-'0')
				n++
			}
			b.WriteByte(byte(v))
			i += n - 1
			continue
		}
		if s[i] == 'D' && i+1 < len(s) && s[i+1] == '{' {
			if end := strings.IndexByte(s[i:], '}'); end > 0 {
				format := s[i+2 : i+end]
				if format == "" {
					format = "%X"
				}
				text, _ := strftime.FormatCWithin(format, e.sh.local(e.sh.m.now()), e.sh.textBudget)
				b.WriteString(text)
				i += end
				continue
			}
		}
		b.WriteString(e.promptEscape(s[i]))
	}
	return b.String()
}

func (e *expansion) promptEscape(c byte) string {
	now := e.sh.local(e.sh.m.now())
	switch c {
	case 'a':
		return "\a"
	case 'd':
		return strftime.FormatC("%a %b %d", now)
	case 'e':
		return "\x1b"
	case 'h':
		host, _, _ := strings.Cut(e.sh.m.hostname, ".")
		return host
	case 'H':
		return e.sh.m.hostname
	case 'j':
		return itoa(len(e.sh.jobsOf().Live()))
	case 'l':
		return "tty"
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 's':
		return e.sh.name[strings.LastIndexByte(e.sh.name, '/')+1:]
	case 't':
		return strftime.FormatC("%H:%M:%S", now)
	case 'T':
		return strftime.FormatC("%I:%M:%S", now)
	case '@':
		return strftime.FormatC("%I:%M %p", now)
	case 'A':
		return strftime.FormatC("%H:%M", now)
	case 'u':
		return e.sh.userName()
	case 'v':
		return "5.2"
	case 'V':
		return "5.2.15"
	case 'w', 'W':
		return e.sh.promptDir(c == 'W')
	case '!', '#':
		return itoa(e.sh.history.Len() + 1)
	case '$':
		if e.sh.cred.UID == 0 {
			return "#"
		}
		return "$"
	case '[', ']':
		return ""
	case '\\':
		return `\\`
	}
	return `\` + string(c)
}

func (v *settings) promptDir(base bool) string {
	dir, home := v.get(slotPWD), v.get(slotHOME)
	if home != "" && home != "/" && (dir == home || strings.HasPrefix(dir, home+"/")) {
		dir = "~" + dir[len(home):]
	}
	if base && dir != "/" && dir != "~" {
		dir = dir[strings.LastIndexByte(dir, '/')+1:]
	}
	return dir
}

// userName returns the user's name from the machine's /etc/passwd.
func (s *processState) userName() string {
	for line := range strings.SplitSeq(s.readSmall("/etc/passwd"), "\n") {
		if f := strings.Split(line, ":"); len(f) > 2 && f[2] == itoa(int(s.cred.UID)) { // bounded: by a small file
			return f[0]
		}
	}
	if s.cred.UID == 0 {
		return "root"
	}
	return "user"
}

// local returns the time in the zone of TZ; names of zones that are not known are UTC.
func (v *settings) local(t time.Time) time.Time {
	tz, ok := v.lookupEnv("TZ")
	if v.sh.m.zone == nil || !ok {
		return t.UTC()
	}
	if loc := v.sh.m.zone(tz); loc != nil {
		return t.In(loc)
	}
	return t.UTC()
}
