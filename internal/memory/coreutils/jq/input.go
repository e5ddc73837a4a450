package jq

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/jq/interpreter"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// jqInputs reads the files one after another and makes values of them.
type jqInputs struct {
	j       *jqJob
	files   []string
	name    string // of the file that is open; "" for standard input
	in      io.ReadCloser
	decoder *interpreter.Decoder
	lines   *program.LineReader
	raw     io.Reader // what lines reads
	count   int       // lines of the file for -R
	begun   bool
	failed  bool // a file could not be read
	slurped bool
}

// File returns the name of the file that is read.
func (i *jqInputs) File() string { return i.name }

// Line returns how many lines of it were read.
func (i *jqInputs) Line() int {
	if i.decoder != nil {
		return i.decoder.Lines()
	}
	return i.count
}

// position returns the position in the input, for errors.
func (i *jqInputs) position() string {
	if !i.begun {
		return "<unknown>"
	}
	name := i.name
	if name == "" {
		name = "<stdin>"
	}
	return fmt.Sprintf("%s:%d", name, i.Line())
}

// Next returns the next input; io.EOF at the end.
func (i *jqInputs) Next() (interpreter.Value, error) {
	if !i.j.slurp {
		return i.one()
	}
	if i.slurped {
		return nil, io.EOF
	}
	i.slurped = true
	if i.j.rawIn {
		return i.text()
	}
	var all []interpreter.Value
	for {
		v, err := i.one()
		if errors.Is(err, io.EOF) {
			return interpreter.NewArray(all...), nil
		}
		if err != nil {
			return nil, err
		}
		if err := i.j.memory.Take(64); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

// open opens the next file that can be read.
func (i *jqInputs) open() bool {
	for len(i.files) > 0 {
		name := i.files[0]
		i.files = i.files[1:]
		in, err := program.OpenInput(i.j.p, name)
		if err != nil {
			_ = i.j.out.Flush()
			fmt.Fprintf(i.j.p.Stderr, "jq: error: Could not open %s: %s\n", name, shell.Strerror(err))
			i.failed = true
			continue
		}
		i.in, i.begun, i.count = in, true, 0
		if i.name = name; name == "-" {
			i.name = ""
		}
		r := &paidReader{p: i.j.p, r: in, memory: &i.j.memory}
		if i.j.rawIn {
			i.lines, i.raw = program.NewLineReader(i.j.p, r, '\n'), r
		} else {
			i.decoder = interpreter.NewDecoder(r)
			i.decoder.Sequence(i.j.seq)
			if i.j.stream {
				i.decoder.Stream(i.j.memory.Take)
			}
		}
		return true
	}
	return false
}

// paidReader takes fuel and memory for what is read.
type paidReader struct {
	p      *shell.Proc
	r      io.Reader
	memory *program.MemoryGuard
}

func (r *paidReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	if e := r.p.Spend(1 + n>>5); e != nil {
		return 0, e
	}
	if e := r.memory.Take(4 * n); e != nil {
		return 0, e
	}
	return n, err
}

func (i *jqInputs) close() {
	_ = i.in.Close()
	i.in = nil
}

func (i *jqInputs) one() (interpreter.Value, error) {
	for {
		if i.in == nil && !i.open() {
			return nil, io.EOF
		}
		v, err := i.read()
		if err == nil {
			return v, nil
		}
		if pe, ok := errors.AsType[*interpreter.ParseError](err); ok {
			i.close()
			if i.j.streamErrors {
				return interpreter.NewArray(pe.Text, interpreter.NewArray()), nil
			}
			return nil, err
		}
		i.close()
		if !errors.Is(err, io.EOF) {
			if i.j.p.Context().Err() != nil || shell.Errno(err) == 0 || errors.Is(err, syscall.ENOMEM) {
				return nil, err
			}
			_ = i.j.out.Flush()
			fmt.Fprintf(i.j.p.Stderr, "jq: error: Could not read %s: %s\n", i.shown(), shell.Strerror(err))
			i.failed = true
		}
	}
}

func (i *jqInputs) shown() string {
	if i.name == "" {
		return "<stdin>"
	}
	return i.name
}

func (i *jqInputs) read() (interpreter.Value, error) {
	if i.decoder != nil {
		return i.decoder.Next()
	}
	line, ok := i.lines.Next()
	if !ok {
		return nil, i.lines.Ended
	}
	i.count++
	if err := i.j.memory.Take(len(line)); err != nil {
		return nil, err
	}
	return strings.ToValidUTF8(string(program.WithoutEnd(line, '\n')), "\uFFFD"), nil
}

// text is all input as one string.
func (i *jqInputs) text() (interpreter.Value, error) {
	var b bytes.Buffer
	for i.open() {
		_, err := b.ReadFrom(i.raw)
		i.close()
		if err != nil && (i.j.p.Context().Err() != nil || errors.Is(err, syscall.ENOMEM)) {
			return nil, err
		}
		if err != nil {
			fmt.Fprintf(i.j.p.Stderr, "jq: error: Could not read %s: %s\n", i.shown(), shell.Strerror(err))
			i.failed = true
		}
		if b.Len() > program.MaxText {
			return nil, program.ErrTooBig
		}
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD"), nil
}

// searchDirs returns the directories that are searched for modules.
func (j *jqJob) searchDirs() []string {
	if len(j.dirs) > 0 {
		return j.dirs
	}
	return []string{"~/.jq", "$ORIGIN/../lib/jq", "$ORIGIN/../lib"}
}

// module finds the text of a module: PATH.jq, or PATH/NAME.jq, in one of the directories.
func (j *jqJob) module(name, from string, search []string, data bool) (content, found string, err error) {
	ext := ".jq"
	if data {
		ext = ".json"
	}
	if strings.HasPrefix(name, "/") || hasParentElement(name) {
		return "", "", fmt.Errorf("Relative paths to modules may not traverse to parent directories (%s)\n", name) //nolint:staticcheck // It is jq's text.
	}
	var dirs []string
	for _, d := range search {
		if !strings.HasPrefix(d, "/") && from != "" {
			d = path.Dir(from) + "/" + d
		}
		dirs = append(dirs, d)
	}
	for _, d := range append(dirs, j.searchDirs()...) {
		if rest, ok := strings.CutPrefix(d, "~/"); ok {
			d = j.p.Getenv("HOME") + "/" + rest
		}
		if rest, ok := strings.CutPrefix(d, "$ORIGIN/"); ok {
			d = "/usr/bin/" + rest
		}
		for _, file := range []string{d + "/" + name + ext, d + "/" + name + "/" + path.Base(name) + ext} {
			if info, err := j.p.Stat(file); err != nil || info.IsDir() {
				continue
			}
			text, err := j.readFile(file)
			if err != nil {
				return "", "", err
			}
			return text, file, nil
		}
	}
	return "", "", fmt.Errorf("module not found: %s\n", name) //nolint:staticcheck // It is jq's text.
}

func hasParentElement(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}
