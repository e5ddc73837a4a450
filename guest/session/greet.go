package session

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// greeting is the first line from either end. Its number changes with the protocol.
const greeting = "agent-sandbox session 1\n"

// greet sends our line and reads the other's, until ctx ends, which closes conn.
func greet(ctx context.Context, conn io.ReadWriteCloser) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(conn, greeting)
		sent <- err
	}()
	got := make([]byte, 0, len(greeting))
	var one [1]byte
	for len(got) < len(greeting) && !strings.HasSuffix(string(got), "\n") {
		if _, err := io.ReadFull(conn, one[:]); err != nil {
			return fmt.Errorf("no greeting: %w", firstOf(ctx.Err(), err))
		}
		got = append(got, one[0])
	}
	if err := <-sent; err != nil {
		return err
	}
	if string(got) != greeting {
		return sandbox.Errorf(sandbox.Unavailable, "the other end says %q where this one says %q", string(got), greeting).
			WithHint("the two are of different versions: create the sandbox anew")
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// settings are the multiplexer's, the same for both ends.
func settings() *yamux.Config {
	return &yamux.Config{
		AcceptBacklog:          256,
		EnableKeepAlive:        false, // a sandbox that is stopped for a while is not gone
		KeepAliveInterval:      time.Minute,
		ConnectionWriteTimeout: time.Minute,
		MaxStreamWindowSize:    1 << 20,
		StreamCloseTimeout:     time.Minute,
		StreamOpenTimeout:      0,
		LogOutput:              io.Discard,
	}
}
