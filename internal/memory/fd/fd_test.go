package fd_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
)

// memory is an fd.Memory and an fd.Meter.
type memory int

func (m *memory) Take(n int) bool { return m.Hold(n) }
func (m *memory) Spend(int) bool  { return true }

func (m *memory) Hold(n int) bool {
	if n > int(*m) {
		return false
	}
	*m -= memory(n)
	return true
}

func Test_A_Shared_Table_Is_Copied_By_Its_Owner(t *testing.T) {
	t.Parallel()
	parent := fd.NewTable()
	r, w := fd.NewPipe()
	parent.Set(0, r)
	parent.Set(3, w)
	child := parent.Share().Own()
	child.Set(0, nil)
	if parent.Get(0) != r || child.Get(0) != nil || child.Get(3) != w || parent.Own() != parent {
		t.Error("the tables are not apart")
	}
	if got := child.Numbers(); len(got) != 1 || got[0] != 3 {
		t.Errorf("the child has %v", got)
	}
	parent.Release()
	if _, err := w.Write(t.Context(), []byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("a pipe without a reader: %v", err)
	}
	child.Release()
}

func Test_Bytes_That_Were_Given_Back_Are_Read_First(t *testing.T) {
	t.Parallel()
	d := fd.NewText("world")
	d.Unread([]byte("hello "))
	got, err := io.ReadAll(fd.NewStream(t.Context(), d))
	if err != nil || string(got) != "hello world" {
		t.Errorf("%q, %v", got, err)
	}
}

func Test_A_Line_Ends_At_Its_Newline(t *testing.T) {
	t.Parallel()
	r, w := fd.NewPipe()
	if _, err := w.Write(t.Context(), []byte("one\ntwo:three")); err != nil {
		t.Fatal(err)
	}
	w.Unref()
	m := memory(1 << 20)
	for _, row := range []struct {
		delim byte
		limit int
		want  string
		found bool
	}{{'\n', 0, "one", true}, {':', 2, "tw", false}, {':', 0, "o", true}, {'\n', 0, "three", false}} {
		got, found, err := r.ReadLine(t.Context(), row.delim, row.limit, nil, &m)
		if string(got) != row.want || found != row.found || err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("%q, %v, %v; want %q", got, found, err, row.want)
		}
	}
}

func Test_A_Line_Ends_Where_The_Memory_Does(t *testing.T) {
	t.Parallel()
	m := memory(1000)
	if got, _, err := fd.NewText(strings.Repeat("x", 1<<16)).ReadLine(t.Context(), '\n', 0, nil, &m); len(got) != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func Test_A_Capture_Has_No_Newlines_At_Its_End(t *testing.T) {
	t.Parallel()
	m := memory(1 << 20)
	c := fd.NewCapture(&m)
	d := c.Description()
	if _, err := d.Write(t.Context(), []byte("text\n\n")); err != nil {
		t.Fatal(err)
	}
	done := c.Wait()
	d.Unref()
	<-done
	if text, _ := c.Text(); text != "text" || c.Wait() != nil {
		t.Errorf("%q", text)
	}
}

func Test_A_Capture_Without_Memory_Breaks_The_Pipe(t *testing.T) {
	t.Parallel()
	m := memory(1000)
	c := fd.NewCapture(&m)
	if _, err := c.Description().Write(t.Context(), make([]byte, 1<<16)); !errors.Is(err, syscall.EPIPE) || c.Full() != 1<<16 {
		t.Errorf("%v, %d bytes too many", err, c.Full())
	}
}

func Test_A_Stream_Of_The_Host_Ends_With_Finish(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := fd.NewHost(nil, &out, "stdout")
	s := fd.NewStream(t.Context(), d)
	if _, err := io.WriteString(s, "before"); err != nil {
		t.Fatal(err)
	}
	d.Host.Finish()
	if _, err := io.WriteString(s, "after"); !errors.Is(err, syscall.EIO) || out.String() != "before" {
		t.Errorf("%v, %q", err, out.String())
	}
}

func Test_A_Stream_Ends_With_Its_Process(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, _ := fd.NewPipe()
	cancel()
	if _, err := fd.NewStream(ctx, r).Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := fd.NewStream(t.Context(), nil).Read(make([]byte, 1)); !errors.Is(err, syscall.EBADF) {
		t.Error(err)
	}
}
