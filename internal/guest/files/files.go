// Package files reads and writes files inside a sandbox. [New] is the host's end; it runs the guest, whose end is
// [Serve]. The host bounds and checks all data from the guest.
package files

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Bounds on the guest's answers, which are not trusted.
const (
	maxErrorLine = 1 << 20  // bytes of stderr
	maxErrorText = 4 << 10  // bytes of an error's text
	maxListing   = 64 << 20 // bytes of a directory listing
	maxEntries   = 1 << 20  // entries of a directory listing
	maxName      = 4096     // bytes of a name, as PATH_MAX
)

// StartFunc starts a command in a sandbox; it is the Start of an Instance.
type StartFunc func(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error)

// New returns the files of the sandbox in which start starts commands. Each call runs the guest inside, so it has
// access to the same files as a command. It bounds and checks all answers.
func New(start StartFunc) sandbox.Files { return files{start} }

type files struct{ start StartFunc }

// Open returns when the first bytes, the end or an error arrived, so that it reports a missing file. ctx applies until
// Close. Close before the end of the file is an error with code Canceled; Close after the last byte waits for the guest
// to confirm that it was the last.
func (f files) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	return f.receive(ctx, opOpen, name)
}

// receive streams the output of an operation.
func (f files) receive(ctx context.Context, op, name string) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancel(ctx)
	pr, pw := io.Pipe()
	c, err := f.begin(ctx, sandbox.Stdio{Stdout: pw}, op, name)
	if err != nil {
		cancel()
		return nil, err
	}
	r := &fileReader{buf: bufio.NewReader(pr), pipe: pr, cancel: cancel}
	r.done.Go(func() { _ = pw.CloseWithError(c.end()) }) // documented to return nil
	if _, err := r.buf.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		r.stop()
		return nil, err
	}
	return r, nil
}

// fileReader is the receiving end of a file.
type fileReader struct {
	buf    *bufio.Reader
	pipe   *io.PipeReader
	cancel context.CancelFunc
	done   sync.WaitGroup
	err    error // the last error of Read
}

func (r *fileReader) Read(p []byte) (int, error) {
	n, err := r.buf.Read(p)
	if err != nil {
		r.err = err
	}
	return n, err
}

// WriteTo copies the rest of the file, in the pieces in which it arrives.
func (r *fileReader) WriteTo(w io.Writer) (int64, error) {
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, maxChunk))
	if err == nil {
		r.err = io.EOF
	}
	return n, err
}

// Close returns an error if a part of the file did not arrive. A second call returns the same.
func (r *fileReader) Close() error {
	if r.err == nil {
		// The reader may know the size and never read to the end.
		if r.buf.Buffered() == 0 {
			_, r.err = r.buf.Peek(1)
		}
		if r.err == nil {
			r.err = sandbox.Errorf(sandbox.Canceled, "the file was closed before its end")
		}
	}
	r.stop()
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}

func (r *fileReader) stop() {
	r.cancel()
	_ = r.pipe.Close() // documented to return nil
	r.done.Wait()
}

// Create sends r, which replaces name when it is complete. It returns an error of r
// unchanged, and then leaves name unchanged.
func (f files) Create(ctx context.Context, name string, perm fs.FileMode, r io.Reader) error {
	return f.send(ctx, r, opCreate, name, strconv.FormatUint(uint64(perm.Perm()), 8))
}

// send streams r to an operation.
func (f files) send(ctx context.Context, r io.Reader, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source := &sourceReader{r: r}
	c, err := f.begin(ctx, sandbox.Stdio{Stdin: &chunkReader{r: source}}, args...)
	if err != nil {
		return err
	}
	err = c.end()
	if failed := source.failure(); failed != nil {
		return failed
	}
	return err
}

// sourceReader records the error of the source, for the goroutine that does not read it.
type sourceReader struct {
	r   io.Reader
	mu  sync.Mutex
	err error
}

func (s *sourceReader) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
	}
	return n, err
}

func (s *sourceReader) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (f files) Stat(ctx context.Context, name string) (sandbox.FileInfo, error) {
	infos, err := f.infos(ctx, 1, opStat, name)
	if err != nil {
		return sandbox.FileInfo{}, err
	}
	if len(infos) != 1 {
		return sandbox.FileInfo{}, sandbox.Errorf(sandbox.Internal, "the guest described %d files instead of one", len(infos))
	}
	return infos[0], nil
}

func (f files) List(ctx context.Context, name string) ([]sandbox.FileInfo, error) {
	infos, err := f.infos(ctx, maxEntries, opList, name)
	if err != nil {
		return nil, err
	}
	sort.Slice(infos, func(i, j int) bool { return infos[i].Name < infos[j].Name })
	for i := 1; i < len(infos); i++ {
		if infos[i].Name == infos[i-1].Name {
			return nil, sandbox.Errorf(sandbox.Internal, "the guest listed %q twice", infos[i].Name)
		}
	}
	return infos, nil
}

func (f files) Remove(ctx context.Context, name string) error {
	if path.Clean(name) == "/" {
		return sandbox.Errorf(sandbox.Invalid, "the root directory cannot be removed")
	}
	return f.run(ctx, opRemove, name)
}

func (f files) Rename(ctx context.Context, from, to string) error {
	return f.run(ctx, opRename, from, to)
}

func (f files) run(ctx context.Context, args ...string) error {
	c, err := f.begin(ctx, sandbox.Stdio{}, args...)
	if err != nil {
		return err
	}
	return c.end()
}

// infos runs an operation that describes at most limit files.
func (f files) infos(ctx context.Context, limit int, op, name string) ([]sandbox.FileInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &boundedBuffer{limit: maxListing, over: cancel}
	c, err := f.begin(ctx, sandbox.Stdio{Stdout: out}, op, name)
	if err != nil {
		return nil, err
	}
	err = c.end()
	if out.cut {
		return nil, sandbox.Errorf(sandbox.Exhausted, "%s of %q is more than %d bytes", op, name, maxListing)
	}
	if err != nil {
		return nil, err
	}
	return decodeInfos(out.buf.Bytes(), limit, op == opList)
}

func decodeInfos(data []byte, limit int, names bool) ([]sandbox.FileInfo, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	infos := []sandbox.FileInfo{}
	for {
		var w wireInfo
		err := dec.Decode(&w)
		if errors.Is(err, io.EOF) {
			return infos, nil
		}
		if err != nil {
			return nil, sandbox.Errorf(sandbox.Internal, "the guest's description of files: %w", err)
		}
		name := string(w.Name)
		// A careless caller could join a name with slashes to a path on the host.
		if strings.ContainsAny(name, "/\x00") && (names || name != "/") || len(name) > maxName || len(w.Target) > maxName ||
			names && (name == "" || name == "." || name == "..") || w.Size < 0 {
			return nil, sandbox.Errorf(sandbox.Internal, "the guest described an impossible file %.100q", name)
		}
		if len(infos) == limit {
			return nil, sandbox.Errorf(sandbox.Exhausted, "the guest described more than %d files", limit)
		}
		infos = append(infos, sandbox.FileInfo{Name: name, Size: w.Size, Mode: w.Mode, Time: w.Time, Target: string(w.Target)})
	}
}

// Output runs an operation of the guest that reports errors as those on files do, and returns its output, at most 64 MiB.
func Output(ctx context.Context, start StartFunc, cmd sandbox.Cmd) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &boundedBuffer{limit: maxListing, over: cancel}
	c := &call{errs: &boundedBuffer{limit: maxErrorLine}}
	p, err := start(ctx, cmd, sandbox.Stdio{Stdout: out, Stderr: c.errs})
	if err != nil {
		return nil, err
	}
	c.process = p
	if err := c.end(); err != nil {
		return nil, err
	}
	return out.buf.Bytes(), nil
}

// call is one running operation.
type call struct {
	process sandbox.Process
	errs    *boundedBuffer
	name    string
}

func (f files) begin(ctx context.Context, stdio sandbox.Stdio, args ...string) (*call, error) {
	for _, name := range args[1:] {
		if name == "" || strings.ContainsRune(name, 0) || len(name) > maxName {
			return nil, sandbox.Errorf(sandbox.Invalid, "%.100q cannot be a file's name", name)
		}
	}
	c := &call{errs: &boundedBuffer{limit: maxErrorLine}, name: args[1]}
	stdio.Stderr = c.errs
	p, err := f.start(ctx, sandbox.Cmd{Args: append([]string{layout.Program, command}, args...)}, stdio)
	if err != nil {
		return nil, err
	}
	c.process = p
	return c, nil
}

// end waits for the operation, and converts the exit status and the line on stderr to an error.
func (c *call) end() error {
	exit, err := c.process.Wait()
	if err != nil {
		return err
	}
	if exit.Code == 0 && exit.Signal == 0 {
		return nil
	}
	text := c.errs.buf.Bytes()
	var w wireError
	if exit.Code != exitFiles || json.Unmarshal(text, &w) != nil || !isKnownCode(w.Code) {
		return sandbox.Errorf(sandbox.Internal, "the guest ended with status %d: %.200q", exit.Code, text)
	}
	return sandbox.Errorf(w.Code, "%s", session.Printable(w.Text[:min(len(w.Text), maxErrorText)]))
}

// isKnownCode reports whether the guest may send c. Codes about the backend are reserved for the host.
func isKnownCode(c sandbox.Code) bool {
	return slices.Contains([]sandbox.Code{
		sandbox.NotFound, sandbox.Denied, sandbox.Exists, sandbox.Invalid, sandbox.Exhausted, sandbox.Internal,
	}, c)
}

// boundedBuffer keeps at most limit bytes; over, if any, is called when more come.
type boundedBuffer struct {
	buf   bytes.Buffer // not embedded: its ReadFrom would have no limit
	limit int
	cut   bool
	over  func()
}

// Write also reports success for dropped bytes, so that the writer continues to its end.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	room := b.limit - b.buf.Len()
	if len(p) <= room {
		return b.buf.Write(p)
	}
	if !b.cut && b.over != nil {
		b.over()
	}
	b.cut = true
	b.buf.Write(p[:room])
	return len(p), nil
}
