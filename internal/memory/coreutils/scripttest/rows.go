// Package scripttest runs command lines with pipes and redirections with the programs of package coreutils and
// with bash on the machine, and compares their output and the files that they leave.
package scripttest

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// AllBytes returns all values of a byte, in order.
func AllBytes() string {
	var b strings.Builder
	for i := range 256 {
		b.WriteByte(byte(i))
	}
	return b.String()
}

// Row is a case that runs here and on the real tools of the machine: the outputs,
// the statuses and the trees that are left have to be the same.
type Row struct {
	Name string
	Tree Files  // what is there before
	Run  string // command lines; see realLines for what they may hold
	loose
}

// loose lists the allowed differences; the row's name gives the reason.
type loose uint8

const (
	anyStderr loose = 1 << iota // messages that the real tool words differently on purpose
	anyTree                     // contents that differ by design, such as compressed bytes
	anyTimes                    // output with times
)

// Files maps paths to contents. "name/" is a directory, "name@" a link to its content.
type Files map[string]string

// RunReal runs rows against the tool.
func RunReal(t *testing.T, tool string, rows []Row) {
	t.Helper()
	programtest.RequireReal(t)
	require.Command(t, tool, "")
	for _, row := range rows {
		name := row.Name
		if name == "" {
			name = row.Run
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runHere(t, row)
			if programtest.IsCompared() {
				got.compare(t, runThere(t, row), row)
			}
		})
	}
}

// realResult is the result of a row.
type realResult struct {
	out, err string
	status   []int
	tree     map[string]string
}

func (r realResult) compare(t *testing.T, want realResult, row Row) {
	t.Helper()
	if r.out != want.out {
		t.Errorf("%s\nstdout:\n%s\nwant:\n%s", row.Run, clip(r.out), clip(want.out))
	}
	if row.loose&anyStderr == 0 && r.err != want.err {
		t.Errorf("%s\nstderr:\n%s\nwant:\n%s", row.Run, clip(r.err), clip(want.err))
	}
	if row.loose&anyStderr != 0 && (r.err == "") != (want.err == "") {
		t.Errorf("%s\nstderr:\n%s\nwant something like:\n%s", row.Run, clip(r.err), clip(want.err))
	}
	if !slices.Equal(r.status, want.status) {
		t.Errorf("%s\nstatus %v, want %v (%s)", row.Run, r.status, want.status, clip(r.err))
	}
	if row.loose&anyTree != 0 {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(want.tree)) {
		if g, ok := r.tree[path]; !ok {
			t.Errorf("%s\n%s is missing", row.Run, path)
		} else if g != want.tree[path] {
			t.Errorf("%s\n%s is\n%s\nwant\n%s", row.Run, path, clip(g), clip(want.tree[path]))
		}
	}
	for path := range r.tree {
		if _, ok := want.tree[path]; !ok {
			t.Errorf("%s\n%s is unexpected", row.Run, path)
		}
	}
}

func clip(s string) string {
	if len(s) > 4000 {
		return fmt.Sprintf("%q ... (%d bytes)", s[:4000], len(s))
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0xfffd }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// realEnv is the environment of both sides.
var realEnv = []string{"LC_ALL=C", "TZ=UTC", "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/nonexistent"}

// runThere runs the row's lines with bash in a new directory.
func runThere(t *testing.T, row Row) realResult {
	t.Helper()
	dir := t.TempDir()
	for path, content := range row.Tree {
		writeReal(t, dir, path, content)
	}
	var r realResult
	for _, line := range realLines(row.Run) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, "bash", "-c", line)
		cmd.Dir, cmd.Env = dir, realEnv
		var out, msg bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &msg
		_ = cmd.Run()
		cancel()
		r.out += out.String()
		r.err += msg.String()
		r.status = append(r.status, cmd.ProcessState.ExitCode())
	}
	r.tree = map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(b)
		case info.Mode()&fs.ModeSymlink != 0:
			text, _ = os.Readlink(path)
		}
		r.tree[rel] = describe(info.Mode(), text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func describe(mode fs.FileMode, text string) string {
	if mode&fs.ModeSymlink != 0 {
		return "link to " + text
	}
	return mode.String() + "\n" + text
}

func writeReal(t *testing.T, dir, path, content string) {
	t.Helper()
	var err error
	full := filepath.Join(dir, strings.TrimSuffix(path, "@"))
	if e := os.MkdirAll(filepath.Dir(full), 0o755); e != nil {
		t.Fatal(e)
	}
	switch {
	case strings.HasSuffix(path, "/"):
		err = os.MkdirAll(full, 0o755)
	case strings.HasSuffix(path, "@"):
		err = os.Symlink(content, full)
	default:
		err = os.WriteFile(full, []byte(content), 0o644)
	}
	if err == nil && !strings.HasSuffix(path, "@") {
		err = os.Chtimes(full, realTime, realTime)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// realTime is the time of all files before a row runs.
var realTime = time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)

// realRoot is the directory in which rows run on this host.
const realRoot = "/proj"

// runHere runs the row's lines on a file system in memory.
func runHere(t *testing.T, row Row) realResult {
	t.Helper()
	tree := vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: -1, FileBytes: -1, Nodes: -1}})
	root := vfs.Cred{}
	mustDir(t, tree, realRoot)
	mustDir(t, tree, "/tmp")
	if err := tree.Mkdir(root, "/dev", 0o755); err == nil {
		_ = tree.Mknod(root, "/dev/null", fs.ModeDevice|fs.ModeCharDevice|0o666, vfs.Device(1, 3))
	}
	mustDir(t, tree, "/etc")
	if f, err := tree.OpenFile(t.Context(), root, "/etc/passwd", os.O_WRONLY|os.O_CREATE, 0o644); err == nil {
		_ = f.Close()
	}
	for path, content := range row.Tree {
		writeHere(t, tree, path, content)
	}
	var r realResult
	for _, line := range realLines(row.Run) {
		out, msg, status := lineHere(t, tree, line)
		r.out += out
		r.err += msg
		r.status = append(r.status, status)
	}
	r.tree = map[string]string{}
	walkHere(t, tree, realRoot, r.tree)
	return r
}

func mustDir(t *testing.T, tree *vfs.FS, path string) {
	t.Helper()
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for n := range parts {
		at := "/" + strings.Join(parts[:n+1], "/")
		if _, err := tree.Stat(vfs.Cred{}, at); err != nil {
			if err := tree.Mkdir(vfs.Cred{}, at, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func writeHere(t *testing.T, tree *vfs.FS, path, content string) {
	t.Helper()
	var err error
	full := realRoot + "/" + strings.TrimSuffix(strings.TrimSuffix(path, "@"), "/")
	mustDir(t, tree, filepath.Dir(full))
	switch {
	case strings.HasSuffix(path, "/"):
		mustDir(t, tree, full)
	case strings.HasSuffix(path, "@"):
		err = tree.Symlink(vfs.Cred{}, content, full)
	default:
		var f *vfs.File
		f, err = tree.OpenFile(t.Context(), vfs.Cred{}, full, os.O_WRONLY|os.O_CREATE, 0o644)
		if err == nil {
			_, err = f.Write([]byte(content))
			_ = f.Close()
		}
	}
	if err == nil && !strings.HasSuffix(path, "@") {
		err = tree.Chtimes(vfs.Cred{}, full, realTime, realTime, true)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func walkHere(t *testing.T, tree *vfs.FS, dir string, into map[string]string) {
	t.Helper()
	entries, err := tree.ReadDir(vfs.Cred{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := dir + "/" + e.Name
		info, err := tree.Lstat(vfs.Cred{}, path)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		switch {
		case info.Mode.IsRegular():
			text = readHere(t, tree, path)
		case info.Mode&fs.ModeSymlink != 0:
			text, _ = tree.Readlink(vfs.Cred{}, path)
		}
		into[strings.TrimPrefix(path, realRoot+"/")] = describe(info.Mode, text)
		if info.IsDir() {
			walkHere(t, tree, path, into)
		}
	}
}

func readHere(t *testing.T, tree *vfs.FS, path string) string {
	t.Helper()
	f, err := tree.OpenFile(t.Context(), vfs.Cred{}, path, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// realLines splits a script into lines. A line is one command with quoted words, and
// with <, > and >> behind it; "A | B" pipes; both sides read them alike.
func realLines(script string) []string {
	var lines []string
	open := ""
	for line := range strings.SplitSeq(script, "\n") {
		open += line
		if strings.Count(open, "'")%2 == 1 {
			open += "\n"
			continue
		}
		if strings.TrimSpace(open) != "" {
			lines = append(lines, open)
		}
		open = ""
	}
	return lines
}

// lineHere runs one line; commands of a pipeline one after another.
func lineHere(t *testing.T, tree *vfs.FS, line string) (stdout, stderr string, status int) {
	t.Helper()
	var in []byte
	var msg bytes.Buffer
	for _, words := range splitPipeline(t, line) {
		var out bytes.Buffer
		status = commandHere(t, tree, words, in, &out, &msg)
		in = out.Bytes()
	}
	return string(in), msg.String(), status
}

func commandHere(t *testing.T, tree *vfs.FS, words []Choice, in []byte, out, msg *bytes.Buffer) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	o := shell.ProcOptions{
		FS: tree, Env: realEnv, Dir: realRoot, Umask: 0o022, Stdin: bytes.NewReader(in), Stdout: out, Stderr: msg,
		Commands: realCommands(), Limits: shell.Limits{Fuel: 2_000_000_000},
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !w.operator {
			o.Args = append(o.Args, w.text)
			continue
		}
		i++
		flag := map[string]int{"<": os.O_RDONLY, ">": os.O_WRONLY | os.O_CREATE | os.O_TRUNC, ">>": os.O_WRONLY | os.O_CREATE | os.O_APPEND}[w.text]
		f, err := tree.OpenFile(ctx, vfs.Cred{}, absHere(words[i].text), flag, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if w.text == "<" {
			o.Stdin = f
		} else {
			o.Stdout = f
		}
	}
	p := shell.NewProc(ctx, o)
	for _, c := range o.Commands {
		if c.Name == o.Args[0] || slices.Contains(c.Aliases, o.Args[0]) {
			return c.Run(p) & 0xff
		}
	}
	t.Fatalf("no command %s", o.Args[0])
	return 127
}

func absHere(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return realRoot + "/" + path
}

// realCommands are ours and what rows need of the shell.
func realCommands() []shell.Command {
	return append([]shell.Command{
		{Name: "printf", Run: func(p *shell.Proc) int {
			fmt.Fprint(p.Stdout, strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\x00", `\r`, "\r", `\xff`, "\xff", `\x80`, "\x80").Replace(p.Args[1]))
			return 0
		}},
		{Name: "cat", Run: func(p *shell.Proc) int {
			if len(p.Args) == 1 {
				var b bytes.Buffer
				_, _ = b.ReadFrom(p.Stdin)
				_, _ = p.Stdout.Write(b.Bytes())
			}
			for _, name := range p.Args[1:] {
				f, err := p.Open(name)
				if err != nil {
					p.Error(name, err)
					return 1
				}
				var b bytes.Buffer
				_, _ = b.ReadFrom(f)
				_ = f.Close()
				_, _ = p.Stdout.Write(b.Bytes())
			}
			return 0
		}},
	}, coreutils.Commands()...)
}

// Choice is a word of a line, or an operator.
type Choice struct {
	text     string
	operator bool
}

func splitPipeline(t *testing.T, line string) [][]Choice {
	t.Helper()
	var all [][]Choice
	var words []Choice
	var text strings.Builder
	inWord := false
	flush := func() {
		if inWord {
			words = append(words, Choice{text: text.String()})
		}
		text.Reset()
		inWord = false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ':
			flush()
		case '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			text.WriteString(line[i+1 : i+1+end])
			i += end + 1
			inWord = true
		case '\\':
			i++
			text.WriteByte(line[i])
			inWord = true
		case '|':
			flush()
			all = append(all, words)
			words = nil
		case '<':
			flush()
			words = append(words, Choice{"<", true})
		case '>':
			flush()
			op := ">"
			if i+1 < len(line) && line[i+1] == '>' {
				op, i = ">>", i+1
			}
			words = append(words, Choice{op, true})
		case '"', '$', '`', ';', '&', '*', '(', ')':
			t.Fatalf("%q means something else to the two sides: quote it", line)
		default:
			text.WriteByte(c)
			inWord = true
		}
	}
	flush()
	return append(all, words)
}

// RowsOf makes rows of command lines over one tree.
func RowsOf(tree Files, lines ...string) []Row {
	rows := make([]Row, 0, len(lines))
	for _, l := range lines {
		rows = append(rows, Row{Tree: tree, Run: l})
	}
	return rows
}

// WriteTree makes or replaces a file.
func WriteTree(t *testing.T, tree *vfs.FS, path, text string) {
	t.Helper()
	f, err := tree.OpenFile(t.Context(), vfs.Cred{}, path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// ReadTree returns the content of a file of the tree.
func ReadTree(t *testing.T, tree *vfs.FS, path string) string {
	t.Helper()
	return readHere(t, tree, path)
}

// Run runs p's command and returns its status.
func Run(t *testing.T, p *shell.Proc) int {
	t.Helper()
	for _, c := range coreutils.Commands() {
		if c.Name == p.Args[0] {
			return c.Run(p)
		}
	}
	t.Fatalf("no command %s", p.Args[0])
	return 0
}
