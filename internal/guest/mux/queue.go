package mux

import (
	"bufio"
	"io"
	"sync"
)

// queue stores received bytes that were not read yet. Small pieces share a buffer, so that many of them need little
// more memory than their bytes.
type queue struct {
	size   int
	pieces []piece
}

// piece is the unread part of a buffer.
type piece struct {
	data   []byte
	whole  *[]byte // of large
	peeked bool    // data is still part of the connection's buffer
}

// A piece of at most small bytes shares a buffer of at least shared bytes with others.
const (
	small  = 4 << 10
	shared = 512
)

// large is a pool of buffers for whole frames.
var large = sync.Pool{New: func() any {
	b := make([]byte, maxPayload)
	return &b
}}

// receive waits for n bytes.
func receive(r *bufio.Reader, n int) (*piece, error) {
	if n <= small {
		data, err := r.Peek(n)
		return &piece{data: data, peeked: true}, err
	}
	p := &piece{}
	if n > maxPayload/2 {
		p.whole, _ = large.Get().(*[]byte) // the pool contains only this type
		p.data = (*p.whole)[:n]
	} else {
		p.data = make([]byte, n)
	}
	_, err := io.ReadFull(r, p.data)
	return p, err
}

// received releases the connection's buffer.
func (p *piece) received(r *bufio.Reader) {
	if p.peeked {
		_, _ = r.Discard(len(p.data)) // the bytes are buffered, so this cannot fail
	}
}

// add appends a piece; it copies a peeked one.
func (q *queue) add(p *piece) {
	q.size += len(p.data)
	if !p.peeked {
		q.pieces = append(q.pieces, *p)
		return
	}
	if last := len(q.pieces) - 1; last >= 0 {
		if d := q.pieces[last].data; cap(d)-len(d) >= len(p.data) {
			q.pieces[last].data = append(d, p.data...)
			return
		}
	}
	q.pieces = append(q.pieces, piece{data: append(make([]byte, 0, max(shared, len(p.data))), p.data...)})
}

// read removes bytes from the queue into p.
func (q *queue) read(p []byte) int {
	done := 0
	for done < len(p) && len(q.pieces) > 0 {
		first := &q.pieces[0]
		n := copy(p[done:], first.data)
		done += n
		first.data = first.data[n:]
		if len(first.data) == 0 {
			first.free()
			q.pieces[0] = piece{}
			q.pieces = q.pieces[1:]
		}
	}
	q.size -= done
	if len(q.pieces) == 0 {
		q.pieces = nil
	}
	return done
}

// take removes the first piece. The queue must not be empty. The caller frees the piece.
func (q *queue) take() piece {
	p := q.pieces[0]
	q.pieces[0] = piece{}
	if q.pieces = q.pieces[1:]; len(q.pieces) == 0 {
		q.pieces = nil
	}
	q.size -= len(p.data)
	return p
}

func (q *queue) clear() {
	for i := range q.pieces {
		q.pieces[i].free()
	}
	*q = queue{}
}

// free gives the buffer back.
func (p *piece) free() {
	if p.whole != nil {
		large.Put(p.whole)
	}
}
