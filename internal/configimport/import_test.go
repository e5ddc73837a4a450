package configimport

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy"
)

var update = flag.Bool("update", false, "write the golden files")

const testHome, testDir = "/no-such-home/me", "/no-such-home/me/project"

// testHost reads the fixtures, and no file of this host.
func testHost(t *testing.T) Host {
	t.Helper()
	return Host{Home: testHome, Dir: testDir, Read: func(file string) ([]byte, error) {
		data, err := os.ReadFile(filepath.Join("testdata", filepath.Base(file)))
		return data, err
	}}
}

func fixture(t *testing.T, name, at string) File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return File{Name: at, Data: data}
}

// summary is the output for the user: the policy with its comments, then the lacks.
func summary(r *Result) []byte {
	b := bytes.NewBuffer(r.JSONC())
	for _, l := range r.Lacks {
		b.WriteString("// " + string(l.Kind) + " " + jsonc.OneLine(l.Key) + " " + jsonc.OneLine(l.Value) + ": " + l.Why + "\n")
	}
	return b.Bytes()
}

func Test_Import_Of_Real_Settings_Equals_The_Golden_File(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		tool  Tool
		files []File
	}{
		{"claude", Claude, []File{
			fixture(t, "claude-user.json", testHome+"/.claude/settings.json"),
			fixture(t, "claude-project.json", testDir+"/.claude/settings.json"),
		}},
		{"srt", SRT, []File{fixture(t, "srt.json", testHome+"/.srt-settings.json")}},
		{"fence", Fence, []File{fixture(t, "fence.jsonc", testDir+"/fence.jsonc")}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r, err := Import(row.tool, row.files, testHost(t))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", row.name+".golden.jsonc")
			if *update {
				if err := os.WriteFile(golden, summary(r), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(r); !bytes.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			again, err := Import(row.tool, row.files, testHost(t))
			if err != nil || !bytes.Equal(summary(again), summary(r)) {
				t.Errorf("a second import differs: %v", err)
			}
		})
	}
}

// importOne imports one document under the file name that its tool uses.
func importOne(t *testing.T, tool Tool, text string) *Result {
	t.Helper()
	r, err := Import(tool, []File{{Name: place(tool), Data: []byte(text)}}, testHost(t))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func place(tool Tool) string {
	return map[Tool]string{
		Claude: testDir + "/.claude/settings.json",
		SRT:    testHome + "/.srt-settings.json",
		Fence:  testDir + "/fence.json",
	}[tool]
}

// compact returns the policy as people would write it on one line, without the entries
// that every document of the tool has.
func compact(t *testing.T, r *Result) string {
	t.Helper()
	p := r.Policy
	p.Filesystem.Presets = slices.DeleteFunc(slices.Clone(p.Filesystem.Presets), func(s string) bool { return s == "!@caches" || s == "!@agents" })
	p.Commands = maps.Clone(p.Commands)
	if r.Tool == Fence {
		for _, name := range fenceDefaults {
			delete(p.Commands, name)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

func kinds(r *Result) string {
	var out []string
	for _, l := range r.Lacks {
		out = append(out, string(l.Kind)+" "+l.Key)
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

// importRow is one setting and its expected translation.
type importRow struct {
	name, in, want string
	lacks          string // "KIND KEY, ..." sorted
}

func runRows(t *testing.T, tool Tool, rows []importRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := importOne(t, tool, row.in)
			if got := compact(t, r); got != row.want {
				t.Errorf("policy\n%s\nwant\n%s", got, row.want)
			}
			if got := kinds(r); got != row.lacks {
				t.Errorf("lacks\n%s\nwant\n%s", got, row.lacks)
			}
			p, _, err := policy.Decode("", r.JSONC())
			if err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(p)
			b, _ := json.Marshal(r.Policy)
			if !bytes.Equal(a, b) {
				t.Errorf("decoded %s, have %s", a, b)
			}
			if want := !strings.Contains(row.lacks, "restriction "); r.IsComplete() != want {
				t.Errorf("complete is %v", r.IsComplete())
			}
		})
	}
}
