package sandboxtest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func lifeCases() []Case {
	return []Case{
		{Name: "close is idempotent", Run: closeTwice},
		{Name: "after close every method returns closed", Run: closedAfterwards},
		{Name: "two sandboxes over one directory see each other's files", Run: twoInOneDir},
		{Name: "two sandboxes do not share /tmp", Run: twoTmps},
		{Name: "sandboxes that are made at once are each as its own Spec says", Run: specsKeptApart},
		{Name: "status names the sandbox", Run: statusNames},
		{Name: "an unknown sandbox is not found", Run: openUnknown},
		{Name: "nothing is left behind", Run: nothingLeft, Alone: true},
	}
}

func closeTwice(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		return errors.Join(b.Close(ctx), b.Close(ctx), b.Unwrap().Close(ctx))
	})
}

func closedAfterwards(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(b box) error {
		if err := b.Close(ctx); err != nil {
			return err
		}
		_, run := b.Run(ctx, sandbox.Cmd{Args: []string{"true"}})
		_, status := b.Status(ctx)
		_, open := b.Files().Open(ctx, "f")
		for op, err := range map[string]error{"run": run, "status": status, "open": open, "remove": b.Files().Remove(ctx, "f")} {
			if hasCode(err, sandbox.Closed) != nil || !errors.Is(err, fs.ErrClosed) {
				return fmt.Errorf("%s: %w", op, hasCode(err, sandbox.Closed))
			}
		}
		// The driver holds it too, and not only package sandbox over it.
		_, err := b.Unwrap().Start(ctx, sandbox.Cmd{Args: []string{"true"}}, sandbox.Stdio{})
		if sandbox.CodeOf(err) != sandbox.Closed {
			return fmt.Errorf("the driver's Start after Close: %w, want closed", err)
		}
		return nil
	})
}

func twoInOneDir(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(a box) error {
		return over(ctx, h, a.dir, nil, func(b box) error {
			if a.ID() == b.ID() {
				return fmt.Errorf("both are called %q", a.ID())
			}
			_, err := a.out(ctx, "echo a >f")
			err = errors.Join(err, b.prints(ctx, "cat f; echo b >f", "a\n"), a.prints(ctx, "cat f", "b\n"))
			return errors.Join(err, b.Close(ctx), a.prints(ctx, "echo lives", "lives\n"))
		})
	})
}

func twoTmps(ctx context.Context, h Harness) error {
	return inside(ctx, h, nil, func(a box) error {
		return inside(ctx, h, nil, func(b box) error {
			_, err := a.out(ctx, "echo a >/tmp/f; echo a >/var/tmp/f")
			return errors.Join(err, b.refused(ctx, "cat /tmp/f", "cat /var/tmp/f"))
		})
	})
}

// Y18: sandboxes share no configuration, so none gets another's, and the end of one does not end another.
func specsKeptApart(ctx context.Context, h Harness) error {
	const n = 3
	all, first := make(chan error, n), make(chan struct{})
	for i := range n {
		go func() {
			if i == 0 {
				defer close(first) // also when there is none
			}
			all <- inside(ctx, h, func(s *sandbox.Spec) { s.Policy.Env.Set = map[string]string{"WHO": strconv.Itoa(i)} }, func(b box) error {
				_, err := b.out(ctx, "echo $WHO >f")
				if i == 0 {
					return errors.Join(err, b.Close(ctx))
				}
				select {
				case <-first:
				case <-ctx.Done():
				}
				return errors.Join(err, b.prints(ctx, "echo $WHO; cat f; ls", fmt.Sprintf("%d\n%d\nf\n", i, i)))
			})
		}()
	}
	var errs []error
	for range n {
		errs = append(errs, <-all)
	}
	return errors.Join(errs...)
}

func statusNames(ctx context.Context, h Harness) error {
	return inside(ctx, h, func(s *sandbox.Spec) { s.Name = "the name" }, func(b box) error {
		st, err := b.Status(ctx)
		if err != nil {
			return err
		}
		if st.ID != b.ID() || st.ID == "" || st.Name != "the name" || st.Backend != h.Driver().Name() ||
			st.Workspace != b.dir || st.Created.IsZero() || st.Running != 0 {
			return fmt.Errorf("status %+v", st)
		}
		return nil
	})
}

func openUnknown(ctx context.Context, h Harness) error {
	for _, id := range []string{"no-such-sandbox", "", "../..", "a\x00b"} {
		_, err := sandbox.Open(ctx, h.Driver(), id)
		if err := hasCode(err, sandbox.NotFound); err != nil {
			return fmt.Errorf("id %q: %w", id, err)
		}
	}
	return nil
}

// nothingLeft runs what the other cases run, a failing create included, and compares the harness's residue before and after.
func nothingLeft(ctx context.Context, h Harness) error {
	// What a driver opens once and keeps, such as a connection, does not count as residue.
	if err := eventful(ctx, h); err != nil {
		return err
	}
	before, err := h.Residue(ctx)
	if err != nil {
		return err
	}
	for range 3 {
		if err := eventful(ctx, h); err != nil {
			return err
		}
	}
	after, err := h.Residue(ctx)
	if err != nil {
		return err
	}
	slices.Sort(before)
	slices.Sort(after)
	for _, line := range before {
		if i := slices.Index(after, line); i >= 0 {
			after = slices.Delete(after, i, i+1)
		}
	}
	if len(after) > 0 {
		return fmt.Errorf("left behind: %q", after)
	}
	return nil
}

func eventful(ctx context.Context, h Harness) error {
	err := inside(ctx, h, nil, func(b box) error {
		_, err := b.out(ctx, survivor+"echo x >f; echo x >/tmp/f")
		_, missing := b.Run(ctx, sandbox.Cmd{Args: []string{"no-such-command"}})
		return errors.Join(err, b.put(ctx, "g", everyByte(1000)), b.holds(ctx, "f", []byte("x\n")),
			hasCode(missing, sandbox.NotFound))
	})
	bad := h.Spec("/no/such/dir")
	if i, create := h.Driver().Create(ctx, bad); create == nil {
		err = errors.Join(err, errors.New("a workspace that does not exist was taken"), i.Close(ctx))
	}
	return err
}
