package kube_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// waitFor waits until so many pods of the bed run, and returns their names.
func (b bed) waitFor(t *testing.T, pods int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for tick := time.Tick(100 * time.Millisecond); ; {
		out := kubectl(t, "", "get", "pods", "-n", b.namespace, "-o", `jsonpath={range .items[?(@.status.phase=="Running")]}{.metadata.name} {end}`)
		if names := strings.Fields(out); len(names) == pods {
			return names
		}
		select {
		case <-tick:
		case <-ctx.Done():
			t.Fatalf("no %d pods: %q", pods, out)
		}
	}
}

func Test_A_Prepared_Pod_Serves_One_Sandbox(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.options.Warm = 2
	d := kube.New(b.options)
	closed := false
	defer func() {
		if !closed {
			_ = d.Close()
		}
	}()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	create := func(name string, env ...string) *sandbox.Sandbox {
		t.Helper()
		spec := sandbox.Spec{Name: name, Workspace: dir, Env: append(env, "PATH=/bin")}
		spec.Policy.Env.Pass = []string{"WHOSE"}
		s, err := sandbox.Create(t.Context(), d, spec)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := create("first")
	if err := d.Prepared(t.Context()); err != nil {
		t.Fatal(err)
	}
	spares := b.waitFor(t, 3)
	second := create("second", "WHOSE=second's")
	if !strings.Contains(strings.Join(spares, " "), second.ID()) {
		t.Errorf("%s is none of the prepared %q", second.ID(), spares)
	}
	res, err := second.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", `echo "$WHOSE" $(cat file); ls /tmp /home/sandbox; echo left >/tmp/left`}})
	if want := "second's mine\n/home/sandbox:\n\n/tmp:\n"; err != nil || string(res.Stdout) != want {
		t.Errorf("%+v and %v, want %q", res, err, want)
	}
	if name := kubectl(t, "", "get", "pod", "agent-sandbox-"+second.ID(), "-n", b.namespace, "-o", `jsonpath={.metadata.annotations.agent-sandbox\.dev/name}`); name != "second" {
		t.Errorf("the pod is named %q", name)
	}
	if err := second.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	third := create("third")
	if third.ID() == second.ID() || third.ID() == first.ID() {
		t.Error("a pod served another sandbox before")
	}
	for _, s := range []*sandbox.Sandbox{first, third} {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	closed = true
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if left, err := b.pods(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("%q are left: %v", left, err)
	}
}

func Test_A_Prepared_Pod_Serves_Only_Its_Own_Isolation(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.options.Warm = 1
	d := kube.New(b.options)
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	const open = internet + `for my $f (PF_INET, PF_INET6) { print "$f " if internet($f, SOCK_STREAM) }`
	for _, c := range []struct {
		mode sandbox.NetworkMode
		want string
		pods int // those that run then
	}{{sandbox.NetworkNone, "", 2}, {sandbox.NetworkHost, "2 10 ", 3}, {sandbox.NetworkNone, "", 3}} {
		s, err := sandbox.Create(t.Context(), d, sandbox.Spec{Policy: sandbox.Policy{Network: sandbox.Network{Mode: c.mode}}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"perl", "-MSocket", "-e", open}})
		if err != nil || string(res.Stdout) != c.want {
			t.Errorf("network %s has the families %q, want %q: %v", c.mode, res.Stdout, c.want, err)
		}
		b.waitFor(t, c.pods)
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
