package configimport

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// words are the entries that the fuzz target can put into a list.
var words = []string{
	".", "src", "src/gen", "src/**", "*/gen", "**/.env", ".env", "~", "~/private", "~/private/pub", "~/link", "~/link/pub", "~/*", "~/.c*",
	"secrets/**", "secrets/pub", "secrets", "~/other", "docs/*", "*", "~/.cache", "~/.claude", "..", "~/p*/pub", "src/gen/out.go", "*.toml",
	"~/**/pub", "src/.env", "~/private/**", "pyproject.toml", "~/go/pkg", "../private", "s*", "~/notes/n", "~/n*", "gone/x", "**",
}

// FuzzSettle compares imported policies with a naive reading of srt's rules: the policy
// must forbid what they forbid. Each pair of bytes is a list and an entry of it.
func FuzzSettle(f *testing.F) {
	f.Add([]byte{0, 0, 1, 1, 2, 7})
	f.Add([]byte{0, 11, 1, 8, 0, 4, 1, 1, 3, 9, 2, 28})
	f.Add([]byte{2, 7, 3, 0, 0, 1, 2, 13, 2, 25, 1, 12})
	f.Add([]byte{0, 23, 2, 28}) // a glob that reaches below a directory of which each entry is hidden
	host := tree(f)
	var paths []string
	err := filepath.WalkDir(host.Home, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		lists := map[string][]string{}
		for i := 0; i+1 < len(data) && i < 24; i += 2 {
			key := []string{"allowWrite", "denyWrite", "denyRead", "allowRead"}[data[i]%4]
			lists[key] = append(lists[key], words[int(data[i+1])%len(words)])
		}
		text, err := json.Marshal(map[string]any{"filesystem": lists})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Import(SRT, []File{{host.Home + "/.srt-settings.json", text}}, host)
		if err != nil {
			t.Fatal(err)
		}
		imported := sandbox.Layer{Name: policy.LayerGlobal, File: "imported", Trusted: true, Policy: r.Policy}
		plan, err := policy.Resolve(sandbox.Spec{Workspace: host.Dir, Home: host.Home, Env: []string{"PATH=/usr/bin"}, Layers: []sandbox.Layer{policy.Defaults(), imported}})
		if err != nil {
			if strings.Contains(err.Error(), "it is hidden") {
				return // no command starts, so nothing is allowed
			}
			t.Fatalf("%v\n%s", err, r.JSONC())
		}
		n := naive{host: host, lists: lists}
		for _, path := range paths {
			got, rule := plan.Access(path)
			if got == policy.ReadWrite && !n.writable(path) {
				t.Errorf("%s is writable by %+v\n%s\n%s", path, rule, text, r.JSONC())
			}
			if got != policy.Exclude && n.hidden(path) {
				t.Errorf("%s is %s by %+v\n%s\n%s", path, got, rule, text, r.JSONC())
			}
		}
	})
}

// naive reads the lists as srt's manual describes them.
type naive struct {
	host  Host
	lists map[string][]string
}

func (n naive) writable(path string) bool {
	return n.depth("allowWrite", path) >= 0 && n.depth("denyWrite", path) < 0
}

func (n naive) hidden(path string) bool {
	return n.depth("denyRead", path) > max(n.depth("allowRead", path), n.depth("allowWrite", path))
}

// depth returns the depth of the deepest match of a list that is path or above it, or -1.
func (n naive) depth(list, path string) int {
	best := -1
	for _, word := range n.lists[list] {
		for at := path; at != "/"; at = filepath.Dir(at) {
			if n.match(word, at) {
				best = max(best, strings.Count(at, "/"))
				break
			}
		}
	}
	return best
}

func (n naive) match(word, at string) bool {
	full := filepath.Join(n.host.Dir, word)
	if rest, ok := strings.CutPrefix(word, "~"); ok {
		full = filepath.Join(n.host.Home, rest)
	}
	if !strings.Contains(word, "*") {
		if real, err := filepath.EvalSymlinks(full); err == nil {
			full = real
		}
		return full == at
	}
	expr := regexp.QuoteMeta(full)
	for _, r := range [][2]string{{`/\*\*/`, `/(.+/)?`}, {`\*\*`, `.+`}, {`\*`, `[^/]*`}} {
		expr = strings.ReplaceAll(expr, r[0], r[1])
	}
	re := regexp.MustCompile("^" + expr + "$")
	// A link that matches stands for its target.
	if target := filepath.Join(n.host.Home, "private"); at == target && re.MatchString(filepath.Join(n.host.Home, "link")) {
		return true
	}
	return re.MatchString(at)
}
