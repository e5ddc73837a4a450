//go:build linux

package escape_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

type verdict int

const (
	verdictNone verdict = iota // not run
	verdictHeld
	verdictFailed
)

// results has the verdict for each case and user.
type results struct {
	mu       sync.Mutex
	verdicts map[[2]string]verdict
}

func (r *results) set(id, user string, v verdict) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.verdicts == nil {
		r.verdicts = map[[2]string]verdict{}
	}
	r.verdicts[[2]string{id, user}] = v
}

func (r *results) at(id, user string) verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.verdicts[[2]string{id, user}]
}

// findMissing returns a case and a user without a result; "": every case has a result for every user.
func (r *results) findMissing(all []escape) string {
	for _, c := range all {
		for _, u := range users {
			if r.at(c.ID, u) == verdictNone {
				return c.ID + " as " + u
			}
		}
	}
	return ""
}

// assume gives a case that was made as one user the same result as the others.
func (r *results) assume(all []escape) {
	for _, c := range all {
		for _, u := range users {
			for _, other := range users {
				if v := r.at(c.ID, other); v != verdictNone && r.at(c.ID, u) == verdictNone {
					r.set(c.ID, u, v)
				}
			}
		}
	}
}

// peerRow is a row of the matrix: measurements of other tools as uid 1000 with their defaults, write
// access to the work tree, and ~/.ssh and ~/.aws hidden.
type peerRow struct {
	attack string
	peers  [6]string
}

// peerNames are the columns, with the measured versions.
var peerNames = [6]string{
	"no sandbox", "calvinalkan/agent-sandbox 61911f4", "the same, network off", "fence 6d6e0c6",
	"sandbox-runtime 0.0.78", "landrun 0.1.18",
}

// notMeasured marks a feature of a tool that was not tried.
const notMeasured = "not measured"

var peerRows = []peerRow{
	{"read ~/.ssh key", [6]string{"open", "ok", "ok", "ok", "ok", "ok"}},
	{"write ~/.bashrc (direct, symlink, /proc/self/root)", [6]string{"open", "ok", "ok", "ok", "ok", "ok"}},
	{"write existing .git/hooks, .git/config", [6]string{"open", "ok", "ok", "ok", "ok", "open (not its aim)"}},
	{"rename .git + new hook on host", [6]string{"open", "**open**", "**open**", "**open**", "ok", "open"}},
	{"nested repo hooks (depth 2)", [6]string{"open", "**open**", "**open**", "ok", "**open** (depth)", "open"}},
	{".git/info/attributes, .git/modules/x/hooks", [6]string{"open", "**open**", "**open**", "**open**", "**open**", "open"}},
	{"create .vscode/.mcp.json/.claude settings", [6]string{"open", "**open**", "**open**", "**open**", "ok", "open"}},
	{".codex/.cursor/.envrc/CI/package.json", [6]string{"open", "**open**", "**open**", "**open**", "**open**", "open"}},
	{"abstract unix socket", [6]string{"open", "**open**", "ok", "ok", "ok", "ok"}},
	{"pathname socket /tmp", [6]string{"open", "**open**", "**open**", "ok", "ok", "**open**"}},
	{"pathname socket /var/tmp, $HOME", [6]string{"open", "**open**", "**open**", "**open**", "ok", "**open**"}},
	{"/run/user/1000/bus", [6]string{"open", "ok", "ok", "**open**", "ok", "**open**"}},
	{"TCP host loopback", [6]string{"open", "**open**", "ok", "ok", "ok", "ok"}},
	{rowDirect, [6]string{"open", "**open**", "ok", notMeasured, notMeasured, notMeasured}},
	{rowNames, [6]string{"no list", "no list", "no list", notMeasured, notMeasured, "no list (ports only)"}},
	{rowAddresses, [6]string{"no list", "no list", "no list", notMeasured, notMeasured, "no list (ports only)"}},
	{rowRequests, [6]string{"no list", "no list", "no list", notMeasured, notMeasured, "no list (ports only)"}},
	{rowProxy, [6]string{"no proxy", "no proxy", "no proxy", notMeasured, notMeasured, "no proxy"}},
	{rowPublish, [6]string{"–", "–", "–", notMeasured, notMeasured, "–"}},
	{rowSecrets, [6]string{"seen", "no masking", "no masking", notMeasured, notMeasured, "no masking"}},
	{"TIOCSTI to host tty", [6]string{"open", "**open**", "**open**", "ok", "ok", "**open**"}},
	{"inherited fd 9", [6]string{"leak", "leak", "leak", "leak", "ok", "leak"}},
	{"env secret / LD_PRELOAD", [6]string{"seen", "seen", "seen", "secret seen, loader variables not", "seen", "not passed"}},
	{"nested userns", [6]string{"ok", "allowed", "allowed", "binary masked only", "allowed", "blocked (no write to /proc)"}},
	{"ptrace / keyctl / bpf / userfaultfd", [6]string{"–", "allowed", "allowed", "denied (64-bit), **int 0x80 open**", "allowed", "allowed"}},
	{"io_uring", [6]string{"–", "allowed", "allowed", "allowed", "denied", "allowed"}},
	{"memfd exec", [6]string{"–", "allowed", "allowed", "allowed", "allowed", "allowed"}},
	{"background process survives", [6]string{"yes", "no", "no", "no", "no", "**yes**"}},
	{"hostile project config widens", [6]string{"–", "**open**", "**open**", "**open**", "no project file", "–"}},
	{"leftover files in ws afterwards", [6]string{"–", "none", "none", "none", "none (ghosts while running)", "none"}},
}

// ownVerdicts are the words for a row that holds, if "ok" would not describe it.
var ownVerdicts = map[string]string{
	".codex/.cursor/.envrc/CI/package.json": "ok; package.json is work and stays writable",
	"inherited fd 9":                        "ok, closed",
	"env secret / LD_PRELOAD":               "ok, neither seen",
	"nested userns":                         "ok, refused",
	"ptrace / keyctl / bpf / userfaultfd":   "ok, denied, i386 and x32 too",
	"io_uring":                              "ok, denied",
	"memfd exec":                            "allowed, with the same isolation",
	"background process survives":           "no",
	"hostile project config widens":         "ok, only tightens",
	"leftover files in ws afterwards":       "none, and none while running",
}

const (
	matrixBegin = "<!-- matrix: written by `go test ./test/e2e/escape -update` -->"
	matrixEnd   = "<!-- end of the matrix -->"
)

var users = []string{"root", "user"}

// checkMatrix compares the document with this run, or writes it.
func checkMatrix(t *testing.T, all []escape, res *results) {
	t.Helper()
	whole := res.findMissing(all) == ""
	if !whole {
		res.assume(all)
	}
	if missing := res.findMissing(all); missing != "" {
		t.Skipf("only part of the suite has run: no result of %s", missing)
	}
	compareDocument(t, matrixBegin, matrixEnd, matrix(all, res), *update && whole)
}

// compareDocument compares the text between two marks of the threat model with text, or writes it there.
func compareDocument(t *testing.T, begin, end, text string, write bool) {
	t.Helper()
	file := filepath.Join("..", "..", "..", "docs", "threat-model.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := strings.Cut(string(data), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s has no place %s", file, begin)
	}
	want := before + begin + "\n\n" + text + "\n" + end + after
	if want == string(data) {
		return
	}
	if !write {
		t.Fatalf("%s differs from this run; it says how to write it. Now:\n%s", file, text)
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func matrix(all []escape, res *results) string {
	var b strings.Builder
	b.WriteString("| Attack | **agent-sandbox** | " + strings.Join(peerNames[:], " | ") + " | cases |\n")
	b.WriteString("|" + strings.Repeat("---|", len(peerNames)+3) + "\n")
	for _, row := range peerRows {
		var ids, bad []string
		for _, c := range all {
			if c.Matrix != row.attack {
				continue
			}
			ids = append(ids, c.ID)
			for _, u := range users {
				if res.at(c.ID, u) != verdictHeld {
					bad = append(bad, c.ID+" as "+u)
				}
			}
		}
		our := ownVerdicts[row.attack]
		switch {
		case len(ids) == 0:
			our = "not tested"
		case len(bad) > 0:
			our = "**open** (" + strings.Join(bad, ", ") + ")"
		case our == "":
			our = "ok"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", row.attack, our, strings.Join(row.peers[:], " | "), joinRanges(ids))
	}
	held := map[string]int{}
	for _, c := range all {
		for _, u := range users {
			if res.at(c.ID, u) == verdictHeld {
				held[u]++
			}
		}
	}
	fmt.Fprintf(&b, "\n%d cases; %d hold as root, %d as a plain user.\n", len(all), held["root"], held["user"])
	if open := failures(all, res); len(open) > 0 {
		b.WriteString("\nOpen in this run:\n\n" + strings.Join(open, "\n") + "\n")
	}
	return b.String()
}

func failures(all []escape, res *results) []string {
	var out []string
	for _, c := range all {
		var who []string
		for _, u := range users {
			if res.at(c.ID, u) != verdictHeld {
				who = append(who, u)
			}
		}
		if len(who) > 0 {
			out = append(out, fmt.Sprintf("- %s, as %s: it is not true that %s", c.ID, strings.Join(who, " and "), c.Name))
		}
	}
	return out
}

// joinRanges writes many cases of one row as ranges.
func joinRanges(ids []string) string {
	var out []string
	for i := 0; i < len(ids); {
		class, number := split(ids[i])
		j := i + 1
		for ; j < len(ids); j++ {
			c, n := split(ids[j])
			if c != class || n != number+j-i {
				break
			}
		}
		if j-i > 2 {
			out = append(out, ids[i]+" to "+ids[j-1])
		} else {
			out = append(out, ids[i:j]...)
		}
		i = j
	}
	return strings.Join(slices.Compact(out), ", ")
}

func split(id string) (class string, number int) {
	class, n, _ := strings.Cut(id, ".")
	_, _ = fmt.Sscan(n, &number)
	return class, number
}
