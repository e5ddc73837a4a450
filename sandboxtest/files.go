package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func fileCases() []Case {
	return []Case{
		{Name: "a file comes back as it was created", Run: fileRoundTrip},
		{Name: "a file that is created replaces the old one", Run: fileReplaced},
		{Name: "a file of commands is a file of Files and the other way round", Run: filesAreShared},
		{Name: "any file name is taken as it is", Run: fileNames},
		{Name: "a relative name starts in the directory of the sandbox", Run: relativeNames},
		{Name: "stat describes a file, a directory and a symbolic link", Run: fileStat},
		{Name: "a directory is listed sorted by name", Run: fileList},
		{Name: "remove deletes a tree", Run: fileRemove},
		{Name: "rename moves a file", Run: fileRename},
		{Name: "a missing file is not found by every operation", Run: fileMissing},
		{Name: "a broken stream leaves the old file", Run: fileBroken},
	}
}

func (b box) put(ctx context.Context, name string, data []byte) error {
	return b.Files().Create(ctx, name, 0o644, bytes.NewReader(data))
}

func (b box) fetch(ctx context.Context, name string) ([]byte, error) {
	r, err := b.Files().Open(ctx, name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

func (b box) holds(ctx context.Context, name string, want []byte) error {
	got, err := b.fetch(ctx, name)
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("%q holds %d bytes %.40q, want %d bytes %.40q", name, len(got), got, len(want), want)
	}
	return err
}

func fileRoundTrip(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		for _, data := range [][]byte{nil, []byte("x"), []byte("a\r\n\x00b"), everyByte(1 << 20)} {
			name := path.Join(b.dir, fmt.Sprintf("%d", len(data)))
			if err := errors.Join(b.put(ctx, name, data), b.holds(ctx, name, data)); err != nil {
				return fmt.Errorf("%d bytes: %w", len(data), err)
			}
		}
		return nil
	})
}

func fileReplaced(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		name := path.Join(b.dir, "f")
		for _, data := range [][]byte{everyByte(5000), []byte("short"), nil} {
			if err := errors.Join(b.put(ctx, name, data), b.holds(ctx, name, data)); err != nil {
				return err
			}
		}
		return nil
	})
}

func filesAreShared(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		script := path.Join(b.dir, "script")
		err := b.Files().Create(ctx, script, 0o755, strings.NewReader("#!/bin/sh\nprintf %s \"$1\" >made\n"))
		if err != nil {
			return err
		}
		if _, err := b.Run(ctx, sandbox.Cmd{Args: []string{script, "by a command"}}); err != nil {
			return err
		}
		return b.holds(ctx, path.Join(b.dir, "made"), []byte("by a command"))
	})
}

// Names that a program between the caller and the file could misread.
func oddNames() []string {
	return []string{
		"with space", "new\nline", "tab\t", "-rf", "--help", "~", "$HOME", "`id`", "'", `"`, `\`, "%s%n", "*", "[a]", "?",
		"{a,b}", "\xff\xfe not utf-8", "ünïcode", "e\u0301", "..hidden", "...", ";ls", "#", ":", strings.Repeat("n", 255),
	}
}

func fileNames(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		for _, base := range oddNames() {
			name := path.Join(b.dir, base)
			if err := errors.Join(b.put(ctx, name, []byte(base)), b.holds(ctx, name, []byte(base))); err != nil {
				return fmt.Errorf("%q: %w", base, err)
			}
			if info, err := b.Files().Stat(ctx, name); err != nil || info.Name != base {
				return fmt.Errorf("stat of %q says %q: %w", base, info.Name, err)
			}
		}
		return b.listed(ctx, b.dir, oddNames())
	})
}

func (b box) listed(ctx context.Context, dir string, want []string) error {
	infos, err := b.Files().List(ctx, dir)
	if err != nil {
		return err
	}
	var got []string
	for _, info := range infos {
		got = append(got, info.Name)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("listed %q, want %q", got, want)
	}
	return nil
}

func relativeNames(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		if err := b.put(ctx, "relative", []byte("r")); err != nil {
			return err
		}
		return errors.Join(b.holds(ctx, path.Join(b.dir, "relative"), []byte("r")), b.prints(ctx, "cat relative", "r"))
	})
}

func fileStat(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		if _, err := b.out(ctx, "umask 022; mkdir d; ln -s 'to nowhere' l; : >f; chmod 640 f"); err != nil {
			return err
		}
		if err := b.put(ctx, "g", everyByte(1234)); err != nil {
			return err
		}
		for _, want := range []sandbox.FileInfo{
			{Name: "d", Mode: fs.ModeDir | 0o755},
			{Name: "l", Mode: fs.ModeSymlink | 0o777, Target: "to nowhere"},
			{Name: "f", Mode: 0o640},
			{Name: "g", Mode: 0o644, Size: 1234},
		} {
			got, err := b.Files().Stat(ctx, want.Name)
			if err != nil {
				return err
			}
			if got.Name != want.Name || got.Mode != want.Mode || got.Target != want.Target ||
				want.Mode.IsRegular() && got.Size != want.Size || got.Time.IsZero() {
				return fmt.Errorf("stat of %s: got %+v, want %+v", want.Name, got, want)
			}
		}
		return nil
	})
}

func fileList(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		if err := b.listed(ctx, b.dir, nil); err != nil {
			return err
		}
		if _, err := b.out(ctx, "mkdir b; : >c; : >B; : >.a; ln -s nowhere a; : >b/below"); err != nil {
			return err
		}
		return b.listed(ctx, b.dir, []string{".a", "B", "a", "b", "c"})
	})
}

func fileRemove(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		if _, err := b.out(ctx, "mkdir -p d/e keep; : >d/e/f; : >keep/f; ln -s ../keep d/l; : >g"); err != nil {
			return err
		}
		if err := errors.Join(b.Files().Remove(ctx, "d"), b.Files().Remove(ctx, "g")); err != nil {
			return err
		}
		// Remove deletes a link inside the tree, but not its target.
		return errors.Join(b.listed(ctx, b.dir, []string{"keep"}), b.listed(ctx, "keep", []string{"f"}))
	})
}

func fileRename(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		err := errors.Join(b.put(ctx, "a", []byte("a")), b.put(ctx, "b", []byte("b")), b.Files().Rename(ctx, "a", "b"))
		return errors.Join(err, b.holds(ctx, "b", []byte("a")), b.listed(ctx, b.dir, []string{"b"}))
	})
}

func fileMissing(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		f := b.Files()
		_, open := f.Open(ctx, "missing")
		_, stat := f.Stat(ctx, "missing")
		_, list := f.List(ctx, "missing")
		for op, err := range map[string]error{
			"open": open, "stat": stat, "list": list,
			"remove": f.Remove(ctx, "missing"),
			"rename": f.Rename(ctx, "missing", "other"),
			"create": b.put(ctx, "missing/f", nil),
		} {
			if hasCode(err, sandbox.NotFound) != nil || !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: %w", op, hasCode(err, sandbox.NotFound))
			}
		}
		return nil
	})
}

func fileBroken(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		if err := b.put(ctx, "f", []byte("old")); err != nil {
			return err
		}
		broken := io.MultiReader(bytes.NewReader(everyByte(100_000)), failing{})
		if err := b.Files().Create(ctx, "f", 0o644, broken); !errors.Is(err, errBroken) {
			return fmt.Errorf("create from a broken stream: %w, want %w", err, errBroken)
		}
		return errors.Join(b.holds(ctx, "f", []byte("old")), b.listed(ctx, b.dir, []string{"f"}))
	})
}

var errBroken = errors.New("the stream broke")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBroken }
