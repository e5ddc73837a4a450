package text

import (
	"bytes"
	"slices"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func tsortCommand() program.Description {
	return program.Description{
		Name: "tsort", Usage: "[OPTION] [FILE]",
		Summary: "write words in an order that agrees with all pairs of FILE",
		Help: `With no FILE, or when FILE is -, read standard input. The first word of a pair comes before
the second.

      --help     show this help and exit
      --version  show the version and exit`,
		Run: runTsort,
	}
}

// tsortNode is a word.
type tsortNode struct {
	name    string
	before  int   // words that have to come first
	follow  []int // in the order of their pairs
	written bool
}

// tsort is a run of tsort.
type tsort struct {
	p     *shell.Proc
	out   *program.Output
	nodes []tsortNode
	index map[string]int
	name  string

	byName []int
}

func runTsort(p *shell.Proc) int {
	o := program.NewOptions(p, tsortCommand, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	if len(o.Args()) > 1 {
		return program.UsageError(p, tsortCommand, 1, "extra operand %s", quoting.Name(o.Args()[1]))
	}
	t := &tsort{p: p, out: program.NewOutput(p), index: map[string]int{}, name: program.FilesOrStdin(o.Args())[0]}
	b, err := program.ReadInput(p, t.name)
	if err != nil && shell.Errno(err) != syscall.EISDIR {
		if p.Context().Err() != nil {
			return p.Status(err)
		}
		p.Error(t.name, err)
		return 1
	}
	if !t.read(b) {
		return 1
	}
	status := 0
	if !t.write() {
		status = 1
	}
	if err := p.Context().Err(); err != nil {
		return p.Status(err)
	}
	return t.out.Close(status)
}

func (t *tsort) read(b []byte) bool {
	first, pair := 0, false
	for word := range bytes.FieldsFuncSeq(b, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }) {
		i, ok := t.index[string(word)]
		if !ok {
			i = len(t.nodes)
			name := string(word)
			t.index[name] = i
			t.nodes = append(t.nodes, tsortNode{name: name})
		}
		if t.p.Reserve(64) != nil || t.p.Spend(1) != nil {
			return false
		}
		if pair && first != i {
			t.nodes[i].before++
			t.nodes[first].follow = append(t.nodes[first].follow, i)
		}
		first, pair = i, !pair
	}
	if pair {
		t.p.Warn("%s: input contains an odd number of tokens", shell.QuoteIfNeeded(t.name))
		return false
	}
	return true
}

// write writes the words; false when there are loops.
func (t *tsort) write() bool {
	ok := true
	queue := t.ready()
	for left := len(t.nodes); left > 0; {
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			n := &t.nodes[i]
			_, _ = t.out.WriteString(n.name + "\n")
			n.written = true
			left--
			for _, k := range slices.Backward(n.follow) {
				f := &t.nodes[k]
				if f.before--; f.before == 0 && !f.written {
					queue = append(queue, k) // bounded: an index of a node, which is charged with 64 bytes
				}
			}
			if t.p.Spend(1+len(n.follow)) != nil || t.out.HasFailed() {
				return ok
			}
		}
		if left == 0 {
			break
		}
		ok = false
		t.p.Warn("%s: input contains a loop:", shell.QuoteIfNeeded(t.name))
		if !t.breakLoop() {
			return false
		}
		queue = t.ready()
	}
	return ok
}

// ready returns the words that nothing has to come before, by name.
func (t *tsort) ready() []int {
	var list []int
	for i := range t.nodes {
		if n := &t.nodes[i]; n.before == 0 && !n.written {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b int) int { return strings.Compare(t.nodes[a].name, t.nodes[b].name) })
	return list
}

// breakLoop finds a loop as GNU's does, by going from a word to one that has to come before it until
// one comes again; it prints the words and takes the last pair out.
func (t *tsort) breakLoop() bool {
	at := -1
	chain := map[int]int{} // from a word to the one it was found from
	for {
		moved := false
		for _, k := range t.order() {
			if t.p.Spend(1) != nil {
				return false
			}
			if t.nodes[k].before == 0 || t.nodes[k].written {
				continue
			}
			if at < 0 {
				at, moved = k, true
				continue
			}
			if !slices.Contains(t.nodes[k].follow, at) {
				continue
			}
			if _, seen := chain[k]; seen {
				t.cut(k, at, chain)
				return true
			}
			chain[k] = at // bounded: an entry for a node, which is charged
			at, moved = k, true
		}
		if !moved {
			return false
		}
	}
}

// cut prints the loop that goes from k to at and back, and takes the pair of k and at out.
func (t *tsort) cut(k, at int, chain map[int]int) {
	for i := at; ; i = chain[i] {
		t.p.Warn("%s", t.nodes[i].name)
		if i == k {
			break
		}
	}
	f := &t.nodes[k].follow
	i := slices.Index(*f, at)
	*f = slices.Delete(*f, i, i+1)
	t.nodes[at].before--
}

// order returns the words by name.
func (t *tsort) order() []int {
	if t.byName == nil {
		t.byName = make([]int, len(t.nodes))
		for i := range t.byName {
			t.byName[i] = i
		}
		slices.SortFunc(t.byName, func(a, b int) int { return strings.Compare(t.nodes[a].name, t.nodes[b].name) })
	}
	return t.byName
}
