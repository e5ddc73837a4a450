package sandbox

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
)

// Query describes what [Searcher] looks for.
type Query struct {
	Name string // glob of path.Match over base names; empty: any
	Text string // what a line of a regular file holds; empty: files are not opened, and every name is a match
	Max  int    // matches; 0: [DefaultMatches]
}

// DefaultMatches is the number of matches that a [Query] without Max gets at most.
const DefaultMatches = 1000

// Match is one match of a search.
type Match struct {
	Name string `json:"name"`           // path relative to where the search began
	Line int    `json:"line,omitempty"` // of the text, from 1; 0: only the name was looked for
	Text string `json:"text,omitempty"` // that line, at most 4 KiB of it
}

// Found is the result of a search, in the order of a walk that visits each directory's entries by name.
type Found struct {
	Matches []Match `json:"matches"`
	Cut     bool    `json:"cut"` // the query's or the search's limit was reached, so there may be more
}

// Bounds of a search.
const (
	maxSearched   = 1 << 20  // entries that are looked at
	maxSearchLine = 64 << 10 // bytes of a line that are looked at at once
	maxMatchText  = 4 << 10
)

// Tree is the part of [Files] that a search needs.
type Tree interface {
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	List(ctx context.Context, name string) ([]FileInfo, error)
}

// SearchTree is a [Searcher] over any tree. Symbolic links are not followed, and files that hold a NUL byte have no text.
// What cannot be read is passed over; that root cannot be listed is an error.
func SearchTree(ctx context.Context, t Tree, root string, q Query) (Found, error) {
	if _, err := path.Match(q.Name, ""); err != nil {
		return Found{}, Errorf(Invalid, "pattern %q: %w", q.Name, err)
	}
	if q.Max <= 0 {
		q.Max = DefaultMatches
	}
	s := &search{ctx: ctx, tree: t, root: root, query: q, found: Found{Matches: []Match{}}}
	err := s.directory(".")
	if errors.Is(err, errEnough) {
		s.found.Cut, err = true, nil
	}
	return s.found, err
}

var errEnough = errors.New("enough was found")

type search struct {
	ctx   context.Context //nolint:containedctx // of SearchTree, which it does not outlive
	tree  Tree
	root  string
	query Query
	seen  int
	found Found
}

func (s *search) directory(dir string) error {
	infos, err := s.tree.List(s.ctx, s.root+"/"+dir)
	if err != nil {
		if dir == "." || s.ctx.Err() != nil {
			return err
		}
		return nil
	}
	for _, info := range infos {
		if s.seen++; s.seen > maxSearched {
			return errEnough
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if err := s.entry(path.Join(dir, info.Name), info); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) entry(name string, info FileInfo) error {
	ok, _ := path.Match(s.query.Name, info.Name) // the pattern was tried
	if ok || s.query.Name == "" {
		if s.query.Text == "" {
			if err := s.add(Match{Name: name}); err != nil {
				return err
			}
		} else if info.Mode.IsRegular() {
			if err := s.file(name); err != nil {
				return err
			}
		}
	}
	if info.Mode.Type() == fs.ModeDir {
		return s.directory(name)
	}
	return nil
}

func (s *search) add(m Match) error {
	if len(s.found.Matches) == s.query.Max {
		return errEnough
	}
	s.found.Matches = append(s.found.Matches, m)
	return nil
}

// file looks through the lines of a file; of one that is longer than maxSearchLine, through its parts.
func (s *search) file(name string) error {
	f, err := s.tree.Open(s.ctx, s.root+"/"+name)
	if err != nil {
		return s.ctx.Err()
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, maxSearchLine)
	if head, _ := r.Peek(8 << 10); bytes.IndexByte(head, 0) >= 0 {
		return nil
	}
	matched := false
	for line := 1; ; {
		part, prefix, err := r.ReadLine()
		if err != nil {
			return s.ctx.Err() // a file that cannot be read to its end has no more text
		}
		if !matched && bytes.Contains(part, []byte(s.query.Text)) {
			matched = true
			text := string(bytes.ToValidUTF8(part[:min(len(part), maxMatchText)], []byte("?")))
			if err := s.add(Match{Name: name, Line: line, Text: text}); err != nil {
				return err
			}
		}
		if !prefix {
			line++
			matched = false
		}
	}
}
