package executor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxMessage bounds a message of an agent to a server.
const maxMessage = 16 << 20

// Listen offers a server inside, on a Unix socket, to agents that start programs for servers: lines of JSON-RPC over
// each connection. What it returns ends it, and waits.
func (s Server) Listen(ctx context.Context, box *sandbox.Sandbox, socket string) (stop func(), err error) {
	l, err := box.Listen(ctx, "unix:"+socket)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // it was closed, or the sandbox was
			}
			work.Go(func() { s.converse(ctx, conn) })
		}
	})
	return func() {
		cancel()
		_ = l.Close() // with its sandbox, it may be already
		work.Wait()
	}, nil
}

// converse answers one connection until either end is gone. Several messages are worked on at once.
func (s Server) converse(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gone := context.AfterFunc(ctx, func() { _ = conn.Close() }) // a read ends with it
	defer gone()
	defer conn.Close()
	var mu sync.Mutex
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel() // before the wait
	slots := make(chan struct{}, maxRequests)
	in := bufio.NewReaderSize(conn, 64<<10)
	for {
		line, err := lineOf(in)
		if err != nil {
			return
		}
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			reply, err := s.Handle(ctx, line)
			if err != nil || reply == nil {
				return // the server says what went wrong in its answers
			}
			mu.Lock()
			defer mu.Unlock()
			if _, err := conn.Write(append(reply, '\n')); err != nil {
				cancel()
			}
		})
	}
}

// lineOf reads a line.
func lineOf(in *bufio.Reader) (json.RawMessage, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxMessage:
			return nil, io.ErrShortBuffer
		}
	}
}
