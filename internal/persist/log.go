package persist

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

const (
	// logLimit is the size at which the log of a sandbox loses its older half.
	logLimit = 4 << 20
	// logArgs is the number of bytes of a command's arguments that its line in the log has.
	logArgs = 1 << 10
)

// NewLog returns the log of a keeper, with one line per event. If w is a file, which has to be readable, too, it loses its older
// half at 4 MiB.
func NewLog(w io.Writer) *slog.Logger {
	if f, ok := w.(*os.File); ok {
		w = &cappedLog{file: f}
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// cappedLog is a log file of limited size. It is safe for concurrent use within one process.
type cappedLog struct {
	mu   sync.Mutex
	file *os.File
}

// Write appends one line.
func (l *cappedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if st, err := l.file.Stat(); err == nil && st.Mode().IsRegular() && st.Size()+int64(len(p)) > logLimit {
		if err := l.shorten(st.Size()); err != nil {
			return 0, err
		}
	}
	return l.file.Write(p)
}

// shorten removes the older half, up to the end of a line.
func (l *cappedLog) shorten(size int64) error {
	rest := make([]byte, min(size, logLimit/2))
	n, err := l.file.ReadAt(rest, size-int64(len(rest)))
	if err != nil && n < len(rest) {
		return err
	}
	_, rest, _ = bytes.Cut(rest, []byte("\n"))
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = fmt.Fprintf(l.file, "time=%s level=INFO msg=\"older lines were removed\"\n%s", time.Now().Format(time.RFC3339Nano), rest)
	return err
}

// loggedArgs returns what the log has of a command's arguments: the first [logArgs] bytes, and how much there was.
func loggedArgs(args []string) []string {
	total := 0
	for i, arg := range args {
		if total+len(arg) <= logArgs {
			total += len(arg)
			continue
		}
		all := len(strings.Join(args, ""))
		cut := arg[:logArgs-total]
		for len(cut) > 0 && !utf8.ValidString(cut) && utf8.ValidString(arg) {
			cut = cut[:len(cut)-1]
		}
		return append(args[:i:i], cut, fmt.Sprintf("… (%d arguments, %d bytes)", len(args), all))
	}
	return args
}
