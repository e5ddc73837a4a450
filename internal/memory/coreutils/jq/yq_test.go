package jq_test

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

const yqDocument = `# head
a:
  b: 1 # one
  c: "x"
list:
  - n: p
    v: 0x1F
  - n: q
    v: ~
s: |
  multi
  line
anchor: &x {k: 1}
ref: *x
`

// There is a yq in Debian, which is another program: what is wanted here is the documented
// behaviour of the one in Go.
func Test_Yq_Filters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args   []string
		stdin  string
		want   string
		status int
	}{
		{[]string{".a.b"}, yqDocument, "1\n", 0},
		{[]string{".a.c"}, yqDocument, "x\n", 0},
		{[]string{"e", ".list[].n"}, yqDocument, "p\nq\n", 0},
		{[]string{"eval", ".list[] | select(.n == \"q\") | .v"}, yqDocument, "null\n", 0},
		{[]string{".a"}, yqDocument, "b: 1\nc: x\n", 0},
		{[]string{".s"}, yqDocument, "multi\nline\n", 0},
		{[]string{".ref.k"}, yqDocument, "1\n", 0},
		{[]string{"-o", "json", "-I", "0", ".list"}, yqDocument, "[{\"n\":\"p\",\"v\":31},{\"n\":\"q\",\"v\":null}]\n", 0},
		{[]string{"-o=json", "-I0", ".a.c"}, yqDocument, "\"x\"\n", 0},
		{[]string{"-o=json", "-r", ".a.c"}, yqDocument, "x\n", 0},
		{[]string{".a.b = 5 | .z = \"new\" | del(.list, .s, .anchor, .ref)"}, yqDocument, "# head\na:\n  b: 5 # one\n  c: \"x\"\nz: new\n", 0},
		{[]string{"-p", "json", "."}, `{"b":[1,{"c":null}],"a":"1"}`, "b:\n  - 1\n  - c: null\na: \"1\"\n", 0},
		{[]string{".a"}, "a: 1\n---\na: 2\n", "1\n---\n2\n", 0},
		{[]string{"-N", ".a"}, "a: 1\n---\na: 2\n", "1\n2\n", 0},
		{[]string{"-n", ".a = env(N) | .b = strenv(N)"}, "", "a: 3\nb: \"3\"\n", 0},
		{[]string{"-e", ".nope"}, yqDocument, "null\n", 1},
		{[]string{".["}, yqDocument, "", 1},
		{[]string{"."}, "a: [", "", 1},
		{[]string{"--foo", "."}, "", "", 1},
		{[]string{"-o", "xml", "."}, "", "", 1},
		{[]string{"ea", "."}, "", "", 1},
		{[]string{".", "nofile"}, "", "", 1},
		{[]string{"-i", "."}, "", "", 1},
	} {
		o := programtest.RunVirtual(t, vfs.New(vfs.Options{}), "/", append([]string{"yq"}, c.args...), programtest.Row{Stdin: c.stdin, Env: []string{"N=3"}})
		if o.Stdout != c.want || o.Status != c.status || (o.Status != 0) != (o.Stderr != "") {
			t.Errorf("%q: status %d, stdout %q, stderr %q, want %q", c.args, o.Status, o.Stdout, o.Stderr, c.want)
		}
	}
}

func Test_Yq_Changes_A_File(t *testing.T) {
	t.Parallel()
	tree := vfs.New(vfs.Options{})
	programtest.WriteVirtual(t, tree, "/f.yaml", []byte("# c\na: 1 # x\nb:\n  - 'q'\n"))
	o := programtest.RunVirtual(t, tree, "/", []string{"yq", "-i", ".a += 1 | .b += [\"r\"]", "f.yaml"}, programtest.Row{})
	if got := string(programtest.ReadVirtual(t, tree, "/f.yaml")); o.Status != 0 || got != "# c\na: 2 # x\nb:\n  - 'q'\n  - r\n" {
		t.Errorf("%+v, file %q", o, got)
	}
}

func Test_Yq_Refuses_Aliases_Without_End(t *testing.T) {
	t.Parallel()
	text := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'm'; c++ {
		text += string(c) + ": &" + string(c) + " ["
		for range 9 {
			text += "*" + string(c-1) + ","
		}
		text += "*" + string(c-1) + "]\n"
	}
	o := programtest.RunVirtual(t, vfs.New(vfs.Options{}), "/", []string{"yq", ".m | length"}, programtest.Row{Stdin: text})
	if o.Status == 0 {
		t.Errorf("status %d, %.100q", o.Status, o.Stdout)
	}
}
