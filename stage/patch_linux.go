package stage

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WritePatch writes changes as git does, so that "git apply" and "patch -p1" take
// them for text: files, symbolic links and executable bits. A change of type is a
// deletion and a creation. What is not Patchable is left out; a binary file is one line
// that says so. The contents are read now, from the stage and the workspace.
func (s *Stage) WritePatch(w io.Writer, changes []Change) error {
	d, err := s.openDiff()
	if err != nil {
		return err
	}
	defer d.close()
	out := bufio.NewWriter(w)
	for _, c := range changes {
		if err := d.patch(out, c); err != nil {
			return err
		}
	}
	return out.Flush()
}

// patch writes one change.
func (d *differ) patch(w *bufio.Writer, c Change) error {
	if c.Kind == Retyped {
		gone, made := c, c
		gone.Kind, gone.New = Deleted, nil
		made.Kind, made.Old = Created, nil
		if err := d.patch(w, gone); err != nil {
			return err
		}
		return d.patch(w, made)
	}
	before, after := gitMode(c.Old), gitMode(c.New)
	if !c.Patchable() {
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
	return d.texts(w, c, before, after)
}

// texts writes the file headers and hunks of c.
func (d *differ) texts(w *bufio.Writer, c Change, before, after string) error {
	old, err := patchText(d.low, c.Path, c.Old)
	if err != nil {
		return err
	}
	now, err := patchText(d.up, c.Path, c.New)
	if err != nil {
		return err
	}
	var hunks bytes.Buffer
	if err := writeHunks(&hunks, old, now); err != nil || hunks.Len() == 0 {
		return err
	}
	fmt.Fprintf(w, "--- %s\n+++ %s\n", header("a/", c.Path, before), header("b/", c.Path, after))
	_, err = w.Write(hunks.Bytes())
	return err
}

func header(prefix, path, mode string) string {
	if mode == "" {
		return "/dev/null"
	}
	name := Quote(prefix + path)
	if strings.Contains(name, " ") && !strings.HasPrefix(name, `"`) {
		name += "\t" // ends the name for patch(1), as git does
	}
	return name
}

// patchText is what a patch compares: a file's content or a link's target.
func patchText(t *tree, path string, e *Entry) ([]byte, error) {
	switch {
	case gitMode(e) == "":
		return nil, nil
	case e.Type == Symlink:
		return []byte(e.Target), nil
	}
	f, err := t.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxText+1))
}
