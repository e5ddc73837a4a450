// Package history stores the commands that a shell has read.
package history

import (
	"slices"
	"strings"
)

// MaxLen bounds the number of entries.
const MaxLen = 10_000

// List holds the commands, the oldest first. A copy of a List may be changed apart from it. The zero value is empty.
type List struct {
	entries []string
	running bool // the last entry is the command that runs
}

// Len returns the number of entries.
func (l *List) Len() int { return len(l.entries) }

// Entries returns all entries; they must not be changed.
func (l *List) Entries() []string { return l.entries }

// Finished returns the entries without the running command; they must not be changed.
func (l *List) Finished() []string {
	if l.running {
		return l.entries[:len(l.entries)-1]
	}
	return l.entries
}

// Clear removes all entries.
func (l *List) Clear() { l.entries = nil }

// Delete removes the entry with the number n, counted from 1.
func (l *List) Delete(n int) {
	l.entries = append(append([]string(nil), l.entries[:n-1]...), l.entries[n:]...)
}

// Append adds lines at the end.
func (l *List) Append(lines ...string) { l.entries = append(slices.Clip(l.entries), lines...) }

// Add enters the running command. It removes equal entries first if erase is set, and the oldest beyond limit.
func (l *List) Add(line string, erase bool, limit int) {
	list := slices.Clip(l.entries)
	if erase {
		list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == line })
	}
	if list = append(list, line); len(list) > limit {
		list = list[len(list)-limit:]
	}
	l.entries, l.running = list, true
}

// Last returns the newest entry, "" when there is none.
func (l *List) Last() string {
	if n := len(l.entries); n > 0 {
		return l.entries[n-1]
	}
	return ""
}

// Leave notes that the last entry is a command that has ended.
func (l *List) Leave() { l.running = false }

// DropRunning removes the running command.
func (l *List) DropRunning() {
	if n := len(l.entries); l.running && n > 0 {
		l.entries = l.entries[: n-1 : n-1]
	}
	l.running = false
}

// JoinLines makes one line of a command of several, unless a here-document or quotes need the lines.
func JoinLines(s string) string {
	if strings.IndexByte(s, '\n') < 0 || strings.Contains(s, "<<") || strings.ContainsAny(s, "'\"") {
		return s
	}
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(line)
		before := strings.TrimRight(b.String(), " ")
		switch word := before[strings.LastIndexAny(before, " ;")+1:]; {
		case line == "":
			continue
		case before == "":
		case word == "do", word == "then", word == "else", word == "{", word == "in", word == "elif",
			strings.HasSuffix(before, ";"), strings.HasSuffix(before, "&"), strings.HasSuffix(before, "|"), strings.HasSuffix(before, "("):
			b.WriteByte(' ') // bounded: by twice the text
		default:
			b.WriteString("; ") // bounded: by twice the text
		}
		b.WriteString(line) // bounded: by twice the text
	}
	return b.String()
}
