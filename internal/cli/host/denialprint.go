package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Print lists the denials of a command with an exit status on stderr, for people and models.
// Without all it leaves out the harmless ones; see [IsHarmless].
func (d *Denials) Print(p *console.Printer, all bool, status int) {
	list := d.All()
	if !all {
		list = slices.DeleteFunc(list, func(one sandbox.Denial) bool { return IsHarmless(one, status) })
	}
	if len(list) == 0 {
		return
	}
	p.Say("refused:")
	for _, d := range list[:min(len(list), fewDenials)] {
		p.Line("  " + DenialLine(d))
	}
	if rest := len(list) - fewDenials + d.Dropped(); rest > 0 {
		p.Line(fmt.Sprintf("  and %d more; --json lists up to %d, --record FILE collects them", rest, maxDenials))
	}
}

// DenialLine returns a line such as "write /etc/hosts: as on the host, read-only (/, built in); to allow it: --rw /etc/hosts".
func DenialLine(d sandbox.Denial) string {
	text := d.Op + " " + d.Target
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	var why []string
	for _, s := range []string{d.Rule, d.Source} {
		if s != "" {
			why = append(why, s)
		}
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, ", ") + ")"
	}
	if len(text) > shortDenial {
		text = strings.ToValidUTF8(text[:shortDenial], "") + "..."
	}
	if d.Fix != "" {
		text += "; to allow it: " + d.Fix
	}
	return console.Escape(text)
}
