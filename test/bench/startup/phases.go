package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
)

const (
	trivial    = "a Go program that does nothing"
	version    = "`agent-sandbox --version`"
	dryRun     = "`agent-sandbox exec --dry-run -- true`"
	minimal    = "minimal bwrap"
	loaded     = "`bwrap --version`"
	unshare    = "bwrap, namespaces and a read-only /"
	base       = "the same, /dev, /proc and /run"
	planned    = "the same, the policy's mounts"
	earlier    = "`exec -- true` of the program before"
	earlierDry = "`exec --dry-run -- true` of the program before"
)

// nothing is the flag with which this program exits at once, to measure the start of a trivial Go program.
const nothing = "-nothing"

// minimalArgs is a short command line of bubblewrap, the base of the comparison.
func minimalArgs(bwrap string) []string {
	return []string{
		bwrap, "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",
		"/bin/true",
	}
}

// phases lists the parts of a start: the start of the program, its decisions, and bubblewrap with more and more of the
// arguments of full, which is the whole of raw.
func (s *stage) phases(full *contender) ([]*contender, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	self := filepath.Join(s.base, "bin", "startup")
	if err := copyProgram(exe, self); err != nil {
		return nil, err
	}
	bwrap := full.args[0]
	list := []*contender{
		{name: minimal, args: minimalArgs(bwrap)},
		{name: trivial, args: []string{self, nothing}},
		{name: version, args: []string{s.command, "--version"}, against: trivial},
		{name: dryRun, args: []string{s.command, "exec", "--dry-run", "--", "/bin/true"}, against: version},
		{name: loaded, args: []string{bwrap, "--version"}},
	}
	for _, part := range []struct {
		name string
		last []string // the arguments end before these words
	}{
		{unshare, []string{"--dev", "/dev"}},
		{base, []string{"--perms", "1777", "--tmpfs", "/tmp"}},
		{planned, []string{"--dir", layout.Root}},
	} {
		end := indexOf(full.args, part.last)
		if end < 0 {
			return nil, fmt.Errorf("the dry run has no %q: %q", part.last, full.args)
		}
		args := append(slices.Clone(full.args[:end]), "/bin/true")
		list = append(list, &contender{name: part.name, args: args, prepare: full.prepare})
	}
	return list, nil
}

// indexOf returns the index of words as a sequence in args; -1: args lacks them.
func indexOf(args, words []string) int {
	for i := range args {
		if len(args)-i >= len(words) && slices.Equal(args[i:i+len(words)], words) {
			return i
		}
	}
	return -1
}

// phaseTable returns a table of the parts of a start, by differences within a round.
func phaseTable(cases []*contender) string {
	var b bytes.Buffer
	b.WriteString("Where the time of `agent-sandbox exec -- true` goes, by the median of the differences within a round:\n\n")
	b.WriteString("| what | milliseconds |\n|---|---|\n")
	for _, p := range []struct{ what, name, than string }{
		{"start of a trivial Go program", trivial, ""},
		{"start of ours beyond that", version, trivial},
		{"flags, policy, plan, bubblewrap's options", dryRun, version},
		{"bubblewrap: loading it", loaded, ""},
		{"bubblewrap: namespaces, a read-only /, the command and their end", unshare, loaded},
		{"bubblewrap: /dev, /proc, /run", base, unshare},
		{"bubblewrap: the policy's mounts", planned, base},
		{"bubblewrap: the guest, wrappers, seccomp", raw, planned},
	} {
		took := more(cases, p.name, p.than)
		fmt.Fprintf(&b, "| %s | %s |\n", p.what, ms(took))
	}
	rest := func(round int) time.Duration {
		return find(cases, inside).took[round] - find(cases, dryRun).took[round] - find(cases, raw).took[round]
	}
	var left []time.Duration
	for round := range find(cases, inside).took {
		left = append(left, rest(round))
	}
	slices.Sort(left)
	fmt.Fprintf(&b, "| the guard, limits, status, the end of ours | %s |\n", ms(at(left, 0.5)))
	return b.String()
}

// workTable compares measurements that hardly depend on the machine's load, for the cases with these names.
func workTable(cases []*contender, names []string) string {
	var b bytes.Buffer
	b.WriteString("| what | processor time, ms | switches of context |\n|---|---|---|\n")
	for _, name := range names {
		c := find(cases, name)
		fmt.Fprintf(&b, "| %s | %s | %d |\n", name, ms(median(c.cpu)), median(c.switches))
	}
	return b.String()
}

func median[T int64 | time.Duration](values []T) T {
	return at(slices.Sorted(slices.Values(values)), 0.5)
}

// work records the resources of an ended process and of its awaited children.
func (c *contender) work(cmd *exec.Cmd) {
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return
	}
	c.cpu = append(c.cpu, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	c.switches = append(c.switches, usage.Nvcsw+usage.Nivcsw)
}

// reportPhases measures and prints the parts of a start for one user. With another agent-sandbox it compares the two; "":
// none.
func (s *stage) reportPhases(ctx context.Context, rounds int, before string) error {
	full, err := s.raw(ctx)
	if err != nil {
		return err
	}
	parts, err := s.phases(full)
	if err != nil {
		return err
	}
	full.against = minimal
	cases := append(parts, full, &contender{name: inside, args: []string{s.command, "exec", "--", "/bin/true"}, against: minimal})
	names := []string{minimal, version, dryRun, inside}
	if before != "" {
		old := filepath.Join(s.base, "bin", "before", "agent-sandbox")
		if err := errors.Join(os.MkdirAll(filepath.Dir(old), 0o755), copyProgram(before, old)); err != nil {
			return err
		}
		cases = append(cases,
			&contender{name: earlier, args: []string{old, "exec", "--", "/bin/true"}, against: minimal},
			&contender{name: earlierDry, args: []string{old, "exec", "--dry-run", "--", "/bin/true"}, against: version},
		)
		names = append(names, earlier, earlierDry)
	}
	if err := measure(ctx, s, cases, rounds); err != nil {
		return err
	}
	fmt.Printf("Parts of a start, as %s, %d rounds, milliseconds:\n\n%s\n%s\n%s\n", s.who(), rounds, table(cases), phaseTable(cases), workTable(cases, names))
	return nil
}
