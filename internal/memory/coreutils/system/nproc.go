package system

import (
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func nprocCommand() program.Description {
	return program.Description{
		Name: "nproc", Usage: "[OPTION]...",
		Summary: "print the number of processors, which is 1, or OMP_NUM_THREADS",
		Help: `      --all       the installed ones; the same
      --ignore=N  N less, but at least 1`,
		Run: runNproc,
	}
}

const (
	nprocAll = getopt.First + iota
	nprocIgnore
)

var nprocOptions = []getopt.Option{{Long: "all", ID: nprocAll}, {Long: "ignore", Arg: getopt.Required, ID: nprocIgnore}}

func runNproc(p *shell.Proc) int {
	o := program.NewOptions(p, nprocCommand, nprocOptions)
	all, ignore := false, uint64(0)
	for o.Next() {
		if o.ID == nprocAll {
			all = true
			continue
		}
		n, err := strconv.ParseUint(o.Value, 10, 63)
		if err != nil {
			o.RejectQuietly("invalid number: %s", quoting.Name(o.Value))
		}
		ignore = n
	}
	if o.HasEnded() {
		return o.Status
	}
	if args := o.Args(); len(args) > 0 {
		return program.UsageError(p, nprocCommand, 1, "extra operand %s", quoting.Name(args[0]))
	}
	count := uint64(1)
	if n, err := strconv.ParseUint(p.Getenv("OMP_NUM_THREADS"), 10, 31); err == nil && n > 0 && !all {
		count = n
	}
	if limit, err := strconv.ParseUint(p.Getenv("OMP_THREAD_LIMIT"), 10, 31); err == nil && limit > 0 && !all {
		count = min(count, limit)
	}
	if ignore >= count {
		ignore = count - 1
	}
	return program.PrintLine(p, strconv.FormatUint(count-ignore, 10))
}
