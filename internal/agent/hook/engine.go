package hook

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Options configure an [Engine]. Exactly one of Worker and Interpreter is set.
type Options struct {
	// Worker is a program with its arguments that serves the protocol of workers on its stdin and stdout, as
	// agent-sandbox-hooks does.
	Worker []string
	// Interpreter runs scripts in this process instead, which cannot enforce Limits.Memory.
	Interpreter protocol.Machine

	Workers int // maximum number of worker processes; further runs wait. 0: 16
	Idle    int // maximum number of idle worker processes. 0: 4
	Limits  Limits
}

// Engine compiles and runs scripts. It is safe for concurrent use.
type Engine struct {
	limits  Limits
	machine protocol.Machine // the pool, or the interpreter in this process
	pool    *pool            // nil: no workers

	mu      sync.Mutex
	scripts map[string]*Script // the last compiled script, by the hash of the entry's name and text
}

// New returns an Engine, which the caller closes. Invalid: o has neither a worker nor an interpreter, or both.
// Unsupported: a memory limit without workers.
func New(o Options) (*Engine, error) {
	e := &Engine{limits: fillDefaults(o.Limits), scripts: map[string]*Script{}}
	if (len(o.Worker) == 0) == (o.Interpreter == nil) {
		return nil, sandbox.Errorf(sandbox.Invalid, "an engine of hooks needs either a worker program or an interpreter")
	}
	if o.Interpreter != nil {
		if o.Limits.Memory > 0 {
			return nil, sandbox.Errorf(sandbox.Unsupported, "the memory of scripts is limited only in workers").WithHint("set Options.Worker")
		}
		e.machine = o.Interpreter
		return e, nil
	}
	if e.limits.Memory <= 0 {
		e.limits.Memory = defaultMemory
	}
	e.pool = newPool(o)
	e.machine = e.pool
	return e, nil
}

// Close ends all workers and waits for them; active runs fail. Without workers it does nothing.
func (e *Engine) Close() error {
	if e.pool != nil {
		e.pool.close()
	}
	return nil
}

// maxScripts is the number of scripts that an Engine caches.
const maxScripts = 256

// Compile makes a Script of a source file, such as "src/index.ts", and of its imports from the assistant's directory
// fsys, and finds its hooks. fsys resolves links: that of an [os.Root] stays inside the directory. The same
// content is compiled once. Invalid: the script does not compile; the error has file, line and column.
func (e *Engine) Compile(ctx context.Context, fsys fs.FS, entry string) (*Script, error) {
	if !fs.ValidPath(entry) {
		return nil, compileError(sandbox.Errorf(sandbox.Invalid, "invalid path %q; expected one in the assistant's directory", protocol.Clip(entry, 200)))
	}
	text, err := readSource(fsys, entry)
	if err != nil {
		return nil, compileError(err)
	}
	key := fmt.Sprintf("%x %s", sha256.Sum256([]byte(text)), entry)
	if s := e.known(key, fsys); s != nil {
		return s, nil
	}
	from := &directory{fsys: fsys, seen: map[string]string{}}
	b, err := e.machine.Compile(ctx, from, protocol.CompileOrder{Entry: entry, Limits: e.limits})
	if err != nil {
		return nil, e.failure("compile hooks", err)
	}
	s := &Script{engine: e, bundle: *b, seen: from.seen}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.scripts) >= maxScripts {
		clear(e.scripts)
	}
	e.scripts[key] = s
	return s, nil
}

// known returns the cached script of this entry if its other files are unchanged.
func (e *Engine) known(key string, fsys fs.FS) *Script {
	e.mu.Lock()
	s := e.scripts[key]
	e.mu.Unlock()
	if s == nil {
		return nil
	}
	for name, sum := range s.seen {
		if text, err := readSource(fsys, name); hashSource(text, err) != sum {
			return nil
		}
	}
	return s
}

// failure converts a machine's error for callers of the package.
func (e *Engine) failure(op string, err error) error {
	if f := (*protocol.Fault)(nil); errors.As(err, &f) {
		return f.Failure(op, e.limits)
	}
	out := &sandbox.Error{Code: sandbox.CodeOf(err), Op: op, Hint: sandbox.HintOf(err), Err: err}
	return out
}

func compileError(err error) error {
	out := &sandbox.Error{Code: sandbox.CodeOf(err), Op: "compile hooks", Err: err}
	if no := (*protocol.Refusal)(nil); errors.As(err, &no) {
		out.Code = sandbox.Invalid
		if no.Missing {
			out.Code = sandbox.NotFound
		}
	}
	return out
}

// directory serves the assistant's files to one compilation.
type directory struct {
	fsys fs.FS
	mu   sync.Mutex
	seen map[string]string // the hash of every requested file, by name
}

func (d *directory) Call(_ context.Context, op string, args json.RawMessage) (json.RawMessage, error) {
	if op != "source" {
		return nil, nil // statements outside of the hooks may log, but compiling must not show that
	}
	var name string
	if err := json.Unmarshal(args, &name); err != nil {
		return nil, protocol.Refuse("expected a path")
	}
	text, err := readSource(d.fsys, name)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.seen) >= protocol.MaxProbes {
		return nil, protocol.Refuse("the script looks for more than %d files", protocol.MaxProbes)
	}
	d.seen[name] = hashSource(text, err)
	if err != nil {
		return nil, err
	}
	return json.Marshal(text)
}

func hashSource(text string, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	sum := sha256.Sum256([]byte(text))
	return string(sum[:])
}

// readSource reads a regular file of the assistant.
func readSource(fsys fs.FS, name string) (string, error) {
	if !fs.ValidPath(name) {
		return "", protocol.Refuse("invalid path %q; expected one in the assistant's directory", protocol.Clip(name, 200))
	}
	// Opening a pipe would block.
	info, err := fs.Stat(fsys, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		no := protocol.Refuse("%s: there is no such file", protocol.Clip(name, 200))
		no.Missing = true
		return "", no
	case err != nil:
		return "", protocol.Refuse("%s cannot be read: %v", protocol.Clip(name, 200), trimFileError(err))
	case info.IsDir():
		no := protocol.Refuse("%s is a directory", protocol.Clip(name, 200))
		no.Missing = true
		return "", no
	case !info.Mode().IsRegular():
		return "", protocol.Refuse("%s is not a regular file", protocol.Clip(name, 200))
	}
	f, err := fsys.Open(name)
	if err != nil {
		return "", protocol.Refuse("%s cannot be read: %v", protocol.Clip(name, 200), trimFileError(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, protocol.MaxSource+1))
	switch {
	case err != nil:
		return "", protocol.Refuse("%s cannot be read: %v", protocol.Clip(name, 200), trimFileError(err))
	case len(data) > protocol.MaxSource:
		return "", protocol.Refuse("%s has more than %d bytes", protocol.Clip(name, 200), protocol.MaxSource)
	}
	return string(data), nil
}

// trimFileError removes the operation and path from a file error, since messages already have the path.
func trimFileError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
