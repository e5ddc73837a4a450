package regex

import (
	"unicode/utf8"
)

// text is the known part of the text that a node matches.
type text struct {
	all   []byte // everything, if exact
	exact bool
	empty bool // exact, and asks nothing of the place
	head  []byte
	must  []byte
}

// textOf looks for texts that are in every match of n.
func textOf(n *node, flags Flags) text {
	if n == nil {
		return text{exact: true, empty: true}
	}
	switch n.kind {
	case kindClass:
		if b := bytesOf(n.set, flags); b != nil {
			return text{all: b, exact: true, empty: true, head: b, must: b}
		}
	case kindConcat:
		return textOfConcat(n, flags)
	case kindGroup, kindAtomic:
		t := textOf(n.left, flags)
		t.empty = false
		return t
	case kindAssert, kindKeep:
		return text{exact: true}
	case kindRepeat:
		if n.min > 0 {
			t := textOf(n.left, flags)
			return text{head: t.head, must: t.must}
		}
	default:
	}
	return text{}
}

// maxText bounds the literal text that is searched for.
const maxText = 256

func textOfConcat(n *node, flags Flags) text {
	var t text
	var run []byte // only of this call: nothing appends to it once it is a result
	atHead := true
	t.exact, t.empty = true, true
	end := func() {
		if atHead {
			t.head = run
		}
		if len(run) > len(t.must) {
			t.must = run
		}
	}
	for n != nil {
		part := n
		if n.kind == kindConcat {
			part, n = n.left, n.right
		} else {
			n = nil
		}
		p := textOf(part, flags)
		t.empty = t.empty && p.empty
		if p.exact {
			run = append(run, p.all...)
			continue
		}
		t.exact, t.empty = false, false
		run = append(run, p.head...)
		end()
		atHead = false
		if run = nil; len(p.must) > len(t.must) {
			t.must = p.must
		}
	}
	end()
	if t.exact {
		t.all = run
	}
	return t
}

// bytesOf returns the only character of a set; nil when there are more, or when it
// is a byte that may also be inside a character.
func bytesOf(s *set, flags Flags) []byte {
	r, ok := s.single()
	switch {
	case !ok || r > utf8.MaxRune:
		return nil
	case flags&Bytes != 0:
		return []byte{byte(r)}
	}
	return utf8.AppendRune(nil, r)
}

// build makes the programs of the tree.
func (r *Regexp) build(t *tree) error {
	found := textOf(t.root, r.flags)
	if r.isLit = found.exact && found.empty && t.groups == 0; r.isLit {
		r.lit = found.all
	}
	r.must = found.must
	if r.head = len(found.head) > 0 && (len(found.head) > 2 || len(found.head) >= len(found.must)); r.head {
		r.must = found.head
	}
	r.must = r.must[:min(len(r.must), maxText)]
	r.exact = !t.backs && !t.perl
	if r.find = newNeedle(r.must); r.isLit {
		r.find = newNeedle(r.lit)
		return nil
	}
	var err error
	if r.prog, err = emit(t, r.flags, false); err != nil {
		return err
	}
	if !r.exact || r.perl {
		r.back, err = emit(t, r.flags, true)
	}
	return err
}
