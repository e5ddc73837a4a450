package patch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Opener opens the regular file at a path as in [Change]; it does not follow a link there.
type Opener func(path string) (io.ReadCloser, error)

// Sides are the two trees of a change.
type Sides struct{ Old, New Opener }

// WritePatch writes changes as git does, for "git apply" and "patch -p1": text files, symbolic links and executable bits.
// A change of type is a deletion and a creation. It omits a change that is not Patchable, and writes one line for a
// binary file. It reads the contents now.
func (s Sides) WritePatch(w io.Writer, changes []Change) error {
	out := bufio.NewWriter(w)
	for _, c := range changes {
		if err := s.writeChange(out, c); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeChange writes one change.
func (s Sides) writeChange(w *bufio.Writer, c Change) error {
	if c.Kind == Retyped {
		gone, made := c, c
		gone.Kind, gone.New = Deleted, nil
		made.Kind, made.Old = Created, nil
		if err := s.writeChange(w, gone); err != nil {
			return err
		}
		return s.writeChange(w, made)
	}
	before, after := gitMode(c.Old), gitMode(c.New)
	if !c.IsPatchable() {
		return nil
	}
	from, to := Quote("a/"+c.Path), Quote("b/"+c.Path)
	fmt.Fprintf(w, "diff --git %s %s\n", from, to)
	switch {
	case before == "":
		fmt.Fprintf(w, "new file mode %s\n", after)
	case after == "":
		fmt.Fprintf(w, "deleted file mode %s\n", before)
	case before != after:
		fmt.Fprintf(w, "old mode %s\nnew mode %s\n", before, after)
	}
	if c.Kind == Modified && !c.Content {
		return nil
	}
	if c.Binary {
		if before == "" {
			from = "/dev/null"
		}
		if after == "" {
			to = "/dev/null"
		}
		fmt.Fprintf(w, "Binary files %s and %s differ\n", from, to)
		return nil
	}
	return s.writeTexts(w, c, before, after)
}

// writeTexts writes the file headers and hunks of c.
func (s Sides) writeTexts(w *bufio.Writer, c Change, before, after string) error {
	old, err := textOf(s.Old, c.Path, c.Old)
	if err != nil {
		return err
	}
	now, err := textOf(s.New, c.Path, c.New)
	if err != nil {
		return err
	}
	var hunks bytes.Buffer
	if err := writeHunks(&hunks, old, now); err != nil || hunks.Len() == 0 {
		return err
	}
	fmt.Fprintf(w, "--- %s\n+++ %s\n", formatHeader("a/", c.Path, before), formatHeader("b/", c.Path, after))
	_, err = w.Write(hunks.Bytes())
	return err
}

func formatHeader(prefix, path, mode string) string {
	if mode == "" {
		return "/dev/null"
	}
	name := Quote(prefix + path)
	if strings.Contains(name, " ") && !strings.HasPrefix(name, `"`) {
		name += "\t" // a tab ends the name for patch(1), as in git's patches
	}
	return name
}

// textOf returns the text that a patch compares: a file's content or a link's target.
func textOf(open Opener, path string, e *Entry) ([]byte, error) {
	switch {
	case gitMode(e) == "":
		return nil, nil
	case e.Type == Symlink:
		return []byte(e.Target), nil
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText+1))
}

// Describe returns the difference between the entries of one path; false: they are equal. A nil entry means that the
// path does not exist. It reads the contents of files. The caller sets Conflict, Never and Note.
func (s Sides) Describe(path string, was, now *Entry) (c Change, differs bool, err error) {
	c = Change{Path: path, Old: was, New: now}
	switch {
	case was == nil && now == nil:
		return c, false, nil
	case was == nil:
		c.Kind = Created
	case now == nil:
		c.Kind = Deleted
	case was.Type != now.Type:
		c.Kind = Retyped
	default:
		c.Kind = Modified
		if c.Content, err = s.contentDiffers(path, was, now); err != nil {
			return c, true, err
		}
		if !c.Content && (was.Mode == now.Mode || now.Type == Symlink) {
			return c, false, nil
		}
	}
	c.Binary = now.IsBinary(s.New, path) || was.IsBinary(s.Old, path)
	return c, true, nil
}

func (s Sides) contentDiffers(path string, was, now *Entry) (bool, error) {
	if now.Type != File || was.Size != now.Size {
		return was.Size != now.Size || was.Target != now.Target, nil
	}
	a, err := s.Old(path)
	if err != nil {
		return true, err
	}
	defer a.Close()
	b, err := s.New(path)
	if err != nil {
		return true, err
	}
	defer b.Close()
	equal, err := EqualFiles(a, b)
	return !equal, err
}

// EqualFiles reports whether two readers return the same bytes.
func EqualFiles(a, b io.Reader) (bool, error) {
	const chunk = 64 << 10
	x, y := make([]byte, chunk), make([]byte, chunk)
	for {
		n, err := io.ReadFull(a, x)
		m, other := io.ReadFull(b, y)
		if n != m || !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		for _, e := range []error{err, other} {
			if e != nil && !errors.Is(e, io.EOF) && !errors.Is(e, io.ErrUnexpectedEOF) {
				return false, e
			}
		}
		if err != nil || other != nil {
			return err != nil && other != nil, nil
		}
	}
}

// IsBinary reports whether a patch cannot show the file at path: it is over 16 MiB, has a NUL byte at its start or
// cannot be read. An entry of another type is not binary. e may be nil.
func (e *Entry) IsBinary(open Opener, path string) bool {
	if e == nil || e.Type != File {
		return false
	}
	if e.Size > maxText {
		return true
	}
	f, err := open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, binaryHead)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	return isBinaryHead(head[:n])
}
