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

// lastTime is what the requests of a client that says no more may still take: what it asked for is not for it, or it is a
// script that only has no more to say.
const lastTime = 2 * time.Second

// serverName is what clients of Serve see.
const serverName = "agent-sandbox"

// Serve is the MCP server of a set over a byte stream, one message a line, until the client has ended or ctx ends. It
// answers many requests at once, closes conn, and returns when nothing of it is left; nil: the client has ended. Any number of
// streams are served at once, with a call for each.
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
		cancel() // a stream that broke has no reader either
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
	fail   context.CancelFunc // called when the client does not read
	all    sync.WaitGroup

	writing sync.Mutex
}

// read takes messages until the stream ends.
func (s *serving) read(ctx context.Context) error {
	in := bufio.NewReaderSize(s.conn, 64<<10)
	slots := make(chan struct{}, 2*maxAtOnce) // the bridge refuses what is more than the half of it
	for {
		line, err := readLine(in, maxMessage)
		switch {
		case errors.Is(err, errTooLong):
			s.write(faulty(jsonrpc.CodeParseError, err.Error())())
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

// write sends a reply. A client that does not take it ends the session.
func (s *serving) write(reply json.RawMessage) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.conn.Write(append(reply, '\n')); err != nil {
		s.fail()
	}
}
