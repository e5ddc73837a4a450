package guestnet

import (
	"bufio"
	"errors"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
)

// For any answer of a proxy, the text is short and safe for a terminal.
func FuzzConnectAnswer(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\n\r\nSSH-2.0-x", "HTTP/1.1 403 no\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.0 407\n\n",
		"HTTP/1.1 403 \x1b[2J\r\ncontent-length: 99999999999999999999\r\n\r\n\x9b1m\xff", "x", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		err := connectAnswer(bufio.NewReader(strings.NewReader(answer)))
		if err == nil && !strings.HasPrefix(answer, "HTTP/1.") {
			t.Fatalf("%q is a yes", answer)
		}
		r, ok := errors.AsType[*proxyRefusal](err)
		if !ok {
			return
		}
		text := strings.ReplaceAll(r.Error(), "\n", "")
		if text != session.Printable(text) || len(text) > 4*(maxConnectText+maxConnectHead) {
			t.Fatalf("%q is shown as %q", answer, text)
		}
	})
}
