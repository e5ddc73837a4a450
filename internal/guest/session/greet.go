package session

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// greeting is the first line from either end. Its number changes with the protocol.
const greeting = "agent-sandbox session 3\n"

// greet sends this end's line and reads the other end's. The end of ctx closes conn. The caller reads later
// data from r.
func greet(ctx context.Context, conn io.ReadWriteCloser) (r *bufio.Reader, err error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(conn, greeting)
		sent <- err
	}()
	r = bufio.NewReaderSize(conn, 64<<10)
	got := make([]byte, 0, len(greeting))
	for len(got) < len(greeting) && !strings.HasSuffix(string(got), "\n") {
		one, err := r.ReadByte()
		if err != nil {
			return nil, fmt.Errorf("no greeting: %w", firstOf(ctx.Err(), err))
		}
		got = append(got, one)
	}
	if err := <-sent; err != nil {
		return nil, err
	}
	if string(got) != greeting {
		return nil, sandbox.Errorf(sandbox.Unavailable, "the other end says %q where this one says %q", string(got), greeting).
			WithHint("the two are of different versions: create the sandbox anew")
	}
	return r, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
