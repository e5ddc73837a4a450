package system

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/accounts"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func getentCommand() program.Description {
	return program.Description{
		TryHelp: "Try `%[1]s --help' or `%[1]s --usage' for more information.\n",
		Name:    "getent", Usage: "[OPTION...] database [key ...]", Summary: "print entries of the databases passwd, group and hosts",
		Help: "Each key is a name, or a number of passwd and group. Without keys all entries are printed.\n\nExit status: 1 for a database that is not here, 2 when a key is not found.",
		Run:  runGetent,
	}
}

func runGetent(p *shell.Proc) int {
	o := program.NewOptions(p, getentCommand, nil)
	o.Wrong = 64
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	args := o.Args()
	if len(args) == 0 {
		p.Warn("wrong number of arguments")
		return max(1, program.PrintLine(p, getentHint))
	}
	var entries []dbEntry
	switch args[0] {
	case "passwd", "group":
		entries = readDatabase(p, "/etc/"+args[0], accountEntry)
	case "hosts", "ahosts":
		entries = readDatabase(p, "/etc/hosts", hostEntry)
	default:
		_, _ = io.WriteString(p.Stderr, "Unknown database: "+args[0]+"\n") // No other stream can report it.
		return max(1, program.PrintLine(p, getentHint))
	}
	out := program.NewOutput(p)
	if len(args) == 1 {
		for _, e := range entries {
			program.WriteText(out, e.line+"\n")
		}
		return out.Close(0)
	}
	status := 0
	for _, key := range args[1:] {
		i := slices.IndexFunc(entries, func(e dbEntry) bool { return slices.Contains(e.keys, key) })
		if i < 0 {
			status = 2
			continue
		}
		program.WriteText(out, entries[i].line+"\n")
	}
	return out.Close(status)
}

// getentHint is the help that getent prints on standard output.
const getentHint = "Try `getent --help' or `getent --usage' for more information."

// dbEntry is an entry with its keys.
type dbEntry struct {
	line string
	keys []string
}

// entryMemory is about how many bytes an entry takes beside its line, in a list that grows.
const entryMemory = 256

// readDatabase reads a file; one that is not there is empty.
func readDatabase(p *shell.Proc, path string, parse func(line string) (dbEntry, bool)) []dbEntry {
	f, err := p.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var list []dbEntry
	lines := bufio.NewScanner(io.LimitReader(f, accounts.MaxFile))
	for lines.Scan() {
		if e, ok := parse(lines.Text()); ok {
			if p.Reserve(entryMemory) != nil {
				break
			}
			list = append(list, e)
		}
	}
	return list
}

func accountEntry(line string) (dbEntry, bool) {
	fields := strings.Split(line, ":") // bounded: by a line of 64 KiB
	if len(fields) < 4 || strings.HasPrefix(line, "#") {
		return dbEntry{}, false
	}
	return dbEntry{line: line, keys: []string{fields[0], fields[2]}}, true
}

func hostEntry(line string) (dbEntry, bool) {
	line, _, _ = strings.Cut(line, "#")
	fields := strings.Fields(line) // bounded: by a line of 64 KiB
	if len(fields) < 2 {
		return dbEntry{}, false
	}
	return dbEntry{line: fmt.Sprintf("%-15s %s", fields[0], strings.Join(fields[1:], " ")), keys: fields}, true
}
