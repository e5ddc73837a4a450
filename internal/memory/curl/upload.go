package curl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// upload sends a request while its response is read: a server may respond before it has read all.
type upload struct {
	t       *transfer
	ctx     context.Context //nolint:containedctx // It ends with the request.
	c       *conn
	head    string
	expects bool

	go100   chan struct{} // closed when the body may be sent
	once    sync.Once
	stop    chan struct{} // closed when it need not be
	stopped sync.Once
	end     chan struct{} // closed when all has been sent, or cannot be
	sent    int64
	err     error
}

func (t *transfer) newUpload(ctx context.Context, c *conn, head string) *upload {
	return &upload{
		t: t, ctx: ctx, c: c, head: head, expects: t.expects100(),
		go100: make(chan struct{}), stop: make(chan struct{}), end: make(chan struct{}),
	}
}

// start sends; wait waits for its end.
func (u *upload) start() {
	if u.t.body == nil {
		_, u.err = io.WriteString(u.c, u.head)
		close(u.end)
		return
	}
	// A process may be asked for files on its own goroutine only.
	body, err := u.t.body.open()
	if err != nil {
		if u.err = err; !isFault(err) {
			u.err = failed(codeRead, "Failed to open/read local data from file/application")
		}
		_ = u.c.Close() // The server does not respond to an unfinished request.
		close(u.end)
		return
	}
	go func() {
		defer close(u.end)
		defer body.Close()
		u.err = u.send(body)
	}()
}

func isFault(err error) bool {
	_, ok := errors.AsType[*fault](err)
	return ok
}

// proceed lets the body be sent.
func (u *upload) proceed() { u.once.Do(func() { close(u.go100) }) }

// refuse records that the server rejects the rest of the request.
func (u *upload) refuse() { u.stopped.Do(func() { close(u.stop) }) }

// isDone reports whether the whole request was sent. A response may arrive before that.
func (u *upload) isDone() bool {
	timer := time.NewTimer(overtaking)
	defer timer.Stop()
	select {
	case <-u.end:
		return u.err == nil
	case <-u.stop:
	case <-timer.C:
	}
	return u.failure() == nil && u.over()
}

// overtaking is the time for which a request may continue after its response.
const overtaking = 100 * time.Millisecond

func (u *upload) over() bool {
	select {
	case <-u.end:
		return true
	default:
		return false
	}
}

// failure returns the first error so far.
func (u *upload) failure() error {
	select {
	case <-u.end:
		return u.err
	default:
		return nil
	}
}

// wait ends the sending and returns how much of the body went.
func (u *upload) wait() (int64, error) {
	u.refuse()
	<-u.end
	if errors.Is(u.err, errStopped) {
		return u.sent, nil
	}
	return u.sent, u.err
}

// errStopped is a body that the server did not want.
var errStopped = errors.New("stopped")

func (u *upload) send(body io.Reader) error {
	if _, err := io.WriteString(u.c, u.head); err != nil {
		return err
	}
	if u.expects && !u.await() {
		return errStopped
	}
	return u.copy(body)
}

// await waits, for a limited time, for the permission to send.
func (u *upload) await() bool {
	timer := time.NewTimer(u.t.config.expectTimeout)
	defer timer.Stop()
	select {
	case <-u.go100:
		return true
	case <-u.stop:
		return false
	case <-timer.C:
		return true
	case <-u.ctx.Done():
		return false
	}
}

func (u *upload) copy(body io.Reader) error {
	chunked := u.t.isChunked()
	buf := make([]byte, 32<<10)
	left := u.t.body.size
	if chunked {
		left = -1
	}
	for {
		select {
		case <-u.stop:
			if left > 0 || chunked {
				return errStopped
			}
		default:
		}
		n, err := body.Read(buf)
		if left >= 0 && int64(n) > left {
			n = int(left) // The file has grown.
		}
		if n > 0 {
			u.t.showUpload(n)
			var werr error
			if chunked {
				_, werr = fmt.Fprintf(u.c, "%x\r\n%s\r\n", n, buf[:n])
			} else {
				_, werr = u.c.Write(buf[:n])
			}
			if werr != nil {
				return werr
			}
			u.sent += int64(n)
			if left >= 0 {
				left -= int64(n)
			}
		}
		switch {
		case errors.Is(err, io.EOF) && chunked:
			_, err = io.WriteString(u.c, "0\r\n\r\n")
			return err
		case errors.Is(err, io.EOF) || err == nil && left == 0:
			if left > 0 {
				return failed(codePartial, "transfer closed with outstanding read data remaining")
			}
			return nil
		case err != nil:
			return failed(codeRead, "Failed to open/read local data from file/application")
		}
	}
}
