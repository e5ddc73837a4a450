package vfs

import (
	"context"
	"io"
	"os"
	"sync"
	"syscall"
)

const (
	pipeSize = 64 << 10
	pipeBuf  = 4096 // writes up to this are in one piece (PIPE_BUF)
)

// Pipe returns the two ends of an anonymous pipe that holds up to 64 KiB. A read waits
// for data, and is io.EOF once it is empty and all writers are closed; a write waits
// for room, and is EPIPE once all readers are closed.
func Pipe() (r, w *File) {
	p := newPipe(1, 1)
	r = (&opened{d: description{pipe: p, name: "pipe", flag: os.O_RDONLY}}).file()
	w = (&opened{d: description{pipe: p, name: "pipe", flag: os.O_WRONLY}}).file()
	return r, w
}

// pipe is a ring with readers and writers on both sides of it.
type pipe struct {
	mu               sync.Mutex
	ring             []byte
	at, n            int // the first byte, and how many there are
	readers, writers int
	readGen, writGen int // how many readers and writers there ever were
	number           uint64

	// One token each: a waiter takes it, checks, and passes it on if others may continue too.
	readable, writable, joined chan struct{}
}

func newPipe(readers, writers int) *pipe {
	return &pipe{
		readers: readers, writers: writers,
		readable: make(chan struct{}, 1), writable: make(chan struct{}, 1), joined: make(chan struct{}, 1),
	}
}

// ino is the number that the pipe goes by, if it has one.
func (p *pipe) ino() uint64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.number
}

func putToken(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// waitForToken waits for a token, or for the end of the context whose error it then returns.
func waitForToken(c, done <-chan struct{}, why func() error) error {
	select {
	case <-c:
		return nil
	case <-done:
		return why()
	}
}

func (p *pipe) read(b []byte, nonblock bool, done <-chan struct{}, why func() error) (int, error) {
	p.mu.Lock()
	for p.n == 0 {
		if p.writers == 0 {
			p.mu.Unlock()
			putToken(p.readable) // for the other readers
			return 0, io.EOF
		}
		p.mu.Unlock()
		if nonblock {
			return 0, syscall.EAGAIN
		}
		if err := waitForToken(p.readable, done, why); err != nil {
			return 0, err
		}
		p.mu.Lock()
	}
	n := copy(b, p.ring[p.at:min(p.at+p.n, len(p.ring))])
	if rest := p.n - n; rest > 0 && n < len(b) {
		n += copy(b[n:], p.ring[:rest])
	}
	p.n -= n
	p.at += n
	if p.at >= len(p.ring) {
		p.at -= len(p.ring)
	}
	if p.n == 0 {
		p.at = 0
	}
	more := p.n > 0
	p.mu.Unlock()
	putToken(p.writable)
	if more {
		putToken(p.readable)
	}
	return n, nil
}

func (p *pipe) write(b []byte, nonblock bool, done <-chan struct{}, why func() error) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	sum := 0
	p.mu.Lock()
	for {
		if p.readers == 0 {
			p.mu.Unlock()
			putToken(p.writable) // for the other writers
			return sum, syscall.EPIPE
		}
		room := pipeSize - p.n
		if room > 0 && (len(b) > pipeBuf || room >= len(b)) {
			n := p.put(b)
			b, sum = b[n:], sum+n
		}
		if len(b) == 0 {
			break
		}
		p.mu.Unlock()
		putToken(p.readable)
		if nonblock {
			if sum > 0 {
				return sum, nil
			}
			return 0, syscall.EAGAIN
		}
		if err := waitForToken(p.writable, done, why); err != nil {
			return sum, err
		}
		p.mu.Lock()
	}
	room := p.n < pipeSize
	p.mu.Unlock()
	if sum > 0 {
		putToken(p.readable)
	}
	if room {
		putToken(p.writable)
	}
	return sum, nil
}

// put copies as much as fits into the ring, which grows up to its full size.
func (p *pipe) put(b []byte) int {
	if need := min(p.n+len(b), pipeSize); need > len(p.ring) {
		size := max(512, len(p.ring))
		for size < need {
			size *= 2
		}
		ring := make([]byte, size)
		k := copy(ring, p.ring[p.at:min(p.at+p.n, len(p.ring))])
		copy(ring[k:p.n], p.ring)
		p.ring, p.at = ring, 0
	}
	b = b[:min(len(b), len(p.ring)-p.n)]
	end := p.at + p.n
	if end >= len(p.ring) {
		end -= len(p.ring)
	}
	n := copy(p.ring[end:], b)
	n += copy(p.ring, b[n:])
	p.n += n
	return n
}

// join opens a named pipe: a reader waits for a writer and a writer for a reader.
// A process that does both does not wait.
func (p *pipe) join(ctx context.Context, flag int) error {
	p.mu.Lock()
	read, write := flag&accessMode != os.O_WRONLY, flag&accessMode != os.O_RDONLY
	if write && !read && flag&syscall.O_NONBLOCK != 0 && p.readers == 0 {
		p.mu.Unlock()
		return syscall.ENXIO
	}
	if read {
		p.readers++
		p.readGen++
	}
	if write {
		p.writers++
		p.writGen++
	}
	readGen, writGen := p.readGen, p.writGen
	putToken(p.joined)
	for flag&syscall.O_NONBLOCK == 0 && read != write {
		// A process that opened and closed the pipe since counts too.
		if read && (p.writers > 0 || p.writGen != writGen) || write && (p.readers > 0 || p.readGen != readGen) {
			break
		}
		p.mu.Unlock()
		if err := waitForToken(p.joined, ctx.Done(), ctx.Err); err != nil {
			p.leave(flag)
			return err
		}
		p.mu.Lock()
	}
	p.mu.Unlock()
	putToken(p.joined)
	return nil
}

// leave closes one end.
func (p *pipe) leave(flag int) {
	p.mu.Lock()
	if flag&accessMode != os.O_WRONLY {
		p.readers--
	}
	if flag&accessMode != os.O_RDONLY {
		p.writers--
	}
	if p.readers == 0 && p.writers == 0 {
		p.ring, p.at, p.n = nil, 0, 0
	}
	p.mu.Unlock()
	putToken(p.readable)
	putToken(p.writable)
}
