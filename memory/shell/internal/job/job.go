// Package job holds the processes that a shell has started beside itself: the table of the jobs builtin.
package job

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

// Job is a process that runs beside the shell.
type Job struct {
	ID           int // of jobs and %n; 0: a process substitution, which has none
	Process      *process.Process
	Text         string     // the command, as jobs shows it
	Reported     bool       // the shell has reported its end
	StopReported bool       // the shell has reported that it is stopped
	Signaled     bool       // a signal was sent after its end
	Waited       bool       // the shell has waited for it
	Coprocess    *Coprocess // nil: the job is not a coprocess
}

// Coprocess holds the state that ends with a coprocess.
type Coprocess struct {
	Slot, PIDSlot int    // the variables of its descriptors and its process
	Descriptors   [2]int // which read its output and write its input
	Ends          [2]*fd.Description
}

// HasEnded reports whether the process has ended.
func (j *Job) HasEnded() bool {
	select {
	case <-j.Process.Done:
		return true
	default:
		return false
	}
}

// IsDone reports whether the job has ended and been waited for.
func (j *Job) IsDone() bool { return j.Waited && j.HasEnded() }

// IsStopped reports whether a signal has stopped the process.
func (j *Job) IsStopped() bool { return j.Process.IsStopped() }

// Line returns the line that the jobs builtin shows. The last two jobs of live are marked as the current and the
// previous one; long adds the number of the process.
func (j *Job) Line(live []*Job, long bool) string {
	mark := " "
	if n := len(live); n > 0 && live[n-1] == j {
		mark = "+"
	} else if n > 1 && live[n-2] == j {
		mark = "-"
	}
	state, tail := "Running", " &"
	switch {
	case j.HasEnded() && j.Process.Status == 0:
		state, tail = "Done", ""
	case j.HasEnded() && j.Process.Status > 128 && signal.Text(j.Process.Status-128) != "":
		state, tail = signal.Text(j.Process.Status-128), ""
	case j.HasEnded():
		state, tail = "Exit "+strconv.Itoa(j.Process.Status), ""
	case j.IsStopped():
		state, tail = "Stopped", ""
	}
	pid := ""
	if long {
		pid = strconv.Itoa(j.Process.PID) + " "
	}
	return fmt.Sprintf("[%d]%s  %s%-24s%s%s\n", j.ID, mark, pid, state, strings.TrimSuffix(j.Text, " &"), tail)
}
