package tar

import (
	"strconv"
	"strings"
	"unsafe"

	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// tarRenaming converts names of files to names of members, and back.
type tarRenaming struct {
	absolute bool // -P
	strip    int
	oneTop   bool
	top      string
	rules    []tarRule
}

// tarRule is an expression s/REGEX/REPLACEMENT/FLAGS.
type tarRule struct {
	expr                  *regex.Regexp
	with                  []tarPiece
	nth                   int // the first match that is replaced
	global                bool
	files, links, symlink bool
}

// tarRuleSize is about what a rule holds beside its expression.
const tarRuleSize = 256

// tarPiece is a part of a replacement.
type tarPiece struct {
	text  string
	group int  // -1: the text
	fold  byte // U L u l E: how what follows is written
}

// nameKind is the kind of a name's member.
type nameKind uint8

const (
	ofMember nameKind = iota
	ofLink
	ofSymlink
)

// parse reads expressions that are divided by semicolons. It returns the error.
func (r *tarRenaming) parse(p *shell.Proc, s string) string {
	for s != "" {
		if err := p.Spend(1); err != nil {
			return err.Error()
		}
		rest, wrong := r.parseOne(p, s)
		if wrong != "" {
			return wrong
		}
		s = strings.TrimLeft(rest, ";")
	}
	return ""
}

func (r *tarRenaming) parseOne(p *shell.Proc, s string) (rest, wrong string) {
	if len(s) < 2 || s[0] != 's' {
		return "", "Invalid transform expression"
	}
	delim, s := s[1], s[2:]
	pattern, s, ok := untilDelim(s, delim)
	if !ok {
		return "", "Invalid transform expression"
	}
	with, s, ok := untilDelim(s, delim)
	if !ok {
		return "", "Invalid transform expression"
	}
	rule := tarRule{nth: 1, files: true, links: true, symlink: true}
	flags := regex.Sed
	for s != "" && s[0] != ';' {
		switch c := s[0]; c {
		case 'g':
			rule.global = true
		case 'i':
			flags |= regex.IgnoreCase
		case 'x':
			flags |= regex.Extended
		case 'r', 'R':
			rule.files = c == 'r'
		case 's', 'S':
			rule.symlink = c == 's'
		case 'h', 'H':
			rule.links = c == 'h'
		default:
			n := 0
			for n < len(s) && s[n] >= '0' && s[n] <= '9' {
				n++
			}
			number, err := strconv.Atoi(s[:n])
			if err != nil {
				return "", "Unknown flag in transform expression: " + s[:1]
			}
			rule.nth, s = number, s[n-1:]
		}
		s = s[1:]
	}
	// Each character of a replacement can be a part of its own.
	if err := p.Reserve(tarRuleSize + len(with)*int(unsafe.Sizeof(tarPiece{}))); err != nil {
		return "", shell.Strerror(err)
	}
	expr, err := regex.Compile(pattern, flags)
	if err != nil {
		return "", "Invalid transform expression: " + err.Error()
	}
	if err := p.Reserve(expr.Size()); err != nil {
		return "", shell.Strerror(err)
	}
	rule.expr = expr
	if rule.with, wrong = tarReplacement(with, expr.Groups()); wrong != "" {
		return "", wrong
	}
	r.rules = append(r.rules, rule)
	return s, ""
}

// untilDelim returns the text before a delimiter that no backslash precedes.
func untilDelim(s string, delim byte) (part, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == delim:
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == delim:
			i++
		case s[i] == '\\' && i+1 < len(s):
			b.WriteByte('\\')
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

func tarReplacement(s string, groups int) (pieces []tarPiece, wrong string) {
	var text strings.Builder
	add := func(p tarPiece) {
		if text.Len() > 0 {
			pieces = append(pieces, tarPiece{text: text.String(), group: -1})
			text.Reset()
		}
		pieces = append(pieces, p)
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '&':
			add(tarPiece{group: 0})
		case s[i] != '\\' || i+1 == len(s):
			text.WriteByte(s[i])
		default:
			i++
			switch c := s[i]; {
			case c >= '0' && c <= '9':
				if int(c-'0') > groups {
					return nil, "Invalid transform replacement: back reference out of range"
				}
				add(tarPiece{group: int(c - '0')})
			case strings.IndexByte("ULulE", c) >= 0:
				add(tarPiece{group: -1, fold: c})
			case strings.IndexByte("abfnrtv", c) >= 0:
				text.WriteByte("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)])
			default:
				text.WriteByte(c)
			}
		}
	}
	if text.Len() > 0 {
		pieces = append(pieces, tarPiece{text: text.String(), group: -1})
	}
	return pieces, ""
}

// apply changes a name by all rules.
func (r *tarRenaming) apply(p *shell.Proc, name string, kind nameKind) string {
	for i := range r.rules {
		rule := &r.rules[i]
		if kind == ofMember && rule.files || kind == ofLink && rule.links || kind == ofSymlink && rule.symlink {
			name = rule.apply(p, name)
		}
	}
	return name
}

// nameMax bounds what replacements may make of a name.
const nameMax = 1 << 16

func (r *tarRule) apply(p *shell.Proc, name string) string {
	var b strings.Builder
	in := []byte(name)
	caps := make([]int, 2*(r.expr.Groups()+1)) // bounded: two numbers for each group of an expression that is charged
	m := r.expr.Matcher(p.Spend)
	at, seen := 0, 0
	for at <= len(in) && b.Len() < nameMax && m.Find(in, at, caps) {
		b.Write(in[at:caps[0]])
		if seen++; seen >= r.nth {
			r.write(&b, in, caps)
		} else {
			b.Write(in[caps[0]:caps[1]])
		}
		next := caps[1]
		if caps[0] == caps[1] { // A match of nothing moves on by a character.
			if next < len(in) {
				b.WriteByte(in[next])
			}
			next++
		}
		at = next
		if seen >= r.nth && !r.global {
			break
		}
	}
	if at < len(in) {
		b.Write(in[at:])
	}
	return b.String()
}

func (r *tarRule) write(b *strings.Builder, in []byte, caps []int) {
	fold, once := byte(0), byte(0)
	for _, piece := range r.with {
		if b.Len() > nameMax { // No file system takes such a name: the rest does not matter.
			return
		}
		text := piece.text
		switch {
		case piece.fold == 'u' || piece.fold == 'l':
			once = piece.fold
			continue
		case piece.fold != 0:
			fold = piece.fold
			continue
		case piece.group >= 0:
			text = ""
			if i := 2 * piece.group; caps[i] >= 0 {
				text = string(in[caps[i]:caps[i+1]])
			}
		}
		switch fold {
		case 'U':
			text = strings.ToUpper(text)
		case 'L':
			text = strings.ToLower(text)
		}
		if once != 0 && text != "" {
			if once == 'u' {
				text = strings.ToUpper(text[:1]) + text[1:]
			} else {
				text = strings.ToLower(text[:1]) + text[1:]
			}
			once = 0
		}
		b.WriteString(text)
	}
}

// safeName removes the leading part of a name that leads out of the target directory, and warns once.
func (j *tarJob) safeName(name string, link bool) string {
	at := 0
	if !j.rename.absolute {
		for p := 0; p < len(name); {
			if strings.HasPrefix(name[p:], "..") && (len(name) == p+2 || name[p+2] == '/') {
				at = p + 2
			}
			slash := strings.IndexByte(name[p:], '/')
			if slash < 0 {
				break
			}
			p += slash + 1
		}
		for at < len(name) && name[at] == '/' {
			at++
		}
		if at > 0 {
			what := "member names"
			if link {
				what = "hard link targets"
			}
			j.once("Removing leading `" + name[:at] + "' from " + what)
		}
	}
	if at == len(name) {
		if at == 0 {
			what := "member name"
			if link {
				what = "hard link target"
			}
			j.once("Substituting `.' for empty " + what)
		}
		return "."
	}
	return name[at:]
}

// memberPath returns where a member belongs; ok is false for one that is passed over.
func (j *tarJob) memberPath(name string, kind nameKind) (path string, ok bool) {
	name = j.rename.apply(j.p, name, kind)
	if kind != ofSymlink {
		if name = strings.TrimRight(j.safeName(name, kind == ofLink), "/"); name == "" {
			name = "/"
		}
		if j.rename.strip > 0 {
			if name, ok = stripComponents(name, j.rename.strip); !ok {
				return "", false
			}
		}
		if j.rename.oneTop && name != "." && name != j.rename.top && !strings.HasPrefix(name, j.rename.top+"/") {
			name = j.rename.top + "/" + strings.TrimPrefix(name, "./")
		}
	}
	return name, true
}

// stripComponents takes n components from the front of a name.
func stripComponents(name string, n int) (string, bool) {
	rest := strings.TrimLeft(name, "/")
	for range n {
		at := strings.IndexByte(rest, '/')
		if at < 0 {
			return "", false
		}
		rest = strings.TrimLeft(rest[at:], "/")
	}
	return rest, rest != ""
}
