package shell_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// Rows of testdata/corpus run here and on the bash of the machine: standard output, standard error and status have to be the
// same.
//
//	=== name of the row
//	--- anything of: stdin TEXT, args WORDS, file, piped, stderr REASON
//	script
//	=== lines: every line below is a row of its own, named by its text, and has no
//	newline at its end
//	=== lines as root: the same, of rows whose output depends on the user: in memory that is root

// corpusRow is one script of the corpus.
type corpusRow struct {
	area, name string
	script     string
	stdin      string
	args       []string
	way        way
	anyStderr  string // why messages are not compared
	asRoot     bool   // the output depends on the user that runs it
}

// way says how a script gets to the shell.
type way int8

const (
	byOption way = iota // bash -c
	byFile              // bash script.sh
	byPipe              // bash <script
)

func (r corpusRow) id() string { return r.area + "/" + r.name }

// readCorpus returns the rows of a file.
func readCorpus(tb testing.TB, path string) []corpusRow {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	area := strings.TrimSuffix(filepath.Base(path), ".txt")
	var rows []corpusRow
	for i, block := range strings.Split("\n"+string(data), "\n=== ") {
		name, script, _ := strings.Cut(block, "\n")
		if i == 0 {
			if strings.TrimSpace(block) != "" {
				tb.Fatalf("%s: text before the first row: %q", path, block)
			}
			continue
		}
		if kind, _, ok := strings.Cut(name, ":"); ok && (kind == "lines" || kind == "lines as root") {
			for line := range strings.Lines(script) {
				if line = strings.TrimSpace(line); line != "" {
					rows = append(rows, corpusRow{area: area, name: line, script: line, asRoot: kind != "lines"})
				}
			}
			continue
		}
		r := corpusRow{area: area, name: strings.TrimSpace(name)}
		for strings.HasPrefix(script, "--- ") {
			var line string
			line, script, _ = strings.Cut(script, "\n")
			if err := r.directive(line[4:]); err != nil {
				tb.Fatalf("%s: row %q: %v", path, r.name, err)
			}
		}
		r.script = strings.TrimRight(script, "\n") + "\n"
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		tb.Fatalf("%s has no rows", path)
	}
	return rows
}

func (r *corpusRow) directive(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "stdin":
		r.stdin += strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\x00", `\\`, `\`).Replace(rest)
	case "args":
		r.args = strings.Fields(rest)
	case "file":
		r.way = byFile
	case "piped":
		r.way = byPipe
	case "stderr":
		r.anyStderr = rest
		if rest == "" {
			return fmt.Errorf("messages that are not compared need a reason")
		}
	default:
		return fmt.Errorf("unknown directive %q", word)
	}
	return nil
}

// readDiffering returns the rows in which this shell knowingly differs, with the reason.
func readDiffering(tb testing.TB) map[string]string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "differing.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	rows := map[string]string{}
	id := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != '\t':
			id = line
		case id == "" || rows[id] != "":
			tb.Fatalf("differing.txt: %q has no row, or two reasons", line)
		default:
			rows[id] = line[1:]
		}
	}
	return rows
}

func needBash(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("bash")
	if err != nil {
		tb.Fatal("bash, which the shell is compared with, is not installed")
	}
	return path
}

func Test_Corpus(t *testing.T) {
	t.Parallel()
	// Bash lists what was ignored before it began, as under nohup; what a process catches, its children do not ignore.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	files, err := filepath.Glob(filepath.Join("testdata", "corpus", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatal("no corpus", err)
	}
	differing := readDiffering(t)
	seen := map[string]bool{}
	var rows []corpusRow
	for _, f := range files {
		for _, r := range readCorpus(t, f) {
			if seen[r.id()] {
				t.Errorf("%s is there twice", r.id())
			}
			seen[r.id()] = true
			rows = append(rows, r)
		}
	}
	for id := range differing {
		if !seen[id] {
			t.Errorf("differing.txt names %s, which is no row", id)
		}
	}
	b := newBench(t)
	for _, r := range rows {
		t.Run(r.id(), func(t *testing.T) {
			t.Parallel()
			if r.asRoot && os.Getuid() != 0 {
				t.Skip("in memory it is root's: run it as root")
			}
			why := b.compare(t, r)
			switch reason := differing[r.id()]; {
			case reason == "" && why != "":
				t.Errorf("%s\n%s", r.script, why)
			case reason != "" && why == "":
				t.Errorf("agrees with bash now: take it out of differing.txt (%s)", reason)
			}
		})
	}
	t.Logf("%d rows, %d of them knowingly differ", len(rows), len(differing))
}

// bench runs scripts on both sides, each in a new directory of the same name.
type bench struct {
	bash string
	root string
	tree *vfs.Snapshot
	rows atomic.Int64
}

// outcome is the result of a script.
type outcome struct {
	out, err string
	status   int
}

func newBench(tb testing.TB) *bench {
	tb.Helper()
	root := tb.TempDir()
	b := &bench{bash: needBash(tb), root: root}
	tree := vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: 1 << 30, FileBytes: 1 << 30, Nodes: 1 << 20}})
	for _, d := range []string{"/tmp", "/usr/bin", "/etc", root} {
		if err := tree.MkdirAll(vfs.Cred{}, d, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	if err := tree.Symlink(vfs.Cred{}, "usr/bin", "/bin"); err != nil {
		tb.Fatal(err)
	}
	if err := shell.AddDevices(tree); err != nil {
		tb.Fatal(err)
	}
	for _, c := range coreutils.Commands() {
		put(tb, tree, "/usr/bin/"+c.Name, shell.Stub(c.Name))
		for _, a := range c.Aliases {
			put(tb, tree, "/usr/bin/"+a, shell.Stub(a))
		}
	}
	put(tb, tree, "/usr/bin/bash", shell.Stub("bash"))
	put(tb, tree, "/usr/bin/sh", shell.Stub("sh"))
	b.tree = tree.Snapshot()
	return b
}

func put(tb testing.TB, tree *vfs.FS, path string, data []byte) {
	tb.Helper()
	f, err := tree.OpenFile(tb.Context(), vfs.Cred{}, path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		tb.Fatal(err)
	}
}

func (b *bench) env(dir string) []string {
	return []string{"PATH=/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C.UTF-8", "TZ=UTC"}
}

// newDir returns the directory of the next row.
func (b *bench) newDir() string { return filepath.Join(b.root, fmt.Sprintf("r%d", b.rows.Add(1))) }

// times are the parts of a second that a script waits for; the digits behind the point are a group.
var times = regexp.MustCompile(`\b((?:sleep|-t) )0\.([0-9$])`)

// compare returns in what the two sides differ, "" for nothing. The output of a script that waits for parts of a second also
// depends on how busy the machine is, for bash as for this shell: a difference counts only if it remains when the script waits
// ten times as long.
func (b *bench) compare(tb testing.TB, r corpusRow) string {
	tb.Helper()
	why := b.compareOnce(tb, r)
	slow := times.ReplaceAllString(r.script, "${1}${2}")
	if why == "" || slow == r.script {
		return why
	}
	tb.Logf("differs, asked again with longer times: %s\n%s", r.script, why)
	r.script = slow
	return b.compareOnce(tb, r)
}

func (b *bench) compareOnce(tb testing.TB, r corpusRow) string {
	tb.Helper()
	dir := b.newDir()
	want, got := b.there(tb, r, dir), b.here(tb, r, dir)
	var diff []string
	if got.out != want.out {
		diff = append(diff, fmt.Sprintf("stdout:\n%s\nwant:\n%s", shown(got.out), shown(want.out)))
	}
	if r.anyStderr == "" && got.err != want.err || r.anyStderr != "" && (got.err == "") != (want.err == "") {
		diff = append(diff, fmt.Sprintf("stderr:\n%s\nwant:\n%s", shown(got.err), shown(want.err)))
	}
	if got.status != want.status {
		diff = append(diff, fmt.Sprintf("status %d, want %d; stderr:\n%s", got.status, want.status, shown(got.err)))
	}
	return strings.Join(diff, "\n")
}

func shown(s string) string {
	if len(s) > 6000 {
		s = s[:3000] + " ... " + s[len(s)-3000:]
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0xfffd }) {
		return fmt.Sprintf("%q", s)
	}
	return s
}

// rowTime is how long a script may take on either side.
const rowTime = time.Minute

// there runs the row with the machine's bash.
func (b *bench) there(tb testing.TB, r corpusRow, dir string) outcome {
	tb.Helper()
	if err := os.Mkdir(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	ctx, cancel := context.WithTimeout(tb.Context(), deadline.Scale(rowTime))
	defer cancel()
	args := append([]string{"-c", r.script, "bash"}, r.args...)
	stdin := r.stdin
	switch r.way {
	case byFile:
		args = append([]string{"script.sh"}, r.args...)
		if err := os.WriteFile(filepath.Join(dir, "script.sh"), []byte(r.script), 0o644); err != nil {
			tb.Fatal(err)
		}
	case byPipe:
		args, stdin = append([]string{"-s"}, r.args...), r.script
	default:
	}
	cmd := exec.CommandContext(ctx, b.bash, args...)
	cmd.Args[0] = "bash"
	cmd.Dir, cmd.Env, cmd.Stdin = dir, b.env(dir), strings.NewReader(stdin)
	cmd.WaitDelay = time.Second
	var out, msg bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &msg
	if err := cmd.Run(); cmd.ProcessState == nil {
		tb.Fatal(err)
	}
	if ctx.Err() != nil {
		tb.Fatalf("bash took longer than %v:\n%s", rowTime, r.script)
	}
	status := cmd.ProcessState.ExitCode()
	if status < 0 {
		if w, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
			status = 128 + int(w.Signal())
		}
	}
	return outcome{out.String(), msg.String(), status}
}

// here runs the row in memory.
func (b *bench) here(tb testing.TB, r corpusRow, dir string) outcome {
	tb.Helper()
	tree := b.tree.FS(vfs.Options{})
	if err := tree.MkdirAll(vfs.Cred{}, dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	sc := shell.Script{Text: r.script, Args: append([]string{}, r.args...), Exit: true, Wait: true}
	stdin := r.stdin
	switch r.way {
	case byFile:
		sc.Name = "script.sh"
		put(tb, tree, dir+"/script.sh", []byte(r.script))
	case byPipe:
		stdin, sc.Text = r.script, `exec bash -s "$@"`
	default:
	}
	sh := shell.New(shell.Options{FS: tree, Env: b.env(dir), Dir: dir, Commands: coreutils.Commands()})
	defer sh.Close()
	ctx, cancel := context.WithTimeout(tb.Context(), deadline.Scale(rowTime))
	defer cancel()
	var out, msg bytes.Buffer
	res, err := sh.RunScript(ctx, sc, shell.Stdio{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &msg})
	if err != nil {
		tb.Fatalf("%v:\n%s\nstdout:\n%s\nstderr:\n%s", err, r.script, shown(out.String()), shown(msg.String()))
	}
	return outcome{out.String(), msg.String(), res.Status}
}

// Every operator over every kind of value: too many combinations to write them as rows.

func Test_Every_Operator_Of_Parameters_Over_Values(t *testing.T) {
	t.Parallel()
	values := []string{
		"unset x", "x=", "x=a", "x=abcabc", "x='a b  c'", "x=' a '", "x='*'", "x=/p/q.tar.gz", "x=$'a\\nb'", "x=héllo", `x='\x'`,
		`x="q'q"`, `x='"d"'`, "x=ABC", "x=0", "x='[a]'", "x='a/b'", "x='$y'",
	}
	var list []string
	for _, v := range values {
		for _, op := range paramOperators {
			list = append(list, fmt.Sprintf("%s; y=z; printf '<%%s>' ${%s}; printf '<%%s>' \"${%s}\"; echo; y=${%[2]s}; echo \"$y\"", v, op, op))
		}
	}
	checkTable(t, "", list)
}

// paramOperators are expansions of x without the braces.
var paramOperators = []string{
	"x", "#x", "x-d", "x:-d e", "x+d", "x:+'d e'", "x=d", "x:=d e", "x?e", "x:?", "x#a", "x#*b", "x##*b", "x##*/", "x%c", "x%b*", "x%%b*", "x%.*", "x#\\*",
	"x#'*'", "x/b/X", "x//b/X", "x/#a/X", "x/%c/X", "x/b", "x//b", "x//[ab]/-", "x//?/<&>", "x/*/", "x///-", "x//\\//-", "x/\\*/S", "x:1", "x:1:1", "x:0:1", "x: -2",
	"x: -2:1", "x:0:-1", "x:9", "x:0:0", "x^", "x^^", "x,", "x,,", "x~", "x~~", "x^^[a-b]", "x^[b]", "x@Q", "x@U", "x@u", "x@L", "x@E", "x@a", "x@A", "x@K", "x@P",
	"!x", "!x-d", "!x*", "x-$y", "x:-$(echo s)", "x:-\"q w\"", "x+\"$x\"", "x//$y/_", "x#\"$y\"", "x:$((1))", "x:y", "#x:1", "x[0]", "x[1]-n", "x[@]", "#x[@]", "!x[@]",
}

func Test_Every_Operator_Of_Parameters_Over_Lists(t *testing.T) {
	t.Parallel()
	lists := []string{"a=()", "a=('')", "a=(x)", "a=(ab 'c d' '')", "a=([2]=p [5]='q r' [9]=abc)", "declare -A a=([k]='v w')", "unset a", "a=('*' \"q'q\" ' ')"}
	operators := []string{
		"", "-d", ":-d e", "+d", ":+'d e'", ":1", ":1:1", ": -1", ":0:2", "#a", "##*b", "%d", "%%c*", "/b/X", "//[a-c]/-", "/#/p", "/%/s", "^", "^^", ",,", "@Q", "@U", "@a", "@A", "@K", "@k", "@E",
	}
	var list []string
	for _, l := range lists {
		for _, op := range operators {
			for _, form := range []string{"a[@]", "a[*]", "a[0]", "a[2]", "a", "@", "*"} {
				set := "set --"
				if form == "@" || form == "*" {
					set = `set -- "${a[@]}"`
				}
				exp := "${" + form + op + "}"
				list = append(list, fmt.Sprintf("%s; %s; printf '<%%s>' %s; printf '<%%s>' \"%s\"; echo; IFS=-; y=\"%[3]s\"; printf '<%%s>' \"$y\" x\"%[3]s\"y", l, set, exp, exp))
			}
		}
		list = append(list, l+`; echo ${#a[@]} ${#a[*]} ${#a} "${!a[@]}" ${!a[*]}; for i in "${a[@]}"; do echo "<$i>"; done`)
	}
	checkTable(t, "", list, "@A}") // bash splits it though it is in quotes
}

func Test_Every_Arithmetic_Operator_Over_Numbers(t *testing.T) {
	t.Parallel()
	numbers := []string{"-7", "-1", "0", "1", "2", "3", "64", "0x10", "9223372036854775807", "-9223372036854775807-1", "x"}
	var list []string
	for _, op := range []string{"+", "-", "*", "/", "%", "**", "<<", ">>", "&", "|", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||", ","} {
		for _, a := range numbers {
			for _, b := range numbers {
				list = append(list, fmt.Sprintf("x=5; echo $(( (%s) %s (%s) ))", a, op, b))
			}
		}
	}
	for _, op := range []string{"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="} {
		for _, b := range numbers {
			list = append(list, fmt.Sprintf("x=5; y=12; ((y %s (%s))); echo $? $y; let \"y %s %[2]s\"; echo $? $y", op, b, op))
		}
	}
	for _, a := range numbers {
		list = append(list, "x=5; echo $((-("+a+"))) $((+("+a+"))) $((!("+a+"))) $((~("+a+"))) $(("+a+"?1:2)) $((("+a+")*3-1))")
	}
	checkTable(t, "", list)
}

func Test_Every_Condition_Over_Words(t *testing.T) {
	t.Parallel()
	words := []string{"''", "a", "b", "1", "10", "010", "'a b'", "'*'", "-n", "A", "'('", "é"}
	var list []string
	for _, op := range []string{"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-gt", "-le", "-ge", "=~", "-nt", "-ef"} {
		for _, a := range words {
			for _, b := range words {
				bracket := op
				if op == "<" || op == ">" {
					bracket = `\` + op
				}
				line := fmt.Sprintf("[[ %s %s %s ]]; echo $?", a, op, b)
				if op != "=~" {
					line += fmt.Sprintf("; [ %s %s %s ]; echo $?; test ! %[1]s %[2]s %[3]s; echo $?", a, bracket, b)
				}
				list = append(list, line)
			}
		}
	}
	for op := range strings.FieldsSeq("-n -z -e -f -d -s -r -w -x -v -L -h -p -S -b -c -g -u -k -O -G -t -o -R") {
		for _, a := range []string{"''", "x", "/", "nofile", "1", "errexit", "$x"} {
			if a == "/" && strings.Contains("-w -O -G", op) && os.Getuid() != 0 {
				continue // In memory / is the caller's.
			}
			list = append(list, fmt.Sprintf("x='a b'; [[ %s %s ]]; echo $?; [ %s %s ]; echo $?", op, a, op, a))
		}
	}
	checkTable(t, "", list)
}

func Test_Every_Pattern_Over_Words(t *testing.T) {
	t.Parallel()
	patterns := []string{
		"*", "?", "a*", "*a", "*a*", "[ab]", "[!ab]", "[^ab]*", "[a-c]?", "[]a]", "[!]]", "[a-]", "[[:alpha:]]*", "[[:digit:][:space:]]*", `\*`, `a\b`, "'*'*", `"a"?`, "a?(b)", "*(a|b)", "+([a-c])",
		"@(a|ab|abc)", "!(a*)", "!(a)", "?(a)b", "*(a)*(b)", "@(a|@(b|c))*", "+(a|b)c", "[[.a.]]*", "[[=a=]]", "a**b", "[", "[a", "a]", "[[:nope:]]", "**/", "é", "?é*", "[à-ü]", `[\]]`, `[\a]`, "[z-a]",
		"@()", "+()", "!()", "*(*(a))", "!(!(a))", "a@(b)c", "$p", `"$p"`,
	}
	words := []string{"''", "a", "b", "ab", "abc", "aab", "A", "'*'", "'a b'", "']'", "-", "1", "é", "'[a'", `'\'`, "a/b", ".a", "$'a\\nb'", "aaab"}
	var list []string
	for _, p := range patterns {
		for _, w := range words {
			list = append(list, fmt.Sprintf("p='a*'; case %s in %s) echo y;; *) echo n;; esac; x=%[1]s; echo \"<${x#%[2]s}><${x##%[2]s}><${x%%%[2]s}><${x%%%%%[2]s}>\" ${x//%[2]s/_}", w, p))
		}
	}
	checkTable(t, "shopt -s extglob", list)
}

func Test_Every_Format_Of_Printf(t *testing.T) {
	t.Parallel()
	formats := strings.Fields("%d %i %u %o %x %X %c %s %q %b %5d %-5d| %05d %+d %.3d %e %f %g %G %5.1f %.0s %.2s %10s| %-10q| %#x %#o %ld %(%Y)T %Q %% %5% %z %")
	args := []string{"''", "0", "1", "-1", "010", "0x1F", "abc", "'a b'", `"'a"`, "1.5", "1e3", "9223372036854775807", "9223372036854775808", "é", `'\n\t\x41\101'`, "'%d'", "-", "+1", "' 7'", "'7 '", "'\\'"}
	var list []string
	for _, f := range formats {
		for _, a := range args {
			list = append(list, fmt.Sprintf("printf '[%s]' %s; echo $?", f, a))
		}
	}
	checkTable(t, "", list, "%f]' 922", "%5.1f]' 922", "%(%Y)T]' 922") // 64 bits, not 80; years beyond C's int
}

func Test_Every_Way_To_Split_Words(t *testing.T) {
	t.Parallel()
	separators := []string{"unset IFS", "IFS=", "IFS=:", "IFS=' '", "IFS=' :'", "IFS=$' \\t\\n'", "IFS=a", "IFS=:x", "IFS='*'", "IFS=$'\\n'"}
	values := []string{"''", "a", "' a b '", "a:b::c", ":a:", "' a : b '", "'a*b'", "$'a\\nb\\n'", "::", "xaxb:c", "'  '", "'a  b'"}
	forms := []string{"$v", `"$v"`, "x$v", "$v$v", `"$v"$v`, `$v""`, `''$v''`, "$(printf %s \"$v\")", "${v:-d}", "${u:-$v}", "${u-x $v}"}
	var list []string
	for _, s := range separators {
		for _, v := range values {
			for _, f := range forms {
				list = append(list, fmt.Sprintf("v=%s; %s; set -f; set -- %s; printf '%%s' $#; printf '<%%s>' \"$@\"", v, s, f))
			}
			list = append(list, fmt.Sprintf("v=%s; %s; read a b c <<< \"$v\"; printf '<%%s>' \"$a\" \"$b\" \"$c\"; read -ra w <<< \"$v\"; printf '{%%s}' \"${w[@]}\"; set -f; set -- $v; printf '<%%s>' \"$*\"", v, s))
		}
	}
	checkTable(t, "", list)
}

func Test_Every_Sequence_In_Braces(t *testing.T) {
	t.Parallel()
	ends := []string{"1", "5", "-3", "a", "e", "01", "10", "Z", "007", "", "x1", "0"}
	var list []string
	for _, a := range ends {
		for _, b := range ends {
			for _, step := range []string{"", "..1", "..2", "..-2", "..0", "..x", ".."} {
				list = append(list, fmt.Sprintf("echo {%s..%s%s} p{%[1]s..%[2]s%[3]s}s", a, b, step))
			}
		}
	}
	checkTable(t, "", list)
}

// checkTable compares statements. Those with a text of except in them need not be the same, but if all
// of them are the text has to go. With -short it compares one in seven.
func checkTable(t *testing.T, setup string, list []string, except ...string) {
	t.Helper()
	b := newBench(t)
	differ := 0
	for _, part := range except {
		n := len(b.differing(t, setup, having(list, part, true)))
		if differ += n; n == 0 {
			t.Errorf("%q agrees now", part)
		}
	}
	rest := list
	for _, part := range except {
		rest = having(rest, part, false)
	}
	if testing.Short() {
		few := rest[:0:0]
		for i := 0; i < len(rest); i += 7 {
			few = append(few, rest[i])
		}
		rest = few
	}
	for _, d := range b.differing(t, setup, rest) {
		t.Error(d)
	}
	t.Logf("%d statements, %d knowingly differ", len(list), differ)
}

// having returns the statements with the text in them, or the others.
func having(list []string, part string, with bool) (out []string) {
	for _, s := range list {
		if strings.Contains(s, part) == with {
			out = append(out, s)
		}
	}
	return out
}

// batchSize is how many statements share a process of each side.
const batchSize = 80

// endOfStatement comes before the number and the status of a statement; no statement prints it.
const endOfStatement = "\x1e"

// differing runs statements on both sides, each in a subshell, and returns those that differ.
func (b *bench) differing(tb testing.TB, setup string, list []string) (texts []string) {
	tb.Helper()
	for len(list) > 0 {
		n := min(batchSize, len(list))
		texts = append(texts, b.batch(tb, setup, list[:n])...)
		list = list[n:]
	}
	return texts
}

func (b *bench) batch(tb testing.TB, setup string, list []string) (texts []string) {
	tb.Helper()
	var script strings.Builder
	script.WriteString(setup + "\n")
	for i, s := range list {
		fmt.Fprintf(&script, "( eval %s ) 2>&1; echo %s%d $?\n", quoteWord(s), endOfStatement, i)
	}
	r := corpusRow{script: script.String()}
	dir := b.newDir()
	want, got := statements(b.there(tb, r, dir).out), statements(b.here(tb, r, dir).out)
	for i, s := range list {
		key := strconv.Itoa(i)
		if want[key] == "" {
			tb.Fatalf("bash did not run %q", s)
		}
		if got[key] != want[key] {
			texts = append(texts, fmt.Sprintf("%s\n%s\ngives\n%s\nwant\n%s", setup, s, shown(got[key]), shown(want[key])))
		}
	}
	return texts
}

// statements cuts the output of a batch by number; the status is at the end of each text.
func statements(out string) map[string]string {
	m := map[string]string{}
	for {
		text, rest, ok := strings.Cut(out, endOfStatement)
		if !ok {
			return m
		}
		line, after, _ := strings.Cut(rest, "\n")
		number, status, _ := strings.Cut(line, " ")
		m[number] = text + "status " + status
		out = after
	}
}

func quoteWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
