package files

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Starter returns the Start of an instance. If no guest runs inside, the instance's files are not those of [New]; then
// Starter performs the operations on files that New would send to a guest itself.
func Starter(i sandbox.Instance) StartFunc {
	f := i.Files()
	if _, ok := f.(files); ok {
		return i.Start
	}
	return func(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
		if len(cmd.Args) < 2 || cmd.Args[0] != layout.Program || cmd.Args[1] != command || cmd.TTY != nil || cmd.Dir != "" {
			return i.Start(ctx, cmd, stdio)
		}
		return startOperation(ctx, f, cmd.Args[2:], stdio), nil
	}
}

// operation is an operation on files that behaves like a process.
type operation struct {
	ctx    context.Context //nolint:containedctx // that of the one operation
	cancel context.CancelFunc
	done   chan struct{}
	status int // when done is closed
}

func startOperation(ctx context.Context, f sandbox.Files, args []string, stdio sandbox.Stdio) *operation {
	o := &operation{done: make(chan struct{})}
	o.ctx, o.cancel = context.WithCancel(ctx)
	if stdio.Stdout == nil {
		stdio.Stdout = io.Discard
	}
	if stdio.Stderr == nil {
		stdio.Stderr = io.Discard
	}
	if stdio.Stdin == nil {
		stdio.Stdin = noInput{}
	}
	go func() {
		defer close(o.done)
		o.status = Status(operateOn(o.ctx, f, args, stdio.Stdin, stdio.Stdout), stdio.Stderr)
	}()
	return o
}

type noInput struct{}

func (noInput) Read([]byte) (int, error) { return 0, io.EOF }

// Wait returns when the operation or its context has ended: the operation may wait forever for input.
func (o *operation) Wait() (sandbox.Exit, error) {
	defer o.cancel()
	select {
	case <-o.done:
		return sandbox.Exit{Code: o.status}, nil
	case <-o.ctx.Done():
		return sandbox.Exit{Code: 128 + int(syscall.SIGKILL), Signal: int(syscall.SIGKILL)}, nil
	}
}

// Signal ends the operation.
func (o *operation) Signal(os.Signal) error {
	o.cancel()
	return nil
}

// operateOn performs an operation on the files f.
func operateOn(ctx context.Context, f sandbox.Files, args []string, in io.Reader, out io.Writer) error {
	if err := checkOperands(args); err != nil {
		return err
	}
	name := args[1]
	switch args[0] {
	case opStat:
		info, err := f.Stat(ctx, name)
		if err != nil {
			return err
		}
		return sendInfos(out, info)
	case opList:
		infos, err := f.List(ctx, name)
		if err != nil {
			return err
		}
		return sendInfos(out, infos...)
	case opRemove:
		return f.Remove(ctx, name)
	case opRename:
		return f.Rename(ctx, name, args[2])
	case opOpen:
		r, err := f.Open(ctx, name)
		return sendAll(out, r, err)
	case opCreate:
		perm, err := parsePerm(opCreate, name, args[2])
		if err != nil {
			return err
		}
		return withContent(in, func(r io.Reader) error { return f.Create(ctx, name, perm, r) })
	}
	return operateOnTrees(ctx, f, args, in, out)
}

// operateOnTrees performs the operations that not all files support.
func operateOnTrees(ctx context.Context, f sandbox.Files, args []string, in io.Reader, out io.Writer) error {
	name := args[1]
	if args[0] == opSearch {
		q, err := parseQuery(args[2])
		if err != nil {
			return err
		}
		found, err := searchIn(ctx, f, name, q)
		if err != nil {
			return err
		}
		return sendFound(found, out)
	}
	if args[0] == opMkdir {
		m, ok := f.(sandbox.Maker)
		if !ok {
			return errNoTrees
		}
		perm, err := parsePerm(opMkdir, name, args[2])
		if err != nil {
			return err
		}
		return m.Mkdir(ctx, name, perm)
	}
	a, ok := f.(sandbox.Archiver)
	switch {
	case !ok:
		return errNoTrees
	case args[0] == opPack:
		r, err := a.Pack(ctx, name)
		return sendAll(out, r, err)
	}
	return withContent(in, func(r io.Reader) error { return a.Unpack(ctx, name, r) })
}

var errNoTrees = sandbox.Errorf(sandbox.Invalid, "this sandbox makes and moves no directories")

func searchIn(ctx context.Context, f sandbox.Files, root string, q sandbox.Query) (sandbox.Found, error) {
	if s, ok := f.(sandbox.Searcher); ok {
		return s.Search(ctx, root, q)
	}
	return sandbox.SearchTree(ctx, f, root, q)
}

// sendAll sends and closes a stream; err is the error of opening it.
func sendAll(out io.Writer, r io.ReadCloser, err error) error {
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(out, onlyReader{r}, make([]byte, maxChunk))
	return errors.Join(err, r.Close())
}

// onlyReader hides all methods but Read, so that io.CopyBuffer uses its buffer.
type onlyReader struct{ io.Reader }

func sendInfos(out io.Writer, infos ...sandbox.FileInfo) error {
	w := bufio.NewWriter(out)
	enc := json.NewEncoder(w)
	for _, i := range infos {
		wire := wireInfo{Name: []byte(i.Name), Size: i.Size, Mode: i.Mode, Time: i.Time.UTC(), Target: []byte(i.Target)}
		if err := enc.Encode(wire); err != nil {
			return err
		}
	}
	return w.Flush()
}
