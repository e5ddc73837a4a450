package mcp

import (
	"fmt"
	"strings"
	"sync"
)

// ends retains the beginning and the end of what is written to it. It is safe for concurrent use, and never fails.
type ends struct {
	most int // bytes that are retained

	mu   sync.Mutex
	head []byte
	tail []byte // the last bytes after the head, at most twice as many as are retained
	lost int64
}

func (e *ends) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(p), e.most/2-len(e.head))
	e.head = append(e.head, p[:n]...)
	e.tail = append(e.tail, p[n:]...)
	if keep := e.most - e.most/2; len(e.tail) > 2*keep {
		e.lost += int64(len(e.tail) - keep)
		e.tail = append([]byte(nil), e.tail[len(e.tail)-keep:]...)
	}
	return len(p), nil
}

// missing returns the number of dropped bytes, and the retained end.
func (e *ends) missing() (lost int64, tail []byte) {
	over := max(0, len(e.tail)-(e.most-e.most/2))
	return e.lost + int64(over), e.tail[over:]
}

// isCut reports whether bytes were dropped.
func (e *ends) isCut() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	lost, _ := e.missing()
	return lost > 0
}

// String returns the beginning and the end, with a line in place of the dropped bytes.
func (e *ends) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	lost, tail := e.missing()
	if lost == 0 {
		return validText(string(e.head) + string(tail))
	}
	return validText(string(e.head)) + fmt.Sprintf("\n[... %d bytes cut ...]\n", lost) + validText(string(tail))
}

// validText returns valid UTF-8, as JSON requires.
func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
