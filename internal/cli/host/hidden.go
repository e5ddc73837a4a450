package host

import (
	"fmt"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/gitindex"
)

const (
	maxHidden = 100 // listed in JSON: commands decide how many there are
	fewHidden = 8   // listed for people
)

// HiddenFiles are files whose changes git does not show, because a command has set "assume unchanged" or "skip worktree" in the
// index.
type HiddenFiles struct {
	Names []string `json:"hidden_from_git,omitempty"`      // at most 100
	More  int      `json:"hidden_from_git_more,omitempty"` // number of further ones
}

// NewHiddenFiles limits a list of names.
func NewHiddenFiles(names []string) HiddenFiles {
	n := min(len(names), maxHidden)
	return HiddenFiles{Names: names[:n], More: len(names) - n}
}

// Print lists the files, if there are any.
func (h HiddenFiles) Print(p *console.Printer) {
	if len(h.Names) == 0 {
		return
	}
	p.Say("the git index hides changes of these files from git status and git diff:")
	n := min(len(h.Names), fewHidden)
	for _, name := range h.Names[:n] {
		p.Line("  " + name)
	}
	if rest := len(h.Names) - n + h.More; rest > 0 {
		p.Line(fmt.Sprintf("  and %d more", rest))
	}
	p.Line("hint: git update-index --no-skip-worktree FILE shows them, or with --no-assume-unchanged")
}

// IndexWatch finds the files that the index of a repository hides only since the watch began.
type IndexWatch struct {
	file   string
	before chan []string
}

// WatchIndex begins to read the index of the repository of a workspace. The caller calls Begin before a command starts.
func WatchIndex(workspace string) *IndexWatch {
	w := &IndexWatch{before: make(chan []string, 1)}
	if workspace != "" {
		w.file = gitindex.Find(workspace)
	}
	go func() { w.before <- gitindex.HiddenIn(w.file) }()
	return w
}

// Begin waits until the index was read, and returns a function that returns what it hides since then.
func (w *IndexWatch) Begin() func() HiddenFiles {
	before := <-w.before
	return func() HiddenFiles { return NewHiddenFiles(gitindex.New(before, gitindex.HiddenIn(w.file))) }
}
