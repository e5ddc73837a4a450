package persist

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// launch starts a keeper, which takes over the lock of its sandbox and reports its start on ready. On an error launch
// releases the lock.
func (d *Driver) launch(name string, held *lock, env []string, ready *os.File) (*exec.Cmd, error) {
	log, err := os.OpenFile(filepath.Join(d.Store.dir(name), logFile), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		held.release()
		return nil, err
	}
	defer log.Close()
	// The keeper has to outlive this process, so no context ends it.
	cmd := exec.Command(d.Keeper[0], append(append([]string{}, d.Keeper[1:]...), name)...) //nolint:noctx // see above
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.ExtraFiles = "/", append([]string{}, env...), log, []*os.File{ready, held.file}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		held.release()
		return nil, err
	}
	held.leave()
	gone := make(chan struct{})
	d.keepers.Store(name, gone)
	go func() {
		_ = cmd.Wait() // the keeper reports the result
		close(gone)
	}()
	return cmd, nil
}

// Start starts a stopped sandbox, with a keeper whose environment is env. Exists: it runs already.
func (d *Driver) Start(ctx context.Context, name string, env []string) error {
	if _, err := d.Store.Load(name); err != nil {
		return err
	}
	held, err := d.Store.takeStopped(ctx, name)
	if err != nil {
		return err
	}
	return d.startLocked(ctx, name, held, env)
}

// Change is like Start, and replaces the sandbox's spec by spec. Files and snapshots stay. If the driver rejects spec
// or the start fails, the sandbox is stopped and unchanged.
func (d *Driver) Change(ctx context.Context, name string, spec sandbox.Spec) error {
	held, err := d.Store.takeStopped(ctx, name)
	if err != nil {
		return err
	}
	old, err := d.Store.Load(name) // with the lock, so that no other process holds it for the old spec
	if err == nil {
		changed := old
		changed.Spec = spec
		err = d.Store.rewrite(name, changed)
	}
	if err != nil {
		held.release()
		return err
	}
	if err = d.startLocked(ctx, name, held, spec.Env); err == nil {
		return nil
	}
	held, lerr := d.Store.halt(context.WithoutCancel(ctx), name) // its keeper may still be ending
	if lerr != nil {
		return errors.Join(err, lerr)
	}
	defer held.release()
	return errors.Join(err, d.Store.rewrite(name, old))
}

// startLocked starts a sandbox whose lock this process holds, and passes the lock on.
func (d *Driver) startLocked(ctx context.Context, name string, held *lock, env []string) error {
	r, w, err := os.Pipe()
	if err != nil {
		held.release()
		return err
	}
	defer r.Close()
	cmd, err := d.launch(name, held, env, w)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = r.Close()
	})
	defer stop()
	said, err := io.ReadAll(io.LimitReader(r, maxSaid))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(err, saidIs(said))
}

const maxSaid = 64 << 10

// readyWord is the text that a keeper writes to descriptor 3 if the sandbox runs; otherwise it writes a saidError.
const readyWord = "ready"

// Ready reports the result of the start to the process that started this keeper; nil: the sandbox runs.
func Ready(err error) {
	f := os.NewFile(3, "starter")
	defer f.Close()
	if err == nil {
		_, _ = io.WriteString(f, readyWord) // the starter may have ended
		return
	}
	data, _ := json.Marshal(sayError(err)) // strings always encode
	_, _ = f.Write(data)
}

type saidError struct {
	Code sandbox.Code `json:"code"`
	Text string       `json:"error"`
	Hint string       `json:"hint"`
}

func sayError(err error) *saidError {
	return &saidError{sandbox.CodeOf(err), err.Error(), sandbox.HintOf(err)}
}

func (e *saidError) restore() error {
	return &sandbox.Error{Code: e.Code, Hint: e.Hint, Err: errors.New(e.Text)}
}

func saidIs(said []byte) error {
	if string(said) == readyWord {
		return nil
	}
	var e saidError
	if json.Unmarshal(said, &e) != nil || e.Code == "" {
		return sandbox.Errorf(sandbox.Internal, "the sandbox's keeper ended: %.200q", strings.TrimSpace(string(said)))
	}
	return e.restore()
}
