package find

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// xargsPool are the commands that run at once.
type xargsPool struct {
	x     *xargs
	slots []*shell.Child // by number; nil: free
	tasks []string       // the command in each
	ended chan int       // numbers of slots whose commands have ended
	live  int
}

func (q *xargsPool) open(x *xargs) {
	q.x = x
	n := x.procs
	if n <= 0 || n > xargsMost {
		n = xargsMost
	}
	q.slots, q.tasks = make([]*shell.Child, n), make([]string, n) // bounded: xargsMost
	q.ended = make(chan int, n)
}

// xargsMost is the value of "as many as possible".
const xargsMost = 64

// start runs a command, beside others with -P.
func (x *xargs) start(args []string) {
	if x.say && !x.tell(args) {
		return
	}
	if err := x.proc.Spend(8); err != nil {
		x.fatal, x.status = true, x.proc.Status(err)
		return
	}
	if _, err := program.Find(x.proc, nil, args[0], ""); err != nil {
		x.proc.Warn("%s: %s", shell.QuoteIfNeeded(args[0]), shell.Strerror(err))
		x.pool.wait()
		x.fatal, x.status = true, program.LaunchStatus(err)
		return
	}
	spawn := shell.Spawn{Args: args, Null: x.file == "" || x.file == "-"}
	if x.procs == 1 {
		if x.slotVar != "" {
			spawn.Env = program.SetVariable(x.proc.Environ(), x.slotVar, x.slotVar+"=0")
		}
		x.finished(args[0], x.proc.Run(spawn))
		return
	}
	x.pool.start(spawn)
}

// tell writes the command for -t, and asks for -p.
func (x *xargs) tell(args []string) bool {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = quoting.Quote(a, quoting.ShellEscape, "")
	}
	line := strings.Join(words, " ")
	if !x.ask {
		_, _ = x.proc.Stderr.Write([]byte(line + "\n"))
		return true
	}
	_, _ = x.proc.Stderr.Write([]byte(line))
	f, err := x.proc.Open("/dev/tty")
	if err != nil {
		x.proc.Warn("failed to open /dev/tty for reading: %s", shell.Strerror(err))
		x.fatal, x.status = true, 1
		return false
	}
	defer f.Close()
	_, _ = x.proc.Stderr.Write([]byte("?..."))
	answer, _ := program.ReadAnswer(f)
	return answer != "" && (answer[0] == 'y' || answer[0] == 'Y')
}

// start runs a command in a free slot, and waits for one when there is none.
func (q *xargsPool) start(spawn shell.Spawn) {
	for {
		if q.live == len(q.slots) {
			q.reap(<-q.ended)
		}
		if q.x.fatal {
			return
		}
		n := 0
		for q.slots[n] != nil {
			n++
		}
		if q.x.slotVar != "" {
			spawn.Env = program.SetVariable(q.x.proc.Environ(), q.x.slotVar, q.x.slotVar+"="+strconv.Itoa(n))
		}
		child, err := q.x.proc.Start(spawn)
		if err != nil {
			if q.live > 0 { // As many as the machine lets run.
				q.reap(<-q.ended)
				continue
			}
			q.x.die("cannot fork: %s", shell.Strerror(err))
			return
		}
		q.slots[n], q.tasks[n] = child, spawn.Args[0]
		q.live++
		go func() {
			child.Wait()
			q.ended <- n
		}()
		return
	}
}

func (q *xargsPool) reap(n int) {
	status := q.slots[n].Wait()
	q.slots[n] = nil
	q.live--
	q.x.finished(q.tasks[n], status)
}

// wait ends when all commands have.
func (q *xargsPool) wait() {
	for q.live > 0 {
		q.reap(<-q.ended)
	}
}

// finished takes a command's exit status.
func (x *xargs) finished(name string, status int) {
	if err := x.proc.Context().Err(); err != nil {
		x.fatal, x.status = true, x.proc.Status(err)
		return
	}
	switch {
	case status == 0 || x.fatal:
	case status == 255:
		x.proc.Warn("%s: exited with status 255; aborting", shell.QuoteIfNeeded(name))
		x.fatal, x.status = true, 124
	case status > 128 && status < 128+65:
		x.proc.Warn("%s: terminated by signal %d", shell.QuoteIfNeeded(name), status-128)
		x.fatal, x.status = true, 125
	default:
		x.status = 123
	}
}
