package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// operating returns a client of a shared sandbox that answers operations with f.
func operating(t *testing.T, f func(ctx context.Context, name string, arg json.RawMessage, answer io.Writer) error) *session.Connection {
	t.Helper()
	ours, theirs := net.Pipe()
	shared := make(chan error, 1)
	go func() { shared <- session.Share(t.Context(), theirs, session.Shared{Operation: f}) }()
	c, err := session.Connect(t.Context(), ours)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		if err := <-shared; err != nil {
			t.Error(err)
		}
	})
	return c
}

func Test_An_Operation_Has_An_Argument_And_A_Long_Answer(t *testing.T) {
	t.Parallel()
	part := bytes.Repeat([]byte("0123456789abcdef"), 10_000)
	c := operating(t, func(_ context.Context, name string, arg json.RawMessage, answer io.Writer) error {
		if name != "double" || string(arg) != `{"n":"a\nb"}` {
			return sandbox.Errorf(sandbox.Invalid, "%s of %s", name, arg)
		}
		for range 50 {
			if _, err := answer.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
	var got bytes.Buffer
	if err := c.Operate(t.Context(), "double", map[string]string{"n": "a\nb"}, &got); err != nil || !bytes.Equal(got.Bytes(), bytes.Repeat(part, 50)) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	if err := c.Operate(t.Context(), "other", nil, nil); sandbox.CodeOf(err) != sandbox.Invalid || !strings.Contains(err.Error(), "other of ") {
		t.Errorf("%v", err)
	}
	if err := c.Operate(t.Context(), "double", strings.Repeat("x", 1<<20), nil); sandbox.CodeOf(err) != sandbox.Invalid {
		t.Errorf("%v", err)
	}
}

func Test_An_Operation_Can_Fail_In_The_Middle_Of_Its_Answer(t *testing.T) {
	t.Parallel()
	c := operating(t, func(_ context.Context, _ string, _ json.RawMessage, answer io.Writer) error {
		_, err := io.WriteString(answer, "half")
		return errors.Join(err, sandbox.Errorf(sandbox.Exhausted, "no more").WithHint("less"))
	})
	var got bytes.Buffer
	err := c.Operate(t.Context(), "any", nil, &got)
	if sandbox.CodeOf(err) != sandbox.Exhausted || sandbox.HintOf(err) != "less" || got.String() != "half" {
		t.Errorf("%q, %v", got.String(), err)
	}
}

func Test_An_Operation_Ends_With_The_Interest_In_It(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 2)
	c := operating(t, func(ctx context.Context, _ string, _ json.RawMessage, answer io.Writer) error {
		_, err := io.WriteString(answer, "begun")
		<-ctx.Done()
		ended <- err
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.Operate(ctx, "any", nil, writer(func([]byte) error { cancel(); return nil })); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	full := errors.New("full")
	if err := c.Operate(t.Context(), "any", nil, writer(func([]byte) error { return full })); !errors.Is(err, full) {
		t.Errorf("no reader: %v", err)
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

type writer func([]byte) error

func (w writer) Write(p []byte) (int, error) { return len(p), w(p) }
