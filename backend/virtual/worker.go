package virtual

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/seed434b0696/agent-sandbox/internal/worker"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Worker makes a driver run its sandboxes in other processes, which a process that serves several users needs: this project's own
// code isolates commands in memory, and a fault of it ends the process. A worker has an empty environment, a memory limit that
// the kernel enforces, and cannot execute programs. When it ends, its sandboxes are Unavailable, and no other is affected. It ends
// with its last sandbox, and with the process that has started it. It needs Linux.
type Worker struct {
	Program []string      // command line of a program that calls [Work]; the program's path is absolute
	Memory  sandbox.Bytes // limit of each worker process; 0: [DefaultWorkerMemory], less than [MinWorkerMemory] is Invalid
	// Key returns the key of a sandbox: those with the same key share a worker. nil: all of the driver do.
	Key func(sandbox.Spec) string
}

// Limits of a worker's memory.
const (
	DefaultWorkerMemory sandbox.Bytes = 1 << 30
	MinWorkerMemory     sandbox.Bytes = 256 << 20
)

// workerSettings are the options of the driver in a worker.
type workerSettings struct {
	Limits  vfs.Limits
	Share   bool
	Apply   bool
	Journal string
}

// Work is the main function of a worker and returns its exit status. Of the options, it uses Commands and Now; the process
// that starts it has the others. It returns when that process ends or needs the worker no longer.
func Work(o Options) int {
	err := worker.Serve(func(data json.RawMessage, denied func(sandbox.Denial)) (sandbox.Driver, error) {
		var s workerSettings
		if err := json.Unmarshal(data, &s); err != nil {
			return nil, err
		}
		return New(Options{
			Commands: o.Commands, Now: o.Now, Limits: s.Limits, Share: s.Share, Apply: s.Apply, Journal: s.Journal, Denied: denied,
		}), nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return sandbox.ExitFailed
	}
	return 0
}

// newPool returns the workers of a driver; nil for one without.
func newPool(o Options) *worker.Pool {
	if o.Worker == nil {
		return nil
	}
	settings, err := json.Marshal(workerSettings{o.Limits, o.Share, o.Apply, o.Journal})
	if err != nil {
		panic(err) // numbers, booleans and a string
	}
	return worker.NewPool(worker.Options{Program: o.Worker.Program, Memory: o.Worker.memory(), Driver: settings, Denied: o.Denied})
}

func (w *Worker) memory() sandbox.Bytes {
	if w.Memory == 0 {
		return DefaultWorkerMemory
	}
	return w.Memory
}

// check returns an error for options that do not work.
func (w *Worker) check(o Options) error {
	switch {
	case len(w.Program) == 0:
		return sandbox.Errorf(sandbox.Invalid, "Options.Worker has no program")
	case w.memory() < MinWorkerMemory:
		return sandbox.Errorf(sandbox.Invalid, "a worker's memory limit of %s; expected at least %s", w.memory(), MinWorkerMemory)
	case len(o.Commands) > 0 || o.Now != nil:
		return sandbox.Errorf(sandbox.Invalid, "Options.Commands and Options.Now cannot be sent to a worker").
			WithHint("give them to Work in the worker's program")
	}
	return nil
}

// findings are the lines of the report about workers.
func (w *Worker) findings() []sandbox.Finding {
	f := sandbox.Finding{Rule: "worker", State: sandbox.Enforced, Needed: true, Detail: fmt.Sprintf(
		"sandboxes run in worker processes of at most %s each: RLIMIT_DATA, and a cgroup where one can be written; they execute no program", w.memory())}
	if runtime.GOOS != "linux" {
		f.State, f.Detail, f.Fix = sandbox.Impossible, "this system does not limit the memory of a process", "leave Options.Worker out"
	}
	return []sandbox.Finding{f}
}

// createInWorker is Create in a worker. The worker resolves spec again.
func (d *Driver) createInWorker(ctx context.Context, spec sandbox.Spec, plan *policy.Plan) (sandbox.Instance, error) {
	w := d.options.Worker
	if err := w.check(d.options); err != nil {
		return nil, err
	}
	for _, s := range plan.Secrets {
		if len(s.FromCommand) > 0 {
			return nil, sandbox.Errorf(sandbox.Unsupported, "secret %s comes from a command, and a worker process cannot execute programs", s.Name).
				WithHint("use from_env or from_file")
		}
	}
	key := ""
	if w.Key != nil {
		key = w.Key(spec)
	}
	i, err := d.workers.Create(ctx, key, spec)
	if err != nil {
		return nil, err
	}
	return &workerInstance{i, plan}, nil
}

// workerInstance is a sandbox in a worker.
type workerInstance struct {
	*worker.Instance

	plan *policy.Plan
}

// Plan returns the plan.
func (i *workerInstance) Plan() *policy.Plan { return i.plan }

// Changes implements [Workspace].
func (i *workerInstance) Changes() ([]Change, error) {
	var answer changeList
	if err := i.Operate(context.Background(), OpChanges, nil, &answer); err != nil {
		return nil, err
	}
	var list []Change
	for d := json.NewDecoder(&answer); ; {
		var c Change
		if err := d.Decode(&c); err != nil {
			if errors.Is(err, io.EOF) {
				return list, nil
			}
			return nil, err
		}
		list = append(list, c)
	}
}

// maxChangeList bounds what a worker sends as the list of its changes, in bytes.
const maxChangeList = 64 << 20

// changeList is a buffer of at most maxChangeList bytes.
type changeList struct{ bytes.Buffer }

func (l *changeList) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxChangeList {
		return 0, sandbox.Errorf(sandbox.Exhausted, "the list of changes has more than %d bytes", maxChangeList)
	}
	return l.Buffer.Write(p)
}

// Apply implements [Workspace].
func (i *workerInstance) Apply(ctx context.Context, o ApplyOptions) (done Applied, err error) {
	return done, i.Ask(ctx, OpApply, o, &done)
}

// Discard implements [Workspace].
func (i *workerInstance) Discard() error {
	return i.Operate(context.Background(), OpDiscard, nil, nil)
}
