package configimport

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// FuzzImport checks that any bytes give a policy that decodes and prints, or an error of
// one line.
func FuzzImport(f *testing.F) {
	for i, name := range []string{"claude-project.json", "srt.json", "fence.jsonc"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, data)
	}
	f.Add(0, []byte(`{"permissions":{"deny":["Read(**/*)","Bash(a*)","Edit(//x)"],"defaultMode":"plan"}}`))
	f.Add(1, []byte(`{"network":{"allowedDomains":["[::1]:1","1.2.3","xn--.x"]},"filesystem":{"denyRead":["{a,**b}/[!x]"]}}`))
	f.Add(2, []byte(`{"filesystem":{"denyWrite":["{a/b,c}/**/*"],"allowWrite":["../{x}"]},"ssh":{"allowedHosts":["*"]}}`))
	f.Fuzz(func(t *testing.T, tool int, data []byte) {
		of := Tools()[uint(tool)%3]
		host := Host{Home: testHome, Dir: testDir}
		r, err := Import(of, []File{{Name: place(of), Data: data}}, host)
		if err != nil {
			if sandbox.CodeOf(err) != sandbox.Invalid || strings.ContainsFunc(err.Error(), func(c rune) bool { return !unicode.IsPrint(c) }) {
				t.Fatalf("%v", err)
			}
			return
		}
		text := r.JSONC()
		for _, c := range string(text) {
			if c != '\n' && !unicode.IsPrint(c) {
				t.Fatalf("%q in %q", c, text)
			}
		}
		if _, _, err := policy.Decode("", text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		again, err := Import(of, []File{{Name: place(of), Data: data}}, host)
		if err != nil || !bytes.Equal(again.JSONC(), text) {
			t.Fatalf("a second import differs: %v", err)
		}
	})
}
