package virtual_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_A_Limit_That_A_Command_Meets_Is_Reported_With_What_Raises_It(t *testing.T) {
	for _, row := range []struct {
		name   string
		limits sandbox.Limits
		script string
		want   []string // reason, fix
	}{
		{"disk", sandbox.Limits{Disk: 10 << 20}, "head -c 20M /dev/zero >/tmp/f", []string{"all files together have at most 10MiB", "--limit disk=20MiB"}},
		{"file", sandbox.Limits{File: 1 << 20}, "head -c 2M /dev/zero >/tmp/f", []string{"a file has at most 1MiB", "--limit file=2MiB"}},
		{"file, by truncate", sandbox.Limits{File: 1 << 20}, "truncate -s 2M /tmp/f", []string{"a file has at most 1MiB", "--limit file=2MiB"}},
		{"nodes", sandbox.Limits{Nodes: 1000}, "for i in $(seq 1001); do : >/tmp/$i || exit; done", []string{"there are at most 1000 files and directories", "--limit nodes=2000"}},
		{"memory", sandbox.Limits{Memory: 10 << 20}, "x=$(head -c 20M /dev/zero | tr '\\0' a)", []string{"a command has at most 10MiB", "--limit memory=20MiB"}},
		{"memory, the default", sandbox.Limits{}, "x=$(head -c 200M /dev/zero | tr '\\0' a); y=$x$x", []string{"a command has at most 256MiB", "--limit memory=512MiB"}},
		{"pids", sandbox.Limits{Pids: 3}, "sleep 0.1 | sleep 0.1 | sleep 0.1 | sleep 0.1", []string{"there are at most 3 processes", "--limit pids=6"}},
		{"none", sandbox.Limits{File: 1 << 20}, "head -c 1M /dev/zero >/tmp/f; echo x >/dev/full", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var mu sync.Mutex
			var got []string
			d := virtual.New(virtual.Options{Denied: func(one sandbox.Denial) {
				mu.Lock()
				defer mu.Unlock()
				if one.Kind != sandbox.DeniedLimit || one.Op != "exceed" || one.Time.IsZero() {
					t.Errorf("%+v", one)
				}
				got = append(got, one.Reason, one.Fix)
			}})
			box, err := sandbox.Create(t.Context(), d, sandbox.Spec{Env: []string{"PATH=/usr/bin:/bin"}, Policy: sandbox.Policy{Limits: row.limits}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := box.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}()
			res, err := box.Run(t.Context(), sandbox.Cmd{Args: []string{"sh", "-c", row.script}})
			if err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(got, row.want) {
				t.Errorf("%q, expected %q; the command's result is %+v", got, row.want, res)
			}
			if row.name == "pids" && res.Reason != "" {
				t.Errorf("a command that was not killed was: %s", res.Reason)
			}
		})
	}
}
