package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The contract does not cover operations to which a sandbox's Files answer Unsupported.
func treeCases() []Case {
	return []Case{
		{Name: "a directory is made with what is missing above it", Run: treeMkdir},
		{Name: "a search finds names and lines", Run: treeSearch},
		{Name: "a search stops at its limit", Run: treeSearchCut},
		{Name: "a tree that is packed is unpacked as it was", Run: treeRoundTrip},
		{Name: "a broken stream of a tree is an error", Run: treeBroken},
	}
}

// ignoreUnsupported returns nil for the error of an unsupported operation, and err otherwise.
func ignoreUnsupported(err error) error {
	if sandbox.CodeOf(err) == sandbox.Unsupported {
		return nil
	}
	return err
}

func treeMkdir(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		m := b.Files().(sandbox.Maker) //nolint:forcetypeassert // the contract of Sandbox.Files
		if err := m.Mkdir(ctx, "a/b/c", 0o750); err != nil {
			return ignoreUnsupported(err)
		}
		if err := errors.Join(m.Mkdir(ctx, "a/b/c", 0o700), b.put(ctx, "f", nil)); err != nil {
			return err
		}
		if err := m.Mkdir(ctx, "f", 0o755); hasCode(err, sandbox.Exists) != nil {
			return fmt.Errorf("in the place of a file: %w", hasCode(err, sandbox.Exists))
		}
		return b.prints(ctx, "stat -c '%a %F' a/b/c", "750 directory\n")
	})
}

func treeSearch(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		script := `mkdir -p d/e; printf 'one\ntwo needle\nthree\n' >d/e/x.txt; printf needle >d/y.md; printf 'needle\000' >d/binary.txt
printf 'none\n' >z.txt; ln -s d/e/x.txt l.txt; ln -s d ld; : >"new
line.txt"`
		if _, err := b.out(ctx, script); err != nil {
			return err
		}
		for _, row := range []struct {
			q    sandbox.Query
			want []sandbox.Match
		}{
			{sandbox.Query{Name: "*.txt"}, []sandbox.Match{{Name: "d/binary.txt"}, {Name: "d/e/x.txt"}, {Name: "l.txt"}, {Name: "new\nline.txt"}, {Name: "z.txt"}}},
			{sandbox.Query{Text: "needle"}, []sandbox.Match{{Name: "d/e/x.txt", Line: 2, Text: "two needle"}, {Name: "d/y.md", Line: 1, Text: "needle"}}},
			{sandbox.Query{Name: "*.md", Text: "needle"}, []sandbox.Match{{Name: "d/y.md", Line: 1, Text: "needle"}}},
			{sandbox.Query{Text: "nowhere"}, nil},
		} {
			found, err := b.Files().(sandbox.Searcher).Search(ctx, ".", row.q) //nolint:forcetypeassert // the contract of Sandbox.Files
			if err != nil || found.Cut || !slices.Equal(found.Matches, row.want) {
				return fmt.Errorf("%+v: %+v, want %+v: %w", row.q, found, row.want, err)
			}
		}
		return nil
	})
}

func treeSearchCut(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		if _, err := b.out(ctx, "for i in 1 2 3 4 5; do : >f$i; done"); err != nil {
			return err
		}
		s := b.Files().(sandbox.Searcher) //nolint:forcetypeassert // the contract of Sandbox.Files
		for limit, cut := range map[int]bool{4: true, 5: false} {
			found, err := s.Search(ctx, ".", sandbox.Query{Max: limit})
			if err != nil || found.Cut != cut || len(found.Matches) != limit {
				return fmt.Errorf("%d at most: %+v: %w", limit, found, err)
			}
		}
		_, err := s.Search(ctx, "missing", sandbox.Query{})
		_, bad := s.Search(ctx, ".", sandbox.Query{Name: "["})
		return errors.Join(hasCode(err, sandbox.NotFound), hasCode(bad, sandbox.Invalid))
	})
}

func treeRoundTrip(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		script := `mkdir -p from/d/e from/none to; printf text >from/d/f; chmod 750 from/d/f; : >from/empty; ln -s d/f from/l; ln -s nowhere from/dangling
printf odd >"from/new
line"`
		if _, err := b.out(ctx, script); err != nil {
			return err
		}
		if err := b.put(ctx, "from/big", everyByte(3<<20)); err != nil {
			return err
		}
		a := b.Files().(sandbox.Archiver) //nolint:forcetypeassert // the contract of Sandbox.Files
		r, err := a.Pack(ctx, path.Join(b.dir, "from"))
		if err != nil {
			return ignoreUnsupported(err)
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
		if err := a.Unpack(ctx, "to", bytes.NewReader(data)); err != nil {
			return err
		}
		const list = "cd %s; find . | sort; stat -c %%a d/f; cat d/f new*; readlink l dangling; cksum <big"
		want, err := b.out(ctx, fmt.Sprintf(list, "from"))
		if err != nil {
			return err
		}
		return b.prints(ctx, fmt.Sprintf(list, "to"), want)
	})
}

func treeBroken(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		a := b.Files().(sandbox.Archiver) //nolint:forcetypeassert // the contract of Sandbox.Files
		err := a.Unpack(ctx, ".", io.MultiReader(bytes.NewReader(make([]byte, 100)), failing{}))
		if ignoreUnsupported(err) == nil {
			return err
		}
		if !errors.Is(err, errBroken) {
			return fmt.Errorf("unpack from a broken stream: %w, want %w", err, errBroken)
		}
		_, err = a.Pack(ctx, "missing")
		return hasCode(err, sandbox.NotFound)
	})
}
