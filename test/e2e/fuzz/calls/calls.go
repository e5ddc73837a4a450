// Package calls describes programs of file system calls in a text form that users can read, shorten and run again.
package calls

import (
	"fmt"
	"strconv"
	"strings"
)

// Program is a program whose threads run at the same time.
type Program struct {
	Threads []Thread
}

// Thread is a thread's calls.
type Thread struct {
	Loop   bool // the thread repeats them until the other threads have ended
	Repeat int  // the number of repetitions otherwise; 0 means 1
	Calls  []Call
}

// Call is a system call, or a short sequence of them, with its arguments. In the texts, {NAME} stands for a path of the
// world and {pid}, {tid} and {r3} for the numbers of the process, the thread and the descriptor in register 3; {pad:9} is a
// run of "./" of that many bytes.
type Call struct {
	Name     string
	At, From string // directory descriptors: "cwd", or a register such as "r3"
	Path     string // the entry that the call creates, opens or removes
	Old      string // a rename's or link's other path, a symbolic link's text, the bytes of a write
	Flip     string // another thread keeps exchanging this path and Path; "": none
	Flags    uint64
	Mode     uint64
	Reg      int // the register for the descriptor that the call returns, or closes
}

// Registers is the number of registers for descriptors, which all threads share.
const Registers = 8

// String returns the text that [Parse] reads.
func (p Program) String() string {
	var b strings.Builder
	for _, t := range p.Threads {
		b.WriteString("thread")
		if t.Loop {
			b.WriteString(" loop=1")
		}
		if t.Repeat > 0 {
			fmt.Fprintf(&b, " repeat=%d", t.Repeat)
		}
		b.WriteString("\n")
		for _, c := range t.Calls {
			b.WriteString("  " + c.String() + "\n")
		}
	}
	return b.String()
}

// String returns the call's line without arguments that are zero.
func (c Call) String() string {
	var b strings.Builder
	b.WriteString(c.Name)
	for _, text := range []struct{ key, value string }{
		{"at", c.At}, {"path", c.Path}, {"flip", c.Flip}, {"from", c.From}, {"old", c.Old},
	} {
		if text.value != "" {
			b.WriteString(" " + text.key + "=" + strconv.Quote(text.value))
		}
	}
	if c.Flags != 0 {
		fmt.Fprintf(&b, " flags=%#x", c.Flags)
	}
	if c.Mode != 0 {
		fmt.Fprintf(&b, " mode=%#o", c.Mode)
	}
	if c.Reg != 0 {
		fmt.Fprintf(&b, " reg=%d", c.Reg)
	}
	return b.String()
}

// Parse reads the text of a program. It ignores empty lines and lines that begin with #.
func Parse(text string) (Program, error) {
	var p Program
	for number, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, fields, err := split(line)
		if err == nil && name == "thread" {
			err = p.addThread(fields)
		} else if err == nil {
			err = p.addCall(name, fields)
		}
		if err != nil {
			return Program{}, fmt.Errorf("line %d: %w", number+1, err)
		}
	}
	return p, nil
}

func (p *Program) addThread(fields map[string]string) error {
	t := Thread{Loop: fields["loop"] == "1"}
	if n, ok := fields["repeat"]; ok {
		var err error
		if t.Repeat, err = strconv.Atoi(n); err != nil {
			return err
		}
	}
	p.Threads = append(p.Threads, t)
	return nil
}

func (p *Program) addCall(name string, fields map[string]string) error {
	if len(p.Threads) == 0 {
		return fmt.Errorf("call %q before the first thread", name)
	}
	c := Call{Name: name, At: fields["at"], From: fields["from"], Path: fields["path"], Old: fields["old"], Flip: fields["flip"]}
	for key, to := range map[string]*uint64{"flags": &c.Flags, "mode": &c.Mode} {
		if text, ok := fields[key]; ok {
			n, err := strconv.ParseUint(text, 0, 64)
			if err != nil {
				return err
			}
			*to = n
		}
	}
	if text, ok := fields["reg"]; ok {
		n, err := strconv.ParseUint(text, 10, 8)
		if err != nil || n >= Registers {
			return fmt.Errorf("register %q; expected 0 to %d", text, Registers-1)
		}
		c.Reg = int(n)
	}
	last := &p.Threads[len(p.Threads)-1]
	last.Calls = append(last.Calls, c)
	return nil
}

// split returns the first word of a line and its fields of the form key=value or key="value".
func split(line string) (name string, fields map[string]string, err error) {
	name, rest, _ := strings.Cut(line, " ")
	fields = map[string]string{}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		key, value, ok := strings.Cut(rest, "=")
		if !ok {
			return "", nil, fmt.Errorf("field %q; expected key=value", rest)
		}
		if strings.HasPrefix(value, `"`) {
			quoted, err := strconv.QuotedPrefix(value)
			if err != nil {
				return "", nil, fmt.Errorf("field %s: %w", key, err)
			}
			rest = value[len(quoted):]
			if fields[key], err = strconv.Unquote(quoted); err != nil {
				return "", nil, fmt.Errorf("field %s: %w", key, err)
			}
			continue
		}
		fields[key], rest, _ = strings.Cut(value, " ")
	}
	return name, fields, nil
}
