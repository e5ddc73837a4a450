package shell

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// forText is the head of a for as BASH_COMMAND shows it.
func forHead(n *syntax.For) func() string {
	return func() string {
		s := "for " + n.Name + " in "
		if !n.In {
			return s + `"$@"`
		}
		words := make([]string, len(n.Words))
		for i, w := range n.Words {
			words[i] = w.Text
		}
		return s + strings.Join(words, " ")
	}
}

// caseText is the head of a case.
func caseText(n *syntax.Case) func() string {
	return func() string { return "case " + n.Word.Text + " in " }
}
