package hook_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/seed434b0696/agent-sandbox/agent/message"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/interpreter"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/programs"
)

// TestMain makes this binary a worker when an engine starts it as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "hook-worker" {
		if err := interpreter.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// workerProgram is the program of the workers: this binary, unless it is built with the race detector, which needs
// more memory than a worker has.
var workerProgram []string

func run(m *testing.M) (code int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	workerProgram = []string{self, "hook-worker"}
	if racing {
		program, err := programs.Path(context.Background(), programs.Hooks)
		if err != nil {
			return 0, err
		}
		workerProgram = []string{program}
	}
	return m.Run(), nil
}

// inProcess returns the options of an engine that runs scripts in this process.
func inProcess() hook.Options { return hook.Options{Interpreter: &interpreter.Interpreter{}} }

// inWorkers returns the options of an engine with workers.
func inWorkers(tb testing.TB, l hook.Limits) *hook.Engine {
	tb.Helper()
	return newEngine(tb, hook.Options{Worker: workerProgram, Limits: l})
}

// newEngine returns an engine. Without a time limit in the options it gets the default one, scaled for this machine.
func newEngine(tb testing.TB, o hook.Options) *hook.Engine {
	tb.Helper()
	if o.Limits.Time == 0 {
		o.Limits.Time = deadline.Scale(10 * time.Second)
	}
	e, err := hook.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// compile compiles one file.
func compile(tb testing.TB, e *hook.Engine, name, text string) *hook.Script {
	tb.Helper()
	s, err := e.Compile(tb.Context(), fstest.MapFS{name: {Data: []byte(text)}}, name)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// next runs a body as a Next hook and returns its data.
func next(tb testing.TB, e *hook.Engine, r *hook.Request, body string) (string, error) {
	tb.Helper()
	s := compile(tb, e, "src/index.ts", "function Next(ctx: any, payload: any, options: any): any {\n"+body+"\n}\n")
	out, err := s.Next(tb.Context(), r, hook.Payload{Messages: []message.Message{message.New(message.User, "hello")}})
	if err != nil {
		return "", err
	}
	return string(out.Data), nil
}
