// Package rlimit stores the limits of the ulimit builtin. The shell enforces the limit of open files; the machine has
// limits of its own for the others, so they are only remembered.
package rlimit

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
)

// Unlimited is the value of a resource without a limit.
const Unlimited = "unlimited"

// Resource describes one limit.
type Resource struct {
	Letter byte
	Name   string
	Unit   string // with the letter, as ulimit -a shows it
	value  string // where the machine has none
}

// Resources lists the resources in bash's order. It must not be changed.
var Resources = []Resource{
	{'R', "real-time non-blocking time", "microseconds, -R", Unlimited},
	{'c', "core file size", "blocks, -c", "0"},
	{'d', "data seg size", "kbytes, -d", Unlimited},
	{'e', "scheduling priority", "-e", "0"},
	{'f', "file size", "blocks, -f", Unlimited},
	{'i', "pending signals", "-i", "1024"},
	{'l', "max locked memory", "kbytes, -l", "64"},
	{'m', "max memory size", "kbytes, -m", Unlimited},
	{'n', "open files", "-n", "1024"},
	{'p', "pipe size", "512 bytes, -p", "8"},
	{'q', "POSIX message queues", "bytes, -q", "819200"},
	{'r', "real-time priority", "-r", "0"},
	{'s', "stack size", "kbytes, -s", "8192"},
	{'t', "cpu time", "seconds, -t", Unlimited},
	{'u', "max user processes", "-u", "256"},
	{'v', "virtual memory", "kbytes, -v", Unlimited},
	{'x', "file locks", "-x", Unlimited},
}

// Machine holds the limits that a machine has.
type Machine struct {
	Files, Processes int
}

// Limits holds the limits that a process has set; nil means none. It is never changed: Set returns another.
type Limits struct {
	files      int // soft limit of open files; -1: that of the machine
	soft, hard map[byte]string
}

// Value returns a limit as ulimit prints it, "" for an unknown resource.
func (l *Limits) Value(resource byte, hard bool, m Machine) string {
	if l != nil {
		values := l.soft
		if hard {
			values = l.hard
		}
		if v, ok := values[resource]; ok {
			return v
		}
	}
	switch resource {
	case 'n':
		return strconv.Itoa(m.Files)
	case 'u':
		return strconv.Itoa(m.Processes)
	}
	for _, r := range Resources {
		if r.Letter == resource {
			return r.value
		}
	}
	return ""
}

// Base returns a limit in the units of proc(5): bytes, not blocks or kilobytes.
func (l *Limits) Base(resource byte, hard bool, m Machine) string {
	v := l.Value(resource, hard, m)
	if n, err := strconv.ParseInt(v, 10, 64); err == nil && n <= math.MaxInt64/unitOf(resource) {
		return strconv.FormatInt(n*unitOf(resource), 10)
	}
	return v
}

// Files returns how many descriptors a process may have open.
func (l *Limits) Files(m Machine) int {
	if l != nil && l.files >= 0 {
		return min(m.Files, l.files)
	}
	return m.Files
}

// Change is a request to set a limit.
type Change struct {
	Resource   byte
	Value      string // a number, "hard", "soft" or Unlimited
	Soft, Hard bool   // which limits to set
}

// Set returns the limits after the change. It refuses to raise the hard limit, and a soft limit above it. The errors
// have bash's texts.
func (l *Limits) Set(c Change, m Machine) (*Limits, error) {
	v, err := l.parse(c, m)
	if err != nil {
		return nil, err
	}
	most := l.Value(c.Resource, true, m)
	switch {
	case c.Hard && isAbove(v, most):
		return nil, errors.New(nameOf(c.Resource) + ": cannot modify limit: Operation not permitted")
	case c.Soft && !c.Hard && isAbove(v, most), c.Hard && !c.Soft && isAbove(l.Value(c.Resource, false, m), v):
		return nil, errors.New(nameOf(c.Resource) + ": cannot modify limit: Invalid argument")
	}
	r := &Limits{files: -1, soft: map[byte]string{}, hard: map[byte]string{}}
	if l != nil {
		r.files = l.files
		maps.Copy(r.soft, l.soft)
		maps.Copy(r.hard, l.hard)
	}
	if c.Soft {
		r.soft[c.Resource] = v
	}
	if c.Hard {
		r.hard[c.Resource] = v
	}
	if n, err := strconv.Atoi(v); c.Resource == 'n' && c.Soft && err == nil {
		r.files = n
	}
	return r, nil
}

// parse returns the value that a change sets.
func (l *Limits) parse(c Change, m Machine) (string, error) {
	switch c.Value {
	case "hard":
		return l.Value(c.Resource, true, m), nil
	case "soft":
		return l.Value(c.Resource, false, m), nil
	case Unlimited:
		return c.Value, nil
	}
	if c.Value == "" || strings.Trim(c.Value, "0123456789") != "" {
		return "", fmt.Errorf("%s: invalid number", c.Value)
	}
	if n, err := strconv.ParseInt(c.Value, 10, 64); err != nil || n > math.MaxInt64/unitOf(c.Resource) {
		return "", fmt.Errorf("%s: limit out of range", c.Value)
	}
	return c.Value, nil
}

func nameOf(resource byte) string {
	for _, r := range Resources {
		if r.Letter == resource {
			return r.Name
		}
	}
	return ""
}

// unitOf returns the number of bytes in a unit of a limit.
func unitOf(resource byte) int64 {
	switch resource {
	case 'c', 'f', 'p':
		return 512
	case 'd', 'l', 'm', 's', 'v':
		return 1024
	}
	return 1
}

// isAbove reports whether limit a is higher than b.
func isAbove(a, b string) bool {
	if b == Unlimited || a == b {
		return false
	}
	m, err1 := strconv.ParseInt(a, 10, 64)
	n, err2 := strconv.ParseInt(b, 10, 64)
	return err1 != nil || err2 == nil && m > n
}
