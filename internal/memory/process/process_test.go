package process_test

import (
	"context"
	"errors"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/memory/process"
	"github.com/seed434b0696/agent-sandbox/internal/memory/signal"
)

func newTable(limit int) *process.Table {
	return process.NewTable(limit, 99, func() int64 { return 7 })
}

func start(t *testing.T, table *process.Table, parent *process.Process) *process.Process {
	t.Helper()
	p, err := table.Start(t.Context(), parent)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func Test_A_Child_Has_The_Group_Of_Its_Parent(t *testing.T) {
	t.Parallel()
	table := newTable(10)
	first := start(t, table, nil)
	first.SetName("shell")
	first.Ignored.Store(1 << signal.INT)
	child := start(t, table, first)
	if child.PID != 101 || child.PPID != 100 || child.PGID != 100 || child.Began != 7 || child.Ignored.Load() != 1<<signal.INT {
		t.Errorf("%+v", table.About(child))
	}
	if list := table.List(); len(list) != 2 || list[1] != (process.Info{PID: 101, PPID: 100, PGID: 100, Command: "shell"}) {
		t.Errorf("%+v", list)
	}
	child.End(3)
	<-child.Done
	if table.Find(101) != nil || child.Status != 3 || !table.IsIdle() {
		t.Error("it is still there")
	}
	if _, _, last := table.Load(); last != 101 {
		t.Errorf("the last number is %d", last)
	}
}

func Test_A_Full_Table_Takes_No_Process(t *testing.T) {
	t.Parallel()
	table := newTable(2)
	first := start(t, table, nil)
	if err := table.Enter(); err != nil {
		t.Fatal(err)
	}
	_, err := table.Start(t.Context(), first)
	if again := table.Enter(); !errors.Is(err, syscall.EAGAIN) || !errors.Is(again, syscall.EAGAIN) {
		t.Errorf("%v, %v", err, again)
	}
	table.Leave()
	start(t, table, first)
}

func Test_Signals_End_Stop_Or_Wait(t *testing.T) {
	t.Parallel()
	table := newTable(10)
	first := start(t, table, nil)
	for _, row := range []struct {
		name             string
		signal           int
		handled, ignored uint64
		ends, stops      bool
	}{
		{name: "the default ends", signal: signal.TERM, ends: true},
		{name: "an ignored one does nothing", signal: signal.TERM, ignored: 1 << signal.TERM},
		{name: "a trap takes it", signal: signal.TERM, handled: 1 << signal.TERM},
		{name: "KILL cannot be ignored", signal: signal.KILL, ignored: 1 << signal.KILL, ends: true},
		{name: "STOP stops", signal: signal.STOP, stops: true},
		{name: "TSTP stops", signal: signal.TSTP, stops: true},
		{name: "WINCH does nothing", signal: signal.WINCH},
		{name: "CHLD does nothing", signal: signal.CHLD},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := start(t, table, first)
			defer p.End(0)
			p.Handled.Store(row.handled)
			p.Ignored.Store(row.ignored)
			p.Send(row.signal)
			if ended := p.Ctx.Err() != nil; ended != row.ends || p.IsStopped() != row.stops {
				t.Errorf("ended %v, stopped %v", ended, p.IsStopped())
			}
			if row.ends && int(process.KillSignal(context.Cause(p.Ctx))) != row.signal {
				t.Errorf("the cause is %v", context.Cause(p.Ctx))
			}
			if row.handled != 0 && (p.Pending.Load() != row.handled || !p.Attention.Load()) {
				t.Error("the owner does not see it")
			}
			p.Send(signal.CONT)
			if p.IsStopped() {
				t.Error("CONT left it stopped")
			}
		})
	}
}

func Test_Kill_Reaches_Groups_And_All(t *testing.T) {
	t.Parallel()
	table := newTable(10)
	first := start(t, table, nil)
	a, b := start(t, table, first), start(t, table, first)
	if table.Kill(first, 4711, signal.TERM) {
		t.Error("a process that does not exist got a signal")
	}
	if !table.Kill(first, -1, signal.KILL) || a.Ctx.Err() == nil || b.Ctx.Err() == nil || first.Ctx.Err() != nil {
		t.Error("-1 is all others")
	}
	if !table.IsDying(first) {
		t.Error("the others are to end")
	}
	if _, err := table.Start(t.Context(), a); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("a killed process made another: %v", err)
	}
	if !table.Kill(first, 0, signal.TERM) || first.Ctx.Err() == nil {
		t.Error("0 is the own group")
	}
}

func Test_A_Parent_Hears_Of_Children(t *testing.T) {
	t.Parallel()
	table := newTable(10)
	shell := start(t, table, nil)
	shell.Handled.Store(1 << signal.CHLD)
	changes := table.Changes()
	p := start(t, table, shell)
	p.Parent = shell
	p.End(0)
	<-changes
	if shell.Children.Load() != 1 || shell.Pending.Load() != 1<<signal.CHLD || !shell.Attention.Load() {
		t.Errorf("%d children, pending %b", shell.Children.Load(), shell.Pending.Load())
	}
}
