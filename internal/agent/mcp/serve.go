package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
)

// lastTime is how long requests may run after the end of the client's input: the client has either gone, or it is a
// script that has sent all its requests.
const lastTime = 2 * time.Second

// serverName is the server's name for clients of Serve.
const serverName = "agent-sandbox"

// Serve serves a set as an MCP server over a byte stream, one message per line, until the client or ctx ends. It
// answers several requests at once and closes conn; all its goroutines end before it returns. nil: the client has ended. Concurrent
// calls serve several streams.
func Serve(ctx context.Context, conn io.ReadWriteCloser, set tool.Set) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	s := &serving{conn: conn, bridge: NewBridge(serverName, set), fail: cancel}
	err := s.read(ctx)
	late := time.AfterFunc(lastTime, cancel)
	defer late.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		cancel() // a broken stream has no reader either
	}
	s.all.Wait()
	if errors.Is(err, io.EOF) || ctx.Err() == nil {
		return nil
	}
	return err
}

// serving is one client of Serve.
type serving struct {
	conn   io.ReadWriteCloser
	bridge *Bridge
	fail   context.CancelFunc // called when the client stops reading
	all    sync.WaitGroup

	writing sync.Mutex
}

// read handles messages until the stream ends.
func (s *serving) read(ctx context.Context) error {
	in := bufio.NewReaderSize(s.conn, 64<<10)
	slots := make(chan struct{}, 2*maxAtOnce) // the bridge refuses more than half of them
	for {
		line, err := readLine(in, maxMessage)
		switch {
		case errors.Is(err, errTooLong):
			s.write(rejectMessage(jsonrpc.CodeParseError, err.Error())())
			continue
		case err != nil:
			return err
		case len(line) == 0:
			continue
		}
		answer := s.bridge.take(ctx, line) // in order, so that a cancel finds its request
		if answer == nil {
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		s.all.Go(func() {
			defer func() { <-slots }()
			if reply := answer(); reply != nil {
				s.write(reply)
			}
		})
	}
}

// write sends a reply. It ends the session of a client that does not read.
func (s *serving) write(reply json.RawMessage) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.conn.Write(append(reply, '\n')); err != nil {
		s.fail()
	}
}
