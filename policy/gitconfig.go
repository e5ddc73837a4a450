package policy

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxGitFile bounds what is read of a file that a hostile repository may have made.
const maxGitFile = 1 << 20

// maxIncludes bounds how deep configuration files include each other, as git does.
const maxIncludes = 10

// gitVar is one variable of a git configuration file.
type gitVar struct {
	key   string // section.name or section.subsection.name; section and name in lower case
	value string
	file  string // where it stands
}

// hookNames are the hooks of githooks(5), for a core.hooksPath that is a whole
// checkout and cannot be protected as one directory.
var hookNames = []string{
	"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
	"commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update",
	"proc-receive", "post-receive", "post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc",
	"post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change",
}

// gitConfig reads a configuration file and what it includes, whatever the
// condition, and shields what is included.
func (f *filesystem) gitConfig(file string) []gitVar { return f.gitConfigAt(file, 0) }

func (f *filesystem) gitConfigAt(file string, level int) []gitVar {
	vars := parseGitConfig(readSmall(file))
	out := make([]gitVar, 0, len(vars))
	for _, v := range vars {
		v.file = file
		out = append(out, v)
		included := v.key == "include.path" || strings.HasPrefix(v.key, "includeif.") && strings.HasSuffix(v.key, ".path")
		if !included || level >= maxIncludes {
			continue
		}
		if path := f.gitPath(v.value, filepath.Dir(file)); path != "" {
			f.protectPath(path, "@git")
			out = append(out, f.gitConfigAt(path, level+1)...)
		}
	}
	return out
}

// globalGitConfig reads the user's and the machine's configuration.
func (f *filesystem) globalGitConfig() []gitVar {
	files := []string{"/etc/gitconfig"}
	if f.home != "" {
		base := f.env["XDG_CONFIG_HOME"]
		if !filepath.IsAbs(base) {
			base = filepath.Join(f.home, ".config")
		}
		files = append(files, filepath.Join(base, "git", "config"), filepath.Join(f.home, ".gitconfig"))
	}
	if file := f.env["GIT_CONFIG_GLOBAL"]; filepath.IsAbs(file) {
		files = append(files, file)
		f.protectPath(file, "@git")
	}
	var out []gitVar
	for _, file := range files {
		out = append(out, f.gitConfig(file)...)
	}
	return out
}

// protectHooksPath shields the directory that core.hooksPath names. A relative one
// starts where hooks run: at the top of the checkout.
func (f *filesystem) protectHooksPath(v gitVar, root string) {
	if v.key != "core.hookspath" {
		return
	}
	path := f.gitPath(v.value, root)
	if path == "" {
		return
	}
	if dir := resolved("/", path); dir == "" || !within(root, dir) {
		f.protectPath(path, "@git")
		return
	}
	for _, name := range hookNames {
		f.protectBelow("/", filepath.Join(path, name), "@git")
	}
}

// gitPath makes the value of a path variable absolute; "" when it stands for
// nothing that we know (~user, %(prefix)).
func (f *filesystem) gitPath(value, base string) string {
	value = strings.TrimPrefix(value, ":(optional)")
	switch {
	case value == "" || strings.HasPrefix(value, "%(prefix)"):
		return ""
	case value == "~" || strings.HasPrefix(value, "~/"):
		if f.home == "" {
			return ""
		}
		return f.home + value[1:]
	case filepath.IsAbs(value):
		return value
	}
	return base + "/" + value
}

// readSmall returns the start of a regular file, or nothing. It opens without
// blocking: a hostile tree may hold a FIFO where git expects a file.
func readSmall(path string) []byte {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(file, maxGitFile))
	if err != nil {
		return nil
	}
	return data
}

// parseGitConfig reads the variables of a configuration file in the syntax of
// git-config(1). It never fails: git itself stops at the first fault, and what
// stands before one counts.
func parseGitConfig(data []byte) []gitVar {
	p := gitParser{text: strings.TrimPrefix(string(data), "\ufeff")}
	for p.next() {
	}
	return p.vars
}

type gitParser struct {
	text    string
	pos     int
	section string
	vars    []gitVar
}

// next reads one section header, variable, comment or blank.
func (p *gitParser) next() bool {
	if p.pos >= len(p.text) {
		return false
	}
	switch p.text[p.pos] {
	case '[':
		return p.header()
	case '#', ';':
		p.line()
		return true
	case ' ', '\t', '\n', '\r':
		p.pos++
		return true
	}
	return p.variable()
}

// line skips the rest of a line.
func (p *gitParser) line() {
	for p.pos < len(p.text) && p.text[p.pos] != '\n' {
		p.pos++
	}
}

// header reads [section], [section "Sub section"] and the old [section.sub].
func (p *gitParser) header() bool {
	p.pos++
	start := p.pos
	for p.pos < len(p.text) && !strings.ContainsRune("]\" \t\n", rune(p.text[p.pos])) {
		p.pos++
	}
	p.section = strings.ToLower(p.text[start:p.pos])
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
	if p.pos < len(p.text) && p.text[p.pos] == '"' {
		p.pos++
		var sub strings.Builder
		for ; p.pos < len(p.text) && p.text[p.pos] != '"' && p.text[p.pos] != '\n'; p.pos++ {
			if p.text[p.pos] == '\\' && p.pos+1 < len(p.text) {
				p.pos++
			}
			sub.WriteByte(p.text[p.pos])
		}
		p.section += "." + sub.String()
		p.pos++
	}
	if p.pos >= len(p.text) || p.text[p.pos] != ']' {
		return false
	}
	p.pos++
	return true
}

func (p *gitParser) variable() bool {
	start := p.pos
	for p.pos < len(p.text) && isKeyByte(p.text[p.pos]) {
		p.pos++
	}
	name := strings.ToLower(p.text[start:p.pos])
	if name == "" {
		return false
	}
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
	value := ""
	if p.pos < len(p.text) && p.text[p.pos] == '=' {
		p.pos++
		value = p.value()
	}
	p.vars = append(p.vars, gitVar{key: p.section + "." + name, value: value})
	return true
}

func isKeyByte(c byte) bool {
	return c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// value reads to the end of the line: quotes, escapes, continuation, comments.
func (p *gitParser) value() string {
	var out []byte
	quoted, keep := false, 0
	for ; p.pos < len(p.text) && p.text[p.pos] != '\n'; p.pos++ {
		c := p.text[p.pos]
		switch {
		case c == '"':
			quoted = !quoted
			keep = len(out)
			continue
		case !quoted && (c == '#' || c == ';'):
			p.line()
			return string(trimBlank(out, keep))
		case c == '\\' && p.pos+1 < len(p.text):
			p.pos++
			c = p.text[p.pos]
			if c == '\r' && p.pos+1 < len(p.text) && p.text[p.pos+1] == '\n' {
				p.pos++
				c = '\n'
			}
			if c == '\n' {
				continue
			}
			out = append(out, unescape(c))
			keep = len(out)
			continue
		}
		if len(out) == 0 && !quoted && (c == ' ' || c == '\t') {
			continue
		}
		out = append(out, c)
		if quoted {
			keep = len(out)
		}
	}
	return string(trimBlank(out, keep))
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}

// trimBlank cuts trailing blanks, but none of the first keep bytes, which were quoted.
func trimBlank(out []byte, keep int) []byte {
	for len(out) > keep && strings.IndexByte(" \t\r", out[len(out)-1]) >= 0 {
		out = out[:len(out)-1]
	}
	return out
}
