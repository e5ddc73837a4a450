package curl

import (
	"fmt"
	"strings"
)

// info prints a line of -v about an event.
func (t *transfer) info(format string, args ...any) {
	if t.tool.verbose {
		t.tool.say("* " + fmt.Sprintf(format, args...) + "\n")
	}
}

// showSent shows a request's head.
func (t *transfer) showSent(head string) {
	if !t.tool.verbose {
		return
	}
	var b strings.Builder
	for line := range strings.Lines(head) {
		b.WriteString("> " + line) // bounded: by three times the head, whose parts are charged
	}
	t.tool.say(b.String())
}

// showReceived shows a line of an answer's head.
func (t *transfer) showReceived(line string) {
	if t.tool.verbose {
		t.tool.say("< " + line)
	}
}

// showData prints a piece of a body.
func (t *transfer) showData(n int) {
	if t.tool.verbose && (t.sink.name != "" || !isTerminal(t.tool.p.Stdout)) && t.url.scheme != "file" {
		t.tool.say(fmt.Sprintf("{ [%d bytes data]\n", n))
	}
}

// showUpload prints a piece of a body that was sent.
func (t *transfer) showUpload(n int) {
	if t.tool.verbose {
		t.tool.say(fmt.Sprintf("} [%d bytes data]\n", n))
	}
}

// noteConn records the connection's values for --write-out.
func (t *transfer) noteConn(c *conn) {
	if c.remote != nil {
		t.stats.remote, t.stats.remotePort = c.remote.IP.String(), c.remote.Port
	}
	if c.local != nil {
		t.stats.local, t.stats.localPort = c.local.IP.String(), c.local.Port
	}
}
