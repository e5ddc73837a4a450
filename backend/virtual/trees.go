package virtual

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Mkdir creates a directory and missing parents.
func (f files) Mkdir(_ context.Context, name string, perm fs.FileMode) error {
	tree, cred, name, err := f.at(name)
	if err != nil {
		return err
	}
	if info, err := tree.Stat(cred, name); err == nil {
		if info.Mode.IsDir() {
			return nil
		}
		return sandbox.Errorf(sandbox.Exists, "%s is not a directory", name)
	}
	if err := tree.MkdirAll(cred, name, 0o755); err != nil {
		return err
	}
	return f.commit(tree.Chmod(cred, name, perm.Perm()))
}

// Pack streams a directory as the tar command does.
func (f files) Pack(ctx context.Context, name string) (io.ReadCloser, error) {
	name, err := f.directory(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &packed{cancel: cancel}
	var w *io.PipeWriter
	p.PipeReader, w = io.Pipe()
	run, err := f.tar(ctx, name, "-cf", sandbox.Stdio{Stdout: w})
	if err != nil {
		cancel()
		return nil, err
	}
	p.done.Go(func() { _ = w.CloseWithError(run()) }) // documented to return nil
	return p, nil
}

// Unpack extracts an archive with the tar command.
func (f files) Unpack(ctx context.Context, name string, r io.Reader) error {
	name, err := f.directory(name)
	if err != nil {
		return err
	}
	source := &source{r: r}
	run, err := f.tar(ctx, name, "-xf", sandbox.Stdio{Stdin: source})
	if err != nil {
		return err
	}
	return errors.Join(run(), source.failure())
}

// directory returns the absolute path of a directory.
func (f files) directory(name string) (string, error) {
	tree, cred, name, err := f.at(name)
	if err != nil {
		return "", err
	}
	info, err := tree.Stat(cred, name)
	if err == nil && !info.Mode.IsDir() {
		err = sandbox.Errorf(sandbox.Invalid, "%s is not a directory", name)
	}
	return name, err
}

// tar starts the tar command and returns a function that waits for it.
func (f files) tar(ctx context.Context, dir, what string, stdio sandbox.Stdio) (wait func() error, err error) {
	var errs bytes.Buffer
	stdio.Stderr = &errs
	args := []string{"tar", "-C", dir, what, "-"}
	if what == "-cf" {
		args = append(args, ".")
	}
	p, err := f.i.Start(ctx, sandbox.Cmd{Args: args}, stdio)
	if err != nil {
		return nil, err
	}
	return func() error {
		exit, err := p.Wait()
		if err == nil && exit.Code != 0 {
			err = sandbox.Errorf(sandbox.Invalid, "tar ended with %d: %.500s", exit.Code, strings.TrimSpace(errs.String()))
		}
		return err
	}, nil
}

// packed is the archive of a tree that tar is writing.
type packed struct {
	*io.PipeReader

	cancel context.CancelFunc
	done   sync.WaitGroup
	over   bool // Read has returned io.EOF
	err    error
}

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.PipeReader.Read(b)
	if errors.Is(err, io.EOF) {
		p.over = true
	} else if err != nil {
		p.err = err
	}
	return n, err
}

// Close reports whether all of the tree arrived.
func (p *packed) Close() error {
	if !p.over && p.err == nil {
		p.err = sandbox.Errorf(sandbox.Canceled, "the tree was closed before its end")
	}
	p.cancel()
	_ = p.PipeReader.Close() // documented to return nil
	p.done.Wait()
	return p.err
}

// source stores the error of its reader.
type source struct {
	r   io.Reader
	mu  sync.Mutex
	err error
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
	return n, err
}

func (s *source) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
