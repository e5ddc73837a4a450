package main

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// bash runs each script in a process of the real bash.
type bash struct{ dir string }

func (b *bash) name() string { return "bash" }
func (b *bash) close() error { return nil }

func (b *bash) run(ctx context.Context, script string) (string, time.Duration, error) {
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var out bytes.Buffer
	cmd.Stdout = &out
	begin := time.Now()
	err := cmd.Run()
	return out.String(), time.Since(begin), err
}

// ours is a machine that has the data in its tree.
type ours struct{ machine *memory.Machine }

func newOurs(dir string) (*ours, error) {
	m, err := memory.New(memory.Options{
		Files: vfs.Limits{Bytes: -1, FileBytes: -1, Nodes: -1}, Timeout: -1, History: -1, Output: -1, Fresh: true,
		Dir: dir, Env: map[string]string{"LC_ALL": "C.UTF-8"}, Shell: shell.Limits{Fuel: -1, Bytes: -1},
	})
	if err != nil {
		return nil, err
	}
	return &ours{m}, copyIn(m.FS(), dir)
}

// copyIn copies the data to the same paths as on the host.
func copyIn(tree *vfs.FS, dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return tree.MkdirAll(vfs.Cred{}, name, 0o755)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return tree.WriteFile(context.Background(), vfs.Cred{}, name, data, 0o644)
	})
}

func (o *ours) name() string { return "in memory" }

func (o *ours) close() error {
	o.machine.Close()
	return nil
}

func (o *ours) run(ctx context.Context, script string) (string, time.Duration, error) {
	begin := time.Now()
	r, err := o.machine.Run(ctx, script)
	took := time.Since(begin)
	if err != nil {
		return "", took, err
	}
	if r.Code != 0 {
		return r.Stdout, took, fmt.Errorf("status %d: %s", r.Code, r.Stderr)
	}
	return r.Stdout, took, nil
}

// justBash runs the npm package, in a process of Node.js that has the data in
// memory.
type justBash struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

//go:embed justbash.mjs
var justBashDriver string

func newJustBash(ctx context.Context, modules, dir string) (*justBash, error) {
	main := filepath.Join(modules, "just-bash-driver.mjs") // Node.js looks for the package here.
	if err := os.WriteFile(main, []byte(justBashDriver), 0o644); err != nil {
		return nil, err
	}
	j := &justBash{cmd: exec.CommandContext(ctx, "node", main, dir)}
	j.cmd.Stderr = os.Stderr
	var err error
	if j.in, err = j.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := j.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	j.out = bufio.NewReader(out)
	if err := j.cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := j.out.ReadString('\n'); err != nil || line != "ready\n" {
		return nil, errors.Join(fmt.Errorf("just-bash: %q", line), err, j.close())
	}
	return j, nil
}

func (j *justBash) name() string { return "just-bash" }

func (j *justBash) close() error { return errors.Join(j.in.Close(), j.cmd.Wait()) }

func (j *justBash) run(_ context.Context, script string) (string, time.Duration, error) {
	text, err := json.Marshal(script)
	if err != nil {
		return "", 0, err
	}
	if _, err := fmt.Fprintf(j.in, "%s\n", text); err != nil {
		return "", 0, err
	}
	line, err := j.out.ReadString('\n')
	if err != nil {
		return "", 0, err
	}
	var r struct {
		Out    string
		Millis float64
		Err    string
	}
	if err := json.NewDecoder(strings.NewReader(line)).Decode(&r); err != nil {
		return "", 0, err
	}
	if r.Err != "" {
		return r.Out, 0, errors.New(r.Err)
	}
	return r.Out, time.Duration(r.Millis * float64(time.Millisecond)), nil
}
