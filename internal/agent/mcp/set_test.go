package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// open opens servers and closes them at the end of the test.
func open(t *testing.T, servers ...tool.Server) *mcp.Set {
	t.Helper()
	set, err := mcp.Open(t.Context(), servers, mcp.Options{Env: env(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	return set
}

// env is an environment of the host with a secret, and a directory for temporary files of the test's own.
func env(t *testing.T) []string {
	t.Helper()
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/home/somebody", "TMPDIR=" + t.TempDir(), "SECRET_KEY=sk-canary", "NAMED=from-the-host"}
}

func call(t *testing.T, set tool.Set, name, args string) tool.Result {
	t.Helper()
	r, err := set.Call(t.Context(), name, json.RawMessage(args))
	if err != nil {
		t.Fatal(name, err)
	}
	return r
}

func Test_Servers_Offer_Their_Tools_Under_Their_Names(t *testing.T) {
	t.Parallel()
	set := open(t, tool.Server{ID: "one", Command: server("plain"), Tools: []string{"fail", "echo"}}, tool.Server{ID: "two", Command: server("old")})
	list, err := set.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list {
		names = append(names, tool.Name)
	}
	if want := []string{"one__fail", "one__echo", "two__use"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if list[1].Description != "does echo" || string(list[1].Schema) != `{"type":"object"}` {
		t.Errorf("%+v %s", list[1], list[1].Schema)
	}
	if r := call(t, set, "one__echo", `{"t": "hey <b>"}`); r.Failed || r.Text() != `{"t":"hey <b>"}` {
		t.Errorf("%+v", r)
	}
	if r := call(t, set, "two__use", ""); r.Text() != "old" {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"one__die", "echo", "one__", "three__echo", ""} {
		if _, err := set.Call(t.Context(), name, nil); sandbox.CodeOf(err) != sandbox.NotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func Test_A_Tools_Answer_Is_A_Result(t *testing.T) {
	t.Parallel()
	set := open(t, tool.Server{ID: "s", Command: server("talkative")})
	for _, row := range []struct {
		name, text string
		failed     bool
	}{
		{"fail", "it went wrong", true},
		{"refuse", "arguments; refused", true},
		{"image", "[image]", false},
		{"structured", `{"a":"<b>"}`, false},
	} {
		if r := call(t, set, "s__"+row.name, "{}"); r.Text() != row.text || r.Failed != row.failed {
			t.Errorf("%s: %s %v", row.name, r.Content, r.Failed)
		}
	}
	if r := call(t, set, "s__image", "{}"); string(r.Content) != `[{"type":"image","mimeType":"image/png","data":"AQI="}]` {
		t.Errorf("%s", r.Content)
	}
	if _, err := set.Call(t.Context(), "s__echo", json.RawMessage(`{"a`)); sandbox.CodeOf(err) != sandbox.Invalid {
		t.Error(err)
	}
}

func Test_A_Server_Gets_Only_The_Environment_It_Was_Given(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set := open(t,
		tool.Server{ID: "own", Command: server("plain"), Env: map[string]string{"MINE": "$ENV.NAMED", "PLAIN": "$HOME"}},
		tool.Server{ID: "placed", Command: server("plain"), Dir: dir})
	text := call(t, set, "own__environment", "{}").Text()
	for _, want := range []string{"\nMINE=from-the-host", "\nPLAIN=$HOME", "\nHOME=/home/somebody", "\nPATH="} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	for _, no := range []string{"sk-canary", "SECRET_KEY", "NAMED="} {
		if strings.Contains(text, no) {
			t.Errorf("%q is in %s", no, text)
		}
	}
	if placed := call(t, set, "placed__environment", "{}").Text(); !strings.Contains(placed, "\ndir "+dir+"\n") {
		t.Error(placed)
	}
	own := strings.TrimPrefix(strings.Split(text, "\n")[1], "dir ")
	if _, err := os.Stat(own); err != nil || own == dir {
		t.Errorf("%s: %v", own, err)
	}
	set.Close()
	if _, err := os.Stat(own); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory is left: %v", err)
	}
}

func Test_Without_An_Environment_A_Server_Has_None(t *testing.T) {
	t.Parallel()
	set, err := mcp.Open(t.Context(), []tool.Server{{ID: "s", Command: server("plain"), Dir: t.TempDir()}}, mcp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	if lines := strings.Split(strings.TrimSpace(call(t, set, "s__environment", "{}").Text()), "\n"); len(lines) != 2 {
		t.Errorf("%q", lines)
	}
}

func Test_A_Failed_Opening_Gives_The_Reason(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		server  tool.Server
		code    sandbox.Code
		message string
	}{
		{"no ID", tool.Server{Command: server("plain")}, sandbox.Invalid, "cannot be the ID"},
		{"an odd ID", tool.Server{ID: "a b", Command: server("plain")}, sandbox.Invalid, `"a b" cannot be the ID`},
		{"neither command nor url", tool.Server{ID: "s"}, sandbox.Invalid, "expected a command or a url"},
		{"command and url", tool.Server{ID: "s", Command: server("plain"), URL: "http://127.0.0.1:1/"}, sandbox.Invalid, "expected a command or a url"},
		{"no such program", tool.Server{ID: "s", Command: []string{"no-such-program"}}, sandbox.NotFound, `server s: "no-such-program" is in no directory of PATH`},
		{"a program that is none", tool.Server{ID: "s", Command: []string{"/etc/passwd"}}, sandbox.Denied, "is not a program"},
		{"no such directory", tool.Server{ID: "s", Command: server("plain"), Dir: "/no/such"}, sandbox.Unavailable, "no such file or directory"},
		{"a variable that is not set", tool.Server{ID: "s", Command: server("plain"), Env: map[string]string{"A": "$ENV.NOT_THERE"}}, sandbox.Invalid, "env A: the variable NOT_THERE is not set"},
		{"a tool that it lacks", tool.Server{ID: "s", Command: server("old"), Tools: []string{"use", "other"}}, sandbox.Invalid, `server s: it has no tool "other"; it has use`},
		{"one that ends at once", tool.Server{ID: "s", Command: server("dead")}, sandbox.Unavailable, "server s: it has ended: exit status 7 (stderr: loading; no configuration in  [31m/nowhere)"},
		{"one that prints garbage", tool.Server{ID: "s", Command: server("garbage")}, sandbox.Unavailable, "it prints data that is not a message"},
		{"tools without end", tool.Server{ID: "s", Command: server("endless")}, sandbox.Exhausted, "more than 100 pages"},
		{"a tool with an odd name", tool.Server{ID: "s", Command: server("misnamed")}, sandbox.Unavailable, `"a b" cannot be the name of a tool`},
		{"two tools with one name", tool.Server{ID: "s", Command: server("twice")}, sandbox.Unavailable, "two tools called a"},
		{"a schema that is none", tool.Server{ID: "s", Command: server("shapeless")}, sandbox.Unavailable, "the schema of a"},
		{"an odd url", tool.Server{ID: "s", URL: "ftp://x/"}, sandbox.Invalid, "url: expected http"},
		{"credentials in a url", tool.Server{ID: "s", URL: "http://user:sk-canary@127.0.0.1:1/"}, sandbox.Invalid, "url: expected http"},
		{"no server at a url with a key", tool.Server{ID: "s", URL: "http://127.0.0.1:1/?key=sk-canary"}, sandbox.Unavailable, "http://127.0.0.1:1/?..."},
		{"no server at a url", tool.Server{ID: "s", URL: "http://127.0.0.1:1/"}, sandbox.Unavailable, "server s: "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := mcp.Open(t.Context(), []tool.Server{row.server}, mcp.Options{Env: env(t)})
			if sandbox.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.message) {
				t.Errorf("%s: %v", sandbox.CodeOf(err), err)
			}
			if err != nil && (strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "sk-canary")) {
				t.Errorf("%q", err)
			}
		})
	}
}

func Test_One_Failed_Server_Ends_The_Others(t *testing.T) {
	t.Parallel()
	e := env(t)
	_, err := mcp.Open(t.Context(), []tool.Server{{ID: "good", Command: server("plain")}, {ID: "bad", Command: server("dead")}}, mcp.Options{Env: e})
	if err == nil || !strings.Contains(err.Error(), "server bad") {
		t.Error(err)
	}
	left, err := os.ReadDir(strings.TrimPrefix(e[2], "TMPDIR="))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	_, err = mcp.Open(t.Context(), []tool.Server{{ID: "a", Command: server("old")}, {ID: "a", Command: server("old")}}, mcp.Options{Env: e})
	if sandbox.CodeOf(err) != sandbox.Invalid || !strings.Contains(err.Error(), "two servers") {
		t.Error(err)
	}
}

func Test_Opening_Ends_With_Its_Context(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := mcp.Open(ctx, []tool.Server{{ID: "deaf", Command: server("deaf")}}, mcp.Options{Env: env(t)})
	if sandbox.CodeOf(err) != sandbox.Timeout || !strings.Contains(err.Error(), "server deaf") {
		t.Error(err)
	}
}

func Test_Hostile_Answers_Are_Bounded(t *testing.T) {
	t.Parallel()
	set := open(t, tool.Server{ID: "giant", Command: server("giant")}, tool.Server{ID: "flood", Command: server("flood")},
		tool.Server{ID: "deep", Command: server("deep"), Timeout: time.Second})
	if _, err := set.Call(t.Context(), "giant__use", nil); sandbox.CodeOf(err) != sandbox.Unavailable || !strings.Contains(err.Error(), "16 MiB") {
		t.Error(err)
	}
	if r := call(t, set, "flood__use", "{}"); r.Text() != "after the flood" {
		t.Errorf("%+v", r)
	}
	if _, err := set.Call(t.Context(), "deep__use", nil); err == nil {
		t.Error("what is too deep was understood")
	}
}

func Test_A_Call_That_Is_Given_Up_Is_Canceled_At_The_Server(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		timeout time.Duration
		code    sandbox.Code
	}{
		{"by the caller", 0, sandbox.Canceled},
		{"by its time", 500 * time.Millisecond, sandbox.Timeout},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			set := open(t, tool.Server{ID: "s", Command: server("plain"), Timeout: row.timeout})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			begun, ended := filepath.Join(dir, "begun"), filepath.Join(dir, "ended")
			args, err := json.Marshal(map[string]string{"begun": begun, "ended": ended})
			if err != nil {
				t.Fatal(err)
			}
			if row.timeout == 0 {
				go func() {
					defer cancel()
					appears(ctx, begun)
				}()
			}
			if _, err := set.Call(ctx, "s__wait", args); sandbox.CodeOf(err) != row.code {
				t.Errorf("%s: %v", sandbox.CodeOf(err), err)
			}
			if !appears(t.Context(), ended) {
				t.Error("the tool goes on")
			}
			if r := call(t, set, "s__echo", `{}`); r.Text() != "{}" {
				t.Errorf("%+v", r)
			}
		})
	}
}

// appears waits until a file exists.
func appears(ctx context.Context, name string) bool {
	ctx, cancel := context.WithTimeout(ctx, deadline.Scale(20*time.Second))
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(name); err == nil {
			return true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
}

func Test_A_Server_That_Died_Is_Restarted_A_Few_Times(t *testing.T) {
	t.Parallel()
	set := open(t, tool.Server{ID: "s", Command: server("plain")})
	pids := map[string]bool{}
	for range 5 {
		text, _, _ := strings.Cut(call(t, set, "s__environment", "{}").Text(), "\n")
		pids[text] = true
		_, err := set.Call(t.Context(), "s__die", nil)
		if sandbox.CodeOf(err) != sandbox.Unavailable || err.Error() != "server s: it has ended: exit status 3 (stderr: out of luck)" {
			t.Errorf("%s: %v", sandbox.CodeOf(err), err)
		}
	}
	if len(pids) != 5 {
		t.Errorf("%d processes", len(pids))
	}
	if _, err := set.Call(t.Context(), "s__echo", nil); sandbox.CodeOf(err) != sandbox.Exhausted {
		t.Error(err)
	}
}

func Test_Tools_That_A_Server_Adds_Later_Are_Listed(t *testing.T) {
	t.Parallel()
	set := open(t, tool.Server{ID: "s", Command: server("plain")})
	call(t, set, "s__grow", "{}")
	deadline := time.Now().Add(20 * time.Second) // the notification has no fixed time
	for {
		list, err := set.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(list, func(t tool.Tool) bool { return t.Name == "s__grown" }) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the end was not noticed")
		}
	}
	if r := call(t, set, "s__grown", "{}"); r.Text() != "grown" {
		t.Errorf("%+v", r)
	}
}

func Test_Calls_Run_In_Parallel(t *testing.T) {
	t.Parallel()
	set := open(t, tool.Server{ID: "a", Command: server("plain")}, tool.Server{ID: "b", Command: server("plain")})
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			text := fmt.Sprintf(`{"n":%d}`, i)
			r, err := set.Call(t.Context(), []string{"a", "b"}[i%2]+"__echo", json.RawMessage(text))
			if err != nil || r.Text() != text {
				t.Errorf("%d: %+v, %v", i, r, err)
			}
		})
	}
	all.Wait()
}

func Test_Close_Leaves_No_Process(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"plain", "stubborn"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			set := open(t, tool.Server{ID: "s", Command: server(kind)})
			first, _, _ := strings.Cut(call(t, set, "s__environment", "{}").Text(), "\n")
			pids := append(strings.Fields(call(t, set, "s__spawn", "{}").Text()), strings.TrimPrefix(first, "pid "))
			done := make(chan error, 1)
			go func() {
				_, err := set.Call(context.WithoutCancel(t.Context()), "s__wait", nil)
				done <- err
			}()
			set.Close()
			if err := <-done; err == nil {
				t.Error("a call without a server succeeds")
			}
			for _, text := range pids {
				pid, err := strconv.Atoi(text)
				if err != nil {
					t.Fatal(err)
				}
				if runs(pid) {
					t.Errorf("process %d of %v runs still", pid, pids)
				}
			}
			if _, err := set.Call(t.Context(), "s__echo", nil); sandbox.CodeOf(err) != sandbox.Closed {
				t.Error(err)
			}
			set.Close()
		})
	}
}

// runs reports whether a process exists and is not a zombie: an orphan is reaped by a process that this test
// does not control.
func runs(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && syscall.Kill(pid, 0) == nil && !strings.Contains(string(data), ") Z ")
}

func Test_Servers_End_When_We_Are_Killed(t *testing.T) {
	t.Parallel()
	set := open(t, tool.Server{ID: "outer", Command: server("outer")})
	pids := strings.Fields(call(t, set, "outer__inner", "{}").Text())
	if len(pids) != 3 {
		t.Fatal(pids)
	}
	if far, err := strconv.Atoi(pids[2]); err == nil { // it has left the group, so a kill of the group misses it
		t.Cleanup(func() { _ = syscall.Kill(far, syscall.SIGKILL) })
	}
	pids = pids[:2]
	_, _ = set.Call(t.Context(), "outer__kill", nil) // it kills itself, and runs no clean-up
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(20 * time.Second); runs(pid); {
			if time.Now().After(deadline) {
				t.Fatalf("process %d of %v runs still", pid, pids)
			}
		}
	}
}

func Test_A_Server_Over_HTTP_Offers_Its_Tools(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]bool{}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return good() }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen[r.Header.Get("Authorization")] = true
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	set, err := mcp.Open(t.Context(), []tool.Server{{
		ID: "far", URL: web.URL, Headers: map[string]string{"Authorization": "$ENV.SECRET_KEY"}, Tools: []string{"echo", "fail", "grow"},
	}}, mcp.Options{Env: env(t)})
	if err != nil {
		t.Fatal(err)
	}
	if r := call(t, set, "far__echo", `{"n":1}`); r.Text() != `{"n":1}` {
		t.Errorf("%+v", r)
	}
	if r := call(t, set, "far__fail", `{}`); !r.Failed {
		t.Errorf("%+v", r)
	}
	set.Close()
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 1 || !seen["sk-canary"] {
		t.Errorf("%v", seen)
	}
}

func Test_An_HTTP_Server_That_Lost_The_Session_Is_Initialized_Again(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	begin := func() http.Handler {
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return good() }, nil)
	}
	handler := begin()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now := handler
		mu.Unlock()
		now.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	set := open(t, tool.Server{ID: "far", URL: web.URL})
	call(t, set, "far__echo", "{}")
	for _, cut := range []bool{false, true} {
		mu.Lock()
		handler = begin() // which does not know the session
		mu.Unlock()
		if cut {
			web.CloseClientConnections()
		}
		fails := 0
		for {
			r, err := set.Call(t.Context(), "far__echo", json.RawMessage(`{"n":2}`))
			if err == nil {
				if r.Text() != `{"n":2}` || r.Failed {
					t.Errorf("%s", r.Content)
				}
				break
			}
			if fails++; sandbox.CodeOf(err) != sandbox.Unavailable || fails > 2 { // a connection that was cut, an unknown session
				t.Fatal(err)
			}
		}
		if !cut && fails != 1 {
			t.Errorf("%d calls failed", fails)
		}
	}
	set.Close()
}

func Test_A_Redirect_Does_Not_Receive_The_Key(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) }))
	t.Cleanup(other.Close)
	web := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(web.Close)
	_, err := mcp.Open(t.Context(), []tool.Server{{ID: "far", URL: web.URL, Headers: map[string]string{"X-Key": "$ENV.SECRET_KEY"}}}, mcp.Options{Env: env(t)})
	if sandbox.CodeOf(err) != sandbox.Unavailable || strings.Contains(err.Error(), "sk-canary") {
		t.Error(err)
	}
}

func Test_A_Giant_Answer_Over_HTTP_Is_Bounded(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for range 64 {
			if _, err := w.Write([]byte(strings.Repeat(" ", 1<<20))); err != nil {
				return
			}
		}
	}))
	t.Cleanup(web.Close)
	_, err := mcp.Open(t.Context(), []tool.Server{{ID: "far", URL: web.URL}}, mcp.Options{Env: env(t)})
	if sandbox.CodeOf(err) != sandbox.Unavailable || !strings.Contains(err.Error(), "16 MiB") {
		t.Error(err)
	}
}
