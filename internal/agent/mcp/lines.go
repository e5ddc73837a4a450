package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMessage is the limit of one message in bytes.
const maxMessage = 16 << 20

var errTooLong = errors.New("a message has more than 16 MiB")

// readLine reads up to the next line break and drops it. errTooLong: it discarded the line.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	over := false
	for {
		part, err := r.ReadSlice('\n')
		if over = over || len(line)+len(part) > most; !over {
			line = append(line, part...)
		} else {
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		case over:
			return nil, errTooLong
		}
		return bytes.TrimSpace(line), nil
	}
}

// lineWriter writes messages, one per line, for several goroutines.
type lineWriter struct {
	to io.Writer
	mu sync.Mutex
}

func (w *lineWriter) send(m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return w.write(data)
}

// write writes an encoded message, which has no line break.
func (w *lineWriter) write(data []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := io.Copy(w.to, bytes.NewReader(append(data, '\n')))
	return err
}
