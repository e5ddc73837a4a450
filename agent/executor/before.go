package executor

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/message"
)

// Before is what was said before, as a text for agents that take no messages but the one that is to be answered; "" when
// nothing was.
func Before(history []message.Message) string {
	var b strings.Builder
	for _, m := range history {
		text := m.Text()
		if text == "" {
			continue
		}
		if b.Len() == 0 {
			b.WriteString("This is the conversation until now; what is to be answered comes after it.\n\n<conversation>\n")
		}
		b.WriteString("<" + string(m.Role) + ">\n" + text + "\n</" + string(m.Role) + ">\n")
	}
	if b.Len() > 0 {
		b.WriteString("</conversation>")
	}
	return b.String()
}
