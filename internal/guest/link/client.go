package link

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Times for a stream that replaces a broken one.
const (
	firstPause  = 100 * time.Millisecond // between two attempts, which doubles
	longestWait = 2 * time.Second        // between two attempts, at most
	answerTime  = 15 * time.Second       // for the other end to answer on a stream
)

// Redial opens the next stream. why is the error of the last stream or of the last attempt. An error with the code Closed,
// NotFound or Denied means that no further attempt can succeed.
type Redial func(ctx context.Context, why error) (io.ReadWriteCloser, error)

// Dial begins a connection on a stream. After a stream breaks, it calls redial for as long as patience allows. in reads the
// stream. When ctx ends before the connection has begun, Dial closes the stream; afterwards it ignores ctx.
func Dial(ctx context.Context, stream io.ReadWriteCloser, in *bufio.Reader, redial Redial, patience time.Duration) (*Conn, error) {
	d := &dialer{redial: redial, patience: patience}
	if _, err := rand.Read(d.key[:]); err != nil {
		return nil, err
	}
	d.conn = newConn(d.again)
	stop := context.AfterFunc(ctx, func() { _ = stream.Close() })
	defer stop()
	received, err := present(stream, in, hello{key: d.key, fresh: true})
	if err == nil && received != 0 {
		err = errProtocol
	}
	if err == nil {
		err = d.conn.attach(stream, in, 0)
	}
	if err != nil {
		_ = stream.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return d.conn, nil
}

// dialer is a client's connection with the means to reconnect.
type dialer struct {
	conn     *Conn
	key      key
	redial   Redial
	patience time.Duration
}

// again continues the connection over another stream. If it gets none, it ends the connection with the reason.
func (d *dialer) again(why error) {
	ctx, cancel := context.WithTimeout(context.Background(), d.patience)
	defer cancel()
	go func() {
		select {
		case <-d.conn.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	for pause := firstPause; ; pause = min(2*pause, longestWait) {
		err := d.resume(ctx, why)
		if err == nil {
			return
		}
		if isFinal(err) || ctx.Err() != nil {
			if errors.Is(err, errForgotten) || isFinal(err) {
				why = err
			}
			d.conn.end(why)
			return
		}
		why = err
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// isFinal reports whether every further attempt would fail, too.
func isFinal(err error) bool {
	if errors.Is(err, errForgotten) || errors.Is(err, errProtocol) {
		return true
	}
	return slices.Contains([]sandbox.Code{sandbox.Closed, sandbox.NotFound, sandbox.Denied}, sandbox.CodeOf(err))
}

func (d *dialer) resume(ctx context.Context, why error) error {
	stream, err := d.redial(ctx, why)
	if err != nil {
		return err
	}
	received, err := d.conn.detach()
	if err == nil {
		err = d.presentAgain(ctx, stream, received)
	}
	if err != nil {
		_ = stream.Close()
	}
	return err
}

func (d *dialer) presentAgain(ctx context.Context, stream io.ReadWriteCloser, received uint64) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = stream.Close() })
	defer stop()
	in := bufio.NewReaderSize(stream, bufferSize)
	theirs, err := present(stream, in, hello{key: d.key, received: received})
	if err != nil {
		return err
	}
	return d.conn.attach(stream, in, theirs)
}

// bufferSize is the size of a stream's read buffer.
const bufferSize = 64 << 10
