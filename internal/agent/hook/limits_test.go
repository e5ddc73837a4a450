package hook_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook"
	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/interpreter"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// hostile are hooks that do not end, or end badly. Those that run in many steps are also
// interrupted in this process.
var hostile = []struct {
	name, body string
	code       sandbox.Code
	text       string // in the error
}{
	{"a loop without end", "for (let i = 0; ; i++) { i = i % 7 }", sandbox.Timeout, "longer than"},
	{"a loop whose finally returns", "try { while (true) { Math.abs(1) } } finally { return 1 }", sandbox.Timeout, "longer than"},
	{"a loop that catches everything", "for (;;) { try { while (true) {} } catch (e) {} }", sandbox.Timeout, "longer than"},
	{"promises that go on without end", "(async () => { for (;;) await 0 })(); return 1", sandbox.Timeout, "longer than"},
	{"a getter that loops", "return {get data() { while (true) {} }}", sandbox.Timeout, "longer than"},
	{"a toJSON that loops", "return {toJSON() { while (true) {} }}", sandbox.Timeout, "longer than"},
	{"a toString that loops", "ctx.Send({type: {toString() { while (true) {} }, toJSON() { while (true) {} }}})", sandbox.Timeout, "longer than"},
	{"an error whose message loops", "throw {get message() { while (true) {} }}", sandbox.Timeout, "longer than"},
	{"a proxy that loops", "return new Proxy({}, {ownKeys() { while (true) {} }})", sandbox.Timeout, "longer than"},
	{"a comparison that loops", "[3, 2, 1].sort(() => { while (true) {} })", sandbox.Timeout, "longer than"},
	{"recursion without end", "const f = () => f(); f()", sandbox.Exhausted, "nests more than 1000 calls (src/index.ts:2:"},
	{"recursion that is caught", "const f = () => { try { f() } catch { f() } }; f()", sandbox.Exhausted, "nests more than"},
	{"recursion through a function of the language", "const f = () => [1].forEach(f); f()", sandbox.Exhausted, "nests more than"},
	{"a promise that nothing settles", "return new Promise(() => {})", sandbox.Invalid, "a promise that nothing settles"},
	{"an error", "throw new Error('no ' + 1)", sandbox.Denied, "no 1 (src/index.ts:2:7)"},
	{"an error of the engine", "const a = {} as any\nreturn a.b.c", sandbox.Denied, "TypeError: Cannot read property 'c' of undefined (src/index.ts:3:"},
	{"an error in a promise", "return (async () => { await 1; throw new RangeError('late') })()", sandbox.Denied, "RangeError: late (src/index.ts:2:"},
	{"an error in a function that was imported nowhere", "missing()", sandbox.Denied, "ReferenceError: missing is not defined"},
	{"a text that is thrown", "throw 'just text'", sandbox.Denied, "just text (src/index.ts:2:"},
	{"null that is thrown", "throw null", sandbox.Denied, "null"},
	{"undefined that is thrown", "throw undefined", sandbox.Denied, "undefined"},
	{"an object that is thrown", "throw {status: 4}", sandbox.Denied, `{"status":4}`},
	{"a symbol that is thrown", "throw Symbol('x')", sandbox.Denied, "cannot be read"},
	{"an error whose message throws", "throw {get message() { throw 1 }}", sandbox.Denied, "cannot be read"},
	{"an error with a huge message", "throw new Error('x'.repeat(1e6))", sandbox.Denied, "xxx... (src/index.ts"},
	{"a getter that throws", "return {get data() { throw new Error('got') }}", sandbox.Invalid, "not JSON: got"},
	{"a circle", "const a: any = {}; a.a = a; return a", sandbox.Invalid, "not JSON"},
	{"a BigInt", "return {data: 10n}", sandbox.Invalid, "not JSON"},
	{"too much that is returned", "return {data: 'x'.repeat(34e6)}", sandbox.Invalid, "returned too much"},
	{"data that nests too deeply for us", "let d: any = []; for (let i = 0; i < 20000; i++) d = [d]; return {data: d}", sandbox.Invalid, ""},
}

// bombs are single steps, which only the end of the process can stop.
var bombs = []struct {
	name, body string
	code       sandbox.Code
}{
	{"a text of a gigabyte", "return 'x'.repeat(1e9).length", sandbox.Exhausted},
	{"a text that doubles", "let s = 'xx'; for (;;) s += s", sandbox.Exhausted},
	{"texts that pile up", "const a = []; for (;;) a.push('x'.repeat(10000) + a.length)", sandbox.Exhausted},
	{"a million proxies", "let p: any = {}; for (let i = 0; i < 1e6; i++) p = new Proxy(p, {}); return p.x", sandbox.Exhausted},
	{"arguments without end", "return Math.max.apply(null, {length: 4294967295} as any)", sandbox.Exhausted},
	{"a buffer of ten gigabytes", "return new ArrayBuffer(1e10)", sandbox.Exhausted},
	{"an array that is filled", "return new Array(1e9).fill(1).length", ""},
	{"an array from an object with a length", "return Array.from({length: 1e9})", ""},
	{"a replacement that multiplies", "return 'x'.repeat(1e6).replaceAll('x', 'y'.repeat(1e6)).length", ""},
	{"an array that is joined", "return Array(1e5).fill('x'.repeat(1e5)).join().length", ""},
	{"a regular expression that backtracks", `return /(a+)+b\1/.test('a'.repeat(60))`, sandbox.Timeout},
	{"JSON that nests a million times", "return JSON.parse('['.repeat(5e6))", sandbox.Exhausted},
	{"code that nests a million times", "return eval('('.repeat(3e6))", sandbox.Exhausted},
}

func Test_A_Hostile_Hook_Ends_With_A_Clear_Error(t *testing.T) {
	t.Parallel()
	hasty := hook.Limits{Time: deadline.Scale(300 * time.Millisecond)}
	patient := hook.Limits{Time: time.Minute}
	for place, e := range map[string][2]*hook.Engine{
		"in this process": {newEngine(t, hook.Options{Interpreter: &interpreter.Interpreter{}, Limits: hasty}), newEngine(t, hook.Options{Interpreter: &interpreter.Interpreter{}, Limits: patient})},
		"in a worker":     {inWorkers(t, hasty), inWorkers(t, patient)},
	} {
		for _, c := range hostile {
			t.Run(place+": "+c.name, func(t *testing.T) {
				t.Parallel()
				with := e[1]
				if c.code == sandbox.Timeout {
					with = e[0]
				}
				got, err := next(t, with, &hook.Request{}, c.body)
				checkFailure(t, got, err, c.code, c.text)
			})
		}
	}
}

func Test_A_Bomb_Ends_Only_Its_Own_Worker(t *testing.T) {
	t.Parallel()
	hasty := inWorkers(t, hook.Limits{Time: deadline.Scale(300 * time.Millisecond), Memory: 64 << 20})
	patient := inWorkers(t, hook.Limits{Time: time.Minute, Memory: 64 << 20})
	for _, c := range bombs {
		t.Run(c.name, func(t *testing.T) {
			e := hasty
			if c.code == sandbox.Exhausted {
				e = patient
			}
			got, err := next(t, e, &hook.Request{}, c.body)
			checkFailure(t, got, err, c.code, "")
			if code := sandbox.CodeOf(err); code != sandbox.Timeout && code != sandbox.Exhausted {
				t.Errorf("the code is %s: %v", code, err)
			}
			if got, err := next(t, e, &hook.Request{}, "return {data: 1}"); got != "1" || err != nil {
				t.Errorf("the next hook got %s, %v", got, err)
			}
		})
	}
}

func checkFailure(t *testing.T, got string, err error, code sandbox.Code, text string) {
	t.Helper()
	if err == nil {
		t.Fatalf("it returned %.100s", got)
	}
	if c := sandbox.CodeOf(err); code != "" && c != code {
		t.Errorf("the code is %s, want %s: %v", c, code, err)
	}
	if !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 5000 {
		t.Errorf("%.300q has no %q", err, text)
	}
}

func Test_A_Thrown_Error_Has_A_Message_And_A_Stack(t *testing.T) {
	t.Parallel()
	for place, e := range engines(t) {
		s := compile(t, e, "src/index.ts", "interface X { a: number }\nclass Refused extends Error {\n  name = 'Refused'\n}\nfunction check(x: X) {\n  if (x.a > 0) throw new Refused('too much')\n}\nexport function Create() {\n  check({ a: 1 })\n}\n")
		_, err := s.Create(t.Context(), &hook.Request{}, nil)
		thrown, ok := errors.AsType[*hook.Thrown](err)
		if !ok {
			t.Fatalf("%s: no Thrown in %v", place, err)
		}
		if thrown.Name != "Refused" || thrown.Message != "too much" || thrown.File != "src/index.ts" || thrown.Line != 6 {
			t.Errorf("%s: got %+v %q", place, thrown, thrown.Stack)
		}
		if len(thrown.Stack) < 2 || !strings.HasPrefix(thrown.Stack[len(thrown.Stack)-1], "Create (src/index.ts:9:") {
			t.Errorf("%s: the stack is %q", place, thrown.Stack)
		}
	}
}

// engines has one engine of each kind.
func engines(tb testing.TB) map[string]*hook.Engine {
	tb.Helper()
	return map[string]*hook.Engine{"in this process": newEngine(tb, inProcess()), "in a worker": inWorkers(tb, hook.Limits{})}
}

func Test_A_Context_That_Ends_Ends_The_Hook(t *testing.T) {
	t.Parallel()
	for place, e := range engines(t) {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			s := compile(t, e, "index.js", "function Create(ctx) { ctx.Send('go'); while (true) {} }")
			ctx, cancel := context.WithCancel(t.Context())
			r := &hook.Request{Send: func(context.Context, hook.Message) error { cancel(); return nil }}
			_, err := s.Create(ctx, r, nil)
			checkFailure(t, "", err, sandbox.Canceled, "")
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v is not context.Canceled", err)
			}
		})
	}
}

func Test_Waiting_Has_Its_Own_Time_Limit(t *testing.T) {
	t.Parallel()
	own := deadline.Scale(200 * time.Millisecond)
	slow := func(ctx context.Context, _ hook.Message) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * own):
			return nil
		}
	}
	for _, c := range []struct {
		name  string
		wait  time.Duration
		thing sandbox.Code
	}{
		{"what it waits is not its own time", 0, ""},
		{"what it waits together is bounded", 20 * time.Millisecond, sandbox.Denied},
	} {
		for place, o := range map[string]hook.Options{"in this process": inProcess(), "in a worker": {Worker: workerProgram}} {
			t.Run(place+": "+c.name, func(t *testing.T) {
				t.Parallel()
				o.Limits = hook.Limits{Time: own, Wait: c.wait}
				_, err := next(t, newEngine(t, o), &hook.Request{Send: slow}, "ctx.Send('a'); return {data: 1}")
				if sandbox.CodeOf(err) != c.thing {
					t.Errorf("got %v, want code %q", err, c.thing)
				}
			})
		}
	}
}

func Test_Calls_Of_The_Host_Are_Counted(t *testing.T) {
	t.Parallel()
	e := newEngine(t, hook.Options{Interpreter: &interpreter.Interpreter{}, Limits: hook.Limits{Calls: 5}})
	_, err := next(t, e, &hook.Request{}, "for (;;) log.Info('x')")
	checkFailure(t, "", err, sandbox.Denied, "called the host too often")
}

func Test_Requests_Share_No_State(t *testing.T) {
	t.Parallel()
	const body = `
const g = globalThis as any
const before = [typeof g.left, typeof Array.prototype['left'], typeof Symbol.for('s')['left'], typeof log['left'], JSON.stringify({a: 1}), typeof top, count++]
g.left = ctx.authorized.user_id; Array.prototype['left'] = 1; Object.prototype['x'] = 1; log['left'] = 1; JSON.stringify = () => 'stolen'; (Error as any) = null
delete (g as any).Promise
return {data: before}`
	for place, e := range engines(t) {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			s := compile(t, e, "src/index.ts", "let count = 0; export function Next(ctx: any) {"+body+"}")
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for range 5 {
						out, err := s.Next(t.Context(), &hook.Request{User: "alice"}, hook.Payload{})
						if err != nil || string(out.Data) != `["undefined","undefined","undefined","undefined","{\"a\":1}","undefined",0]` {
							t.Errorf("got %+v, %v", out, err)
						}
					}
				})
			}
			all.Wait()
		})
	}
}

func Test_A_Worker_Has_No_Environment_And_A_Fixed_Zone(t *testing.T) {
	t.Parallel()
	e := inWorkers(t, hook.Limits{})
	if got, err := next(t, e, &hook.Request{}, "return {data: [new Date(0).getTimezoneOffset(), new Date(0).toString()]}"); err != nil || !strings.HasPrefix(got, `[0,"Thu Jan 01 1970 00:00:00 GMT+0000`) {
		t.Errorf("got %s, %v", got, err)
	}
}

func Test_A_Program_That_Is_Not_A_Worker_Is_Reported(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		command []string
		code    sandbox.Code
	}{
		{"none such", []string{"/nonexistent/worker"}, sandbox.Unavailable},
		{"one that ends", []string{"true"}, sandbox.Internal},
		{"one that says something else", []string{"echo", "hello, this is no worker"}, sandbox.Internal},
		{"one that repeats its input", []string{"cat"}, sandbox.Internal},
		{"one that says nothing", []string{"sleep", "1000"}, sandbox.Timeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, hook.Options{Worker: c.command, Limits: hook.Limits{Time: 10 * time.Millisecond}})
			_, err := e.Compile(t.Context(), fstest.MapFS{"a.js": {Data: []byte("1")}}, "a.js")
			if sandbox.CodeOf(err) != c.code {
				t.Errorf("got %v, want code %s", err, c.code)
			}
		})
	}
}

func Test_A_Closed_Engine_Refuses_Runs(t *testing.T) {
	t.Parallel()
	e := inWorkers(t, hook.Limits{})
	s := compile(t, e, "a.js", "function Create(ctx) { ctx.Send('x'); for (;;) ; }")
	started, ended := make(chan struct{}), make(chan error)
	go func() {
		_, err := s.Create(t.Context(), &hook.Request{Send: func(context.Context, hook.Message) error { close(started); return nil }}, nil)
		ended <- err
	}()
	<-started
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	checkFailure(t, "", <-ended, sandbox.Closed, "")
	_, err := s.Create(t.Context(), &hook.Request{}, nil)
	checkFailure(t, "", err, sandbox.Closed, "")
}

func Test_A_Limit_That_Cannot_Be_Enforced_Is_Refused(t *testing.T) {
	t.Parallel()
	_, err := hook.New(hook.Options{Interpreter: &interpreter.Interpreter{}, Limits: hook.Limits{Memory: 1}})
	checkFailure(t, "", err, sandbox.Unsupported, "only in workers")
}
