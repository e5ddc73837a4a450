package session

import (
	"strings"
	"sync"
)

// Words stores the first bytes that are written to it, such as a guest's standard error before the session begins.
// The zero value is empty. It is safe for concurrent use.
type Words struct {
	mu   sync.Mutex
	text []byte
}

const maxWords = 2000

// Write never fails. It drops bytes beyond the limit.
func (w *Words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p[:min(len(p), maxWords-len(w.text))]...)
	return len(p), nil
}

// String returns the stored bytes, as [Printable].
func (w *Words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Printable(strings.TrimSpace(string(w.text)))
}
