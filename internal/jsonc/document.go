// Package jsonc decodes JSON with comments and trailing commas into structs. It is strict: it reports an unknown key, a
// repeated key and a value of a wrong type as a problem with a file, a line and a key. Its input is hostile: size,
// nesting, and how much of it a message repeats are bounded.
package jsonc

import (
	"bytes"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/tailscale/hujson"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// MaxFile is the largest size of a file in bytes.
const MaxFile = 1 << 20

// document is a file that has been read.
type document struct {
	file     string
	newlines []int // offsets
	quiet    bool  // see Reader
}

// Parse parses data; file is the file's name for messages. The problem is nil for any JSON value with comments. An
// empty file is a problem: a failed save of an editor must not count as {}.
func (r Reader) Parse(file string, data []byte) (Value, *Problem) {
	d := &document{file: file, quiet: r.Quiet}
	for i, c := range data {
		if c == '\n' {
			d.newlines = append(d.newlines, i)
		}
	}
	switch {
	case len(data) > MaxFile:
		return Value{}, d.problem(1, "", "found more than %s, expected a smaller file", sandbox.Bytes(MaxFile))
	case len(bytes.TrimSpace(data)) == 0:
		return Value{}, d.problem(1, "", "found an empty file, expected an object such as {}")
	case bytes.HasPrefix(data, []byte("\ufeff")):
		return Value{}, d.problem(1, "", "found a byte order mark, expected an object")
	}
	if i := invalidUTF8(data); i >= 0 {
		return Value{}, d.problem(d.line(i), "", "found invalid UTF-8, expected UTF-8 text")
	}
	if i := tooDeep(data); i >= 0 {
		return Value{}, d.problem(d.line(i), "", "found more than %d brackets inside each other, expected at most 4", maxNesting)
	}
	// The parser wants a newline after a last line that is a comment.
	v, err := hujson.Parse(append(bytes.Clone(data), '\n'))
	if err != nil {
		return Value{}, d.syntax(err)
	}
	return Value{doc: d, at: v}, nil
}

func (d *document) problem(line int, key, format string, args ...any) *Problem {
	return &Problem{File: d.file, Line: line, Key: clipKey(key), Text: fmt.Sprintf(format, args...)}
}

// surrogate returns the problem of a string with half of a surrogate pair. It omits the string for a quiet document.
func (d *document) surrogate(line int, key string, lit hujson.Literal) *Problem {
	in := "a string"
	if !d.quiet {
		in = Clip(string(lit))
	}
	return d.problem(line, key, "found half of a surrogate pair in %s, expected a whole character", in)
}

func (d *document) line(offset int) int {
	return 1 + sort.SearchInts(d.newlines, offset)
}

// hujsonError is compiled on the first use, because otherwise it would slow down every start of a command.
var hujsonError = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)^hujson: line (\d+), column \d+: (.*)$`)
})

func (d *document) syntax(err error) *Problem {
	line, text := 1, err.Error()
	if m := hujsonError().FindStringSubmatch(text); m != nil {
		if n, convErr := strconv.Atoi(m[1]); convErr == nil {
			line = n
		}
		text = m[2]
	}
	if lit, ok := strings.CutPrefix(text, "invalid literal: "); ok {
		text = "invalid literal " + Clip(lit)
		if d.quiet {
			text = "invalid literal"
		}
	}
	if strings.HasSuffix(text, "unexpected EOF") {
		// The parser saw one more newline than the file has.
		line = min(line, 1+len(d.newlines))
		text = strings.TrimSuffix(text, ": unexpected EOF") + " met the end of the file"
	}
	return d.problem(line, "", "found broken JSON (%s), expected an object", text)
}
