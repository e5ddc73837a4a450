package session

import (
	"strings"
	"sync"
)

// Words keeps the first bytes that are written to it: what a guest says on its standard error before the session
// stands. The zero value is empty. It is safe for concurrent use.
type Words struct {
	mu   sync.Mutex
	text []byte
}

const maxWords = 2000

// Write never fails; what is too much is dropped.
func (w *Words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p[:min(len(p), maxWords-len(w.text))]...)
	return len(p), nil
}

// String is what was kept, as [Printable].
func (w *Words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Printable(strings.TrimSpace(string(w.text)))
}
