package system

import (
	"math"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func sleepCommand() program.Description {
	return program.Description{
		Name: "sleep", Usage: "NUMBER[SUFFIX]...\nOPTION",
		Summary: "wait as long as the NUMBERs say together: seconds, or s, m, h, d",
		Run:     runSleep,
	}
}

func runSleep(p *shell.Proc) int {
	o := program.NewOptions(p, sleepCommand, nil)
	for o.Next() {
		continue
	}
	if o.HasEnded() {
		return o.Status
	}
	if len(o.Args()) == 0 {
		return program.UsageError(p, sleepCommand, 1, "missing operand")
	}
	var sum time.Duration
	wrong := false
	for _, a := range o.Args() {
		d, ok := program.ParseInterval(a)
		if !ok {
			p.Warn("invalid time interval %s", quoting.Name(a))
			wrong = true
		}
		if sum += d; sum < 0 {
			sum = math.MaxInt64
		}
	}
	if wrong {
		program.TryHelp(p, sleepCommand())
		return 1
	}
	return program.WaitFor(p, sum)
}
