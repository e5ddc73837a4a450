package link

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
	"time"
)

// maxConns bounds the open connections of a server.
const maxConns = 256

// Server is the end that accepts streams. It is safe for concurrent use.
type Server struct {
	Linger time.Duration // how long a connection without a stream waits for the next one
	Serve  func(*Conn)   // called with each new connection, on a new goroutine

	mu    sync.Mutex
	conns map[key]*served
}

// served is a connection and the timer that ends it when no stream arrives.
type served struct {
	conn *Conn

	mu   sync.Mutex // held while a stream is changed
	late *time.Timer
}

// Take reads a client's hello from a stream and begins or continues the client's connection over it. On an error it
// only closes the stream.
func (s *Server) Take(stream io.ReadWriteCloser) error {
	late := time.AfterFunc(answerTime, func() { _ = stream.Close() })
	err := s.take(stream, late)
	if err != nil {
		late.Stop()
		_ = stream.Close()
	}
	return err
}

func (s *Server) take(stream io.ReadWriteCloser, late *time.Timer) error {
	if _, err := io.WriteString(stream, greeting); err != nil {
		return err
	}
	in := bufio.NewReaderSize(stream, bufferSize)
	h, err := readHello(in)
	if err != nil {
		return err
	}
	if !late.Stop() {
		return fmt.Errorf("no hello in %s", answerTime)
	}
	c := s.find(h)
	if c == nil {
		return refuse(stream)
	}
	err = c.goOn(stream, in, h.received)
	if h.fresh {
		go s.serve(h.key, c, err)
	}
	return err
}

// refuse answers a client that its connection is unknown.
func refuse(stream io.Writer) error {
	_, _ = stream.Write(make([]byte, answerLength)) // the client may have gone
	return errForgotten
}

// serve serves a new connection unless err says that its creation failed.
func (s *Server) serve(k key, c *served, err error) {
	if err == nil {
		s.Serve(c.conn)
	}
	c.conn.end(ErrClosed)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, k)
}

// find returns the connection that a hello names, or nil.
func (s *Server) find(h hello) *served {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.conns[h.key]
	if !h.fresh || old != nil || len(s.conns) >= maxConns {
		if h.fresh {
			return nil
		}
		return old
	}
	if s.conns == nil {
		s.conns = map[key]*served{}
	}
	c := &served{}
	c.conn = newConn(func(why error) { c.wait(s.Linger, why) })
	s.conns[h.key] = c
	return c
}

// wait ends the connection unless a stream arrives in time.
func (c *served) wait(linger time.Duration, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.conn.isBroken() {
		return // a new stream arrived before this call
	}
	if c.late != nil {
		c.late.Stop()
	}
	c.late = time.AfterFunc(linger, func() { c.conn.end(why) })
}

// goOn continues the connection on a new stream and drops the current one, if any.
func (c *served) goOn(stream io.ReadWriteCloser, in *bufio.Reader, received uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.late != nil {
		c.late.Stop() // if the timer has fired, the connection has ended
		c.late = nil
	}
	ours, err := c.conn.detach()
	if err != nil {
		return refuse(stream)
	}
	if _, err = stream.Write(binary.BigEndian.AppendUint64([]byte{known}, ours)); err == nil {
		err = c.conn.attach(stream, in, received)
	}
	if err != nil { // the next stream may succeed
		go c.conn.broke(err)
	}
	return err
}
