package job

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
)

// Table holds the jobs of one process; the zero value has none.
type Table struct {
	list []*Job // the last one is the current
}

// Snapshot returns a copy of the live jobs for a child that only lists them, nil for a nil table.
func (t *Table) Snapshot() *Table {
	if t == nil {
		return nil
	}
	s := &Table{}
	for _, j := range t.list {
		if j.ID > 0 && !j.IsDone() && !j.Reported {
			k := *j
			s.list = append(s.list, &k)
		}
	}
	return s
}

// Add enters a process with a number of its own.
func (t *Table) Add(p *process.Process, text string) *Job {
	id := 1
	for _, j := range t.list {
		if j.ID >= id && !j.IsDone() {
			id = j.ID + 1
		}
	}
	t.prune()
	j := &Job{ID: id, Process: p, Text: text}
	t.list = append(t.list, j)
	return j
}

// AddSubstitution enters the process of a process substitution.
func (t *Table) AddSubstitution(p *process.Process) {
	t.prune()
	t.list = append(t.list, &Job{Process: p})
}

// All returns the jobs, the current one last.
func (t *Table) All() []*Job { return t.list }

// Last returns the job that was entered last.
func (t *Table) Last() *Job { return t.list[len(t.list)-1] }

// Clear forgets all jobs.
func (t *Table) Clear() { t.list = nil }

// Remove forgets a job.
func (t *Table) Remove(j *Job) {
	t.list = slices.DeleteFunc(t.list, func(k *Job) bool { return k == j })
}

// Live returns the jobs that have a number and whose end the shell has not reported.
func (t *Table) Live() []*Job {
	var list []*Job
	for _, j := range t.list {
		if j.ID > 0 && !j.IsDone() && !j.Reported {
			list = append(list, j)
		}
	}
	return list
}

// maxRemembered is the number of ended processes for which wait still works.
const maxRemembered = 1024

// prune forgets the oldest processes that have ended.
func (t *Table) prune() {
	if len(t.list) < maxRemembered {
		return
	}
	drop := len(t.list) - maxRemembered/2
	t.list = slices.DeleteFunc(t.list, func(j *Job) bool {
		if drop > 0 && j.HasEnded() {
			drop--
			return true
		}
		return false
	})
}

// Find returns the job that %1, %%, %+, %-, %name, %?text or the number of a process names. When there is none it
// returns nil and bash's text of the error.
func (t *Table) Find(spec string) (found *Job, problem string) {
	var live []*Job
	for _, j := range t.list {
		if j.ID > 0 && !j.IsDone() {
			live = append(live, j)
		}
	}
	if !strings.HasPrefix(spec, "%") {
		if pid, err := strconv.Atoi(spec); err == nil {
			for _, j := range t.list {
				if j.Process.PID == pid {
					return j, ""
				}
			}
		}
		return nil, "no such job"
	}
	s := spec[1:]
	switch s {
	case "", "%", "+":
		if len(live) > 0 {
			return live[len(live)-1], ""
		}
		return nil, "no such job"
	case "-":
		if len(live) > 1 {
			return live[len(live)-2], ""
		}
		if len(live) == 1 {
			return live[0], ""
		}
		return nil, "no such job"
	}
	if id, err := strconv.Atoi(s); err == nil {
		for _, j := range live {
			if j.ID == id {
				return j, ""
			}
		}
		return nil, "no such job"
	}
	sub, anywhere := strings.CutPrefix(s, "?")
	for _, j := range live {
		if anywhere && strings.Contains(j.Text, sub) || !anywhere && strings.HasPrefix(j.Text, s) {
			if found != nil {
				return nil, "ambiguous job spec"
			}
			found = j
		}
	}
	if found == nil {
		return nil, "no such job"
	}
	return found, ""
}
