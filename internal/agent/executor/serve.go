package executor

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// maxMessage limits a message from an agent to a server.
const maxMessage = 16 << 20

// Listen offers servers inside the sandbox, each on its own Unix socket. It returns the sockets' addresses for [guest.Bridge]
// by server name, and a function that stops all servers.
func Listen(ctx context.Context, box *sandbox.Sandbox, servers []Server) (addresses map[string]string, stop func(), err error) {
	addresses = map[string]string{}
	var stops []func()
	stop = func() {
		for _, end := range stops {
			end()
		}
	}
	for _, s := range servers {
		address := "unix:/tmp/." + s.Name + "-" + rand.Text()
		end, err := s.listen(ctx, box, address)
		if err != nil {
			stop()
			return nil, nil, err
		}
		stops, addresses[s.Name] = append(stops, end), address
	}
	return addresses, stop, nil
}

// listen offers a server to agents that start a program per server: JSON-RPC lines over each connection. The returned
// function stops it and waits.
func (s Server) listen(ctx context.Context, box *sandbox.Sandbox, address string) (stop func(), err error) {
	l, err := box.Listen(ctx, address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // the listener or the sandbox was closed
			}
			work.Go(func() { s.converse(ctx, conn) })
		}
	})
	return func() {
		cancel()
		_ = l.Close() // it may be closed already, with its sandbox
		work.Wait()
	}, nil
}

// converse serves one connection until either side closes it. It handles several messages at once.
func (s Server) converse(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gone := context.AfterFunc(ctx, func() { _ = conn.Close() }) // ends a blocked read
	defer gone()
	defer conn.Close()
	var mu sync.Mutex
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel() // before the wait
	slots := make(chan struct{}, maxRequests)
	in := bufio.NewReaderSize(conn, 64<<10)
	for {
		line, err := readLine(in)
		if err != nil {
			return
		}
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			reply, err := s.Handle(ctx, line)
			if err != nil || reply == nil {
				return // the server reports errors in its answers
			}
			mu.Lock()
			defer mu.Unlock()
			if _, err := conn.Write(append(reply, '\n')); err != nil {
				cancel()
			}
		})
	}
}

// readLine reads a line without its line end: a server may repeat parts of it in a line of its own.
func readLine(in *bufio.Reader) (json.RawMessage, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxMessage:
			return nil, io.ErrShortBuffer
		}
	}
}
