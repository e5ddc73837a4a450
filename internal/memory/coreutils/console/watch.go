package console

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/internal/memory/strftime"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func watchCommand() program.Description {
	return program.Description{
		Name: "watch", Usage: "[options] command", Summary: "run a command again and again, and show what it prints",
		Help: `  -b, --beep             a bell when the command fails
  -c, --color            accepted: colors are shown as they come
  -d, --differences      mark lines that have changed with >; without a terminal too
  -e, --errexit          end when the command fails
  -g, --chgexit          end when the output changes
  -n, --interval SECS    wait SECS between runs; 2 without this, at least 0.1
  -p, --precise          count SECS from the start of a run
  -q, --equexit CYCLES   end when the output has not changed for CYCLES runs
  -t, --no-title         no head
  -w, --no-wrap          accepted: lines are never cut
  -x, --exec             run the command itself, not "sh -c"

It ends with the time that the run is given, or when it is killed: without a terminal there is no key to press.`,
		Run: runWatch,
	}
}

var watchOptions = []getopt.Option{
	{Short: 'b', Long: "beep"},
	{Short: 'c', Long: "color"},
	{Short: 'd', Long: "differences", Arg: getopt.Optional},
	{Short: 'e', Long: "errexit"},
	{Short: 'g', Long: "chgexit"},
	{Short: 'h', Long: "help", ID: getopt.Help},
	{Short: 'n', Long: "interval", Arg: getopt.Required},
	{Short: 'p', Long: "precise"},
	{Short: 'q', Long: "equexit", Arg: getopt.Required},
	{Short: 't', Long: "no-title"},
	{Short: 'v', Long: "version", ID: getopt.Version},
	{Short: 'w', Long: "no-wrap"},
	{Short: 'x', Long: "exec"},
}

// watching is a command that is run again and again.
type watching struct {
	proc                 *shell.Proc
	command              []string
	interval             time.Duration
	beep, marks, untitle bool
	onError, onChange    bool
	precise, direct      bool
	equal                int // runs without change after which it ends; 0: never

	before []byte
	runs   int
	same   int
}

// watchFailed is the status when -e ends it.
const watchFailed = 8

func runWatch(p *shell.Proc) int {
	o := program.NewOptions(p, watchCommand, watchOptions)
	o.Order = getopt.RequireOrder
	w := &watching{proc: p, interval: 2 * time.Second}
	for o.Next() {
		w.set(o)
	}
	if o.HasEnded() {
		return o.Status
	}
	if w.command = o.Args(); len(w.command) == 0 {
		program.TryHelp(p, watchCommand())
		return 1
	}
	return w.loop()
}

func (w *watching) set(o *program.Options) {
	switch o.ID {
	case 'b':
		w.beep = true
	case 'd':
		w.marks = true
	case 'e':
		w.onError = true
	case 'g':
		w.onChange = true
	case 'n':
		seconds, err := strconv.ParseFloat(strings.ReplaceAll(o.Value, ",", "."), 64)
		if err != nil || seconds != seconds {
			o.RejectQuietly("failed to parse argument: '%s': Invalid argument", o.Value)
		}
		w.interval = time.Duration(min(max(seconds, 0.1), 1<<31) * float64(time.Second))
	case 'p':
		w.precise = true
	case 'q':
		n, err := strconv.Atoi(o.Value)
		if err != nil || n < 1 {
			o.RejectQuietly("failed to parse argument: '%s': Invalid argument", o.Value)
		}
		w.equal = n
	case 't':
		w.untitle = true
	case 'x':
		w.direct = true
	}
}

func (w *watching) loop() int {
	for {
		begin := time.Now()
		output, status := w.once()
		if err := w.proc.Context().Err(); err != nil {
			return w.proc.Status(err)
		}
		changed := w.runs > 0 && !bytes.Equal(output, w.before)
		switch {
		case changed:
			w.same = 0
		case w.runs > 0:
			w.same++
		}
		if _, err := w.proc.Stdout.Write(w.screen(output, status)); err != nil {
			return w.proc.WriteFailed(err)
		}
		w.before = output
		switch w.runs++; {
		case status != 0 && w.onError:
			return watchFailed
		case changed && w.onChange, w.equal > 0 && w.same >= w.equal:
			return 0
		}
		wait := w.interval
		if w.precise {
			wait = max(0, wait-time.Since(begin))
		}
		if status := program.WaitFor(w.proc, wait); status != 0 {
			return status
		}
	}
}

// once runs the command and returns its output.
func (w *watching) once() (output []byte, status int) {
	args := w.command
	if !w.direct {
		args = []string{"sh", "-c", strings.Join(w.command, " ")}
	}
	b := &headBuffer{}
	status = w.proc.Run(shell.Spawn{Args: args, Null: true, Stdout: b, Stderr: b})
	return b.Bytes(), status
}

// headBuffer keeps the beginning of its input.
type headBuffer struct{ bytes.Buffer }

// headKept is the part of a command's output that fits on a screen, in bytes.
const headKept = 256 << 10

// Write takes all of b, and keeps as much as fits.
func (h *headBuffer) Write(b []byte) (int, error) {
	h.Buffer.Write(b[:min(len(b), max(0, headKept-h.Len()))])
	return len(b), nil
}

var _ io.Writer = (*headBuffer)(nil)

// screen returns the part of a run's output that fits on the screen.
func (w *watching) screen(output []byte, status int) []byte {
	var s bytes.Buffer
	if program.IsTerminal(w.proc.Stdout) {
		s.WriteString("\x1b[H\x1b[2J")
	} else if w.runs > 0 {
		s.WriteByte('\n')
	}
	if w.beep && status != 0 {
		s.WriteByte('\a')
	}
	if !w.untitle {
		s.WriteString(w.title() + "\n\n")
	}
	if w.marks && w.runs > 0 {
		s.Write(markChanges(w.before, output))
	} else {
		s.Write(output)
	}
	if len(output) > 0 && output[len(output)-1] != '\n' {
		s.WriteByte('\n')
	}
	return s.Bytes()
}

// title returns the head: the command, and the time.
func (w *watching) title() string {
	left := "Every " + strconv.FormatFloat(w.interval.Seconds(), 'f', 1, 64) + "s: " + strings.Join(w.command, " ")
	right := program.Hostname(w.proc) + ": " + strftime.Format("%a %b %e %H:%M:%S %Y", w.proc.Now().In(program.Zone(w.proc)))
	return left + strings.Repeat(" ", max(1, program.TerminalWidth(w.proc)-len(left)-len(right))) + right // bounded: by the width of a terminal
}

// markChanges puts > before the lines that are not as they were, and a blank before the others.
func markChanges(before, after []byte) []byte {
	var b bytes.Buffer // bounded: by the text, which is there twice, and a mark for each line
	more := true
	for line := range bytes.SplitSeq(bytes.TrimSuffix(after, []byte("\n")), []byte("\n")) {
		mark := byte(' ')
		old, rest, found := bytes.Cut(before, []byte("\n"))
		if !more || !bytes.Equal(old, line) {
			mark = '>'
		}
		before, more = rest, found
		b.WriteByte(mark)
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.Bytes()
}
