package configimport

import (
	"bytes"
	"encoding/json"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Bounds of what one file may ask of us.
const (
	maxNesting = 64
	maxItems   = 4096 // entries in all lists of one import: they are compared with each other
	maxClip    = 80
)

// node is a JSON value.
type node struct {
	line    int
	kind    byte // as hujson.Kind, so '{', '[', '"', '0', 't', 'f', 'n'
	text    string
	items   []node
	members []member
}

type member struct {
	name  string
	line  int
	value node
}

// parse reads an object, with or without comments. Errors have code Invalid and are one
// line, "FILE:LINE: text".
func parse(file string, data []byte) (node, error) {
	p := parser{file: file}
	for i, c := range data {
		if c == '\n' {
			p.newlines = append(p.newlines, i)
		}
	}
	switch {
	case len(data) > policy.MaxConfig:
		return node{}, fileErrorf(file, 1, "found more than %s, expected a smaller file", sandbox.Bytes(policy.MaxConfig))
	case len(bytes.TrimSpace(data)) == 0:
		return node{}, fileErrorf(file, 1, "found an empty file, expected an object")
	case !utf8.Valid(data):
		return node{}, fileErrorf(file, 1, "found invalid UTF-8, expected UTF-8 text")
	}
	// The parser is recursive, so brackets are counted before it sees them.
	if i := tooDeep(data); i >= 0 {
		return node{}, fileErrorf(file, p.line(i), "found more than %d brackets inside each other", maxNesting)
	}
	v, err := hujson.Parse(append(bytes.Clone(data), '\n'))
	if err != nil {
		return node{}, p.syntaxError(err)
	}
	top, err := p.node(v)
	if err == nil && top.kind != '{' {
		err = fileErrorf(file, top.line, "found %s, expected an object", top)
	}
	return top, err
}

type parser struct {
	file     string
	newlines []int
}

func (p *parser) line(offset int) int { return 1 + sort.SearchInts(p.newlines, offset) }

var hujsonError = regexp.MustCompile(`(?s)^hujson: line (\d+), column \d+: (.*)$`)

func (p *parser) syntaxError(err error) error {
	line, text := 1, err.Error()
	if m := hujsonError.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits
		line, text = min(n, 1+len(p.newlines)), m[2]
	}
	return fileErrorf(p.file, line, "found broken JSON (%s)", strings.Trim(clip(text), `"`))
}

func (p *parser) node(v hujson.Value) (node, error) {
	n := node{line: p.line(v.StartOffset), kind: byte(v.Value.Kind())}
	switch t := v.Value.(type) {
	case *hujson.Object:
		seen := map[string]bool{}
		for _, m := range t.Members {
			name, err := p.node(m.Name)
			if err != nil {
				return n, err
			}
			// Parsers differ about which one counts.
			if seen[name.text] {
				return n, fileErrorf(p.file, name.line, "%s: found a second time, expected once", oneLine(name.text))
			}
			seen[name.text] = true
			value, err := p.node(m.Value)
			if err != nil {
				return n, err
			}
			n.members = append(n.members, member{name: name.text, line: name.line, value: value})
		}
	case *hujson.Array:
		for _, e := range t.Elements {
			item, err := p.node(e)
			if err != nil {
				return n, err
			}
			n.items = append(n.items, item)
		}
	case hujson.Literal:
		n.text = string(t)
		if n.kind != '"' {
			break
		}
		// A lone surrogate would become another character than the written one.
		if err := json.Unmarshal(t, &n.text); err != nil || strings.Count(n.text, "\ufffd") != replacements(string(t)) {
			return n, fileErrorf(p.file, n.line, "found half of a surrogate pair in %s, expected a whole character", clip(string(t)))
		}
	}
	return n, nil
}

var replacement = regexp.MustCompile(`(?i)\\ufffd|` + "\ufffd")

// replacements counts the replacement characters that a literal really means.
func replacements(lit string) int {
	return len(replacement.FindAllString(strings.ReplaceAll(lit, `\\`, "__"), -1))
}

// String says in words what n is.
func (n node) String() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return clip(n.text)
	}
	return n.text[:min(len(n.text), maxClip)]
}

// tooDeep returns the offset of the bracket that exceeds maxNesting, or -1.
func tooDeep(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '[', '{':
			if depth++; depth > maxNesting {
				return i
			}
		case ']', '}':
			depth--
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			i += comment(data[i:])
		}
	}
	return -1
}

// comment returns how many bytes after the first belong to the comment that data begins
// with, or 0.
func comment(data []byte) int {
	end := "\n"
	switch {
	case bytes.HasPrefix(data, []byte("/*")):
		end = "*/"
	case !bytes.HasPrefix(data, []byte("//")):
		return 0
	}
	if n := bytes.Index(data[2:], []byte(end)); n >= 0 {
		return 2 + n + len(end) - 1
	}
	return len(data)
}

// fileErrorf makes the one line that every mistake in a file is.
func fileErrorf(file string, line int, format string, args ...any) *sandbox.Error {
	e := sandbox.Errorf(sandbox.Invalid, format, args...)
	return sandbox.Errorf(sandbox.Invalid, "%s:%d: %w", oneLine(file), line, e.Err)
}

// clip quotes text of a file for a message, and shortens it.
func clip(s string) string {
	if len(s) <= maxClip {
		return strconv.Quote(s)
	}
	n := maxClip
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strconv.Quote(s[:n]) + "..."
}

// oneLine returns s as it is when it prints on one line, else quoted.
func oneLine(s string) string {
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return strconv.Quote(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}
