//go:build linux

package persist_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/rounds"
)

func Test_A_Suspended_Keeper_Is_Named_And_Can_Be_Killed(t *testing.T) {
	d := newDriver(t)
	create(t, d, "stuck")
	pid := keeperOf(t, "stuck")
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGCONT) }) // if it was not killed
	ctx, cancel := context.WithTimeout(t.Context(), deadline.Scale(20*time.Second))
	defer cancel()
	for name, do := range map[string]func() error{
		"Open":    func() error { _, err := sandbox.Open(ctx, d, "stuck"); return err },
		"State":   func() error { _, err := d.State(ctx, "stuck"); return err },
		"Start":   func() error { return d.Start(ctx, "stuck", nil) },
		"Stop":    func() error { return d.Stop(ctx, "stuck") },
		"Destroy": func() error { return d.Destroy(ctx, "stuck") },
	} {
		err := do()
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("a signal has suspended the process of sandbox stuck, %d", pid)) || !strings.Contains(sandbox.HintOf(err), "destroy --force stuck") {
			t.Errorf("%s: %v (%s)", name, err, sandbox.HintOf(err))
		}
	}
	if err := d.Store.Kill(ctx, "stuck"); err != nil {
		t.Fatal(err)
	}
	if st, err := d.State(ctx, "stuck"); err != nil || st.Running {
		t.Errorf("after Kill it is %+v, %v", st, err)
	}
	if err := d.Store.Kill(ctx, "stuck"); err != nil {
		t.Errorf("Kill of a stopped one: %v", err)
	}
	if err := d.Destroy(ctx, "stuck"); err != nil {
		t.Error(err)
	}
	if left := marked(t); len(left) > 0 {
		t.Errorf("these are left: %q", left)
	}
}

func Test_A_Sandbox_Starts_Right_After_Its_Keeper_Was_Killed(t *testing.T) {
	d := newDriverOver(t, "virtual")
	create(t, d, "again")
	for range rounds.Of(20) {
		if err := unix.Kill(keeperOf(t, "again"), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := d.Start(t.Context(), "again", []string{"MARK=" + t.Name()}); err != nil {
			t.Fatal(err)
		}
	}
}

func Test_Prune_Spares_Sandboxes_That_Are_Being_Created(t *testing.T) {
	d := newDriverOver(t, "virtual")
	done := make(chan struct{})
	var pruning sync.WaitGroup
	pruning.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if names, err := d.Prune(t.Context()); err != nil || len(names) > 0 {
				t.Errorf("pruned %q, %v", names, err)
			}
		}
	})
	for i := range rounds.Of(20) {
		create(t, d, fmt.Sprintf("new%d", i))
	}
	close(done)
	pruning.Wait()
}

func Test_A_Record_That_Says_More_Than_This_Program_Knows_Is_Refused(t *testing.T) {
	for content, want := range map[string]string{
		`{"version": 1, "backend": "virtual", "created": "2026-01-02T03:04:05Z", "spec": {}}`:                         "",
		`{"backend": "virtual", "created": "2026-01-02T03:04:05Z", "spec": {}}`:                                       "",
		`{"version": 2, "backend": "virtual", "sealed": true, "spec": {}}`:                                            "version 2 of the format; expected at most 1",
		`{"version": 1, "backend": "virtual", "created": "2026-01-02T03:04:05Z", "sealed": true, "spec": {}}`:         `unknown field "sealed"`,
		`{"version": 1, "backend": "virtual", "created": "2026-01-02T03:04:05Z", "spec": {"Sealed": true}}`:           `unknown field "Sealed"`,
		`{"version": 1, "backend": "virtual", "spec": {"Layers": [{"Name": "flags", "Policy": {"walls": "thick"}}]}}`: "walls",
		`{"version": 1, "backend": "vir`: "unexpected end",
		``:                               "unexpected end",
	} {
		d := newDriverOver(t, "virtual")
		if err := d.Store.Add(persist.Record{ID: "other", Backend: "virtual"}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.Store.Dir, "other", "record.json"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := d.Store.Load("other")
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", content, err)
			}
			continue
		}
		if sandbox.CodeOf(err) != sandbox.Invalid || !strings.Contains(err.Error(), want) || !strings.Contains(sandbox.HintOf(err), "destroy other") {
			t.Errorf("%s: %v (%s); expected %q", content, err, sandbox.HintOf(err), want)
		}
		if err := d.Start(t.Context(), "other", nil); sandbox.CodeOf(err) != sandbox.Invalid {
			t.Errorf("%s: started, %v", content, err)
		}
		if err := d.Destroy(t.Context(), "other"); err != nil {
			t.Errorf("%s: Destroy: %v", content, err)
		}
	}
}
