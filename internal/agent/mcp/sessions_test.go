package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func sessions(t *testing.T, idle time.Duration, most int) *mcp.Sessions {
	t.Helper()
	s := mcp.NewSessions(mcp.SessionsOptions{Options: mcp.Options{Env: env(t)}, Idle: idle, Max: most})
	t.Cleanup(s.Close)
	return s
}

func plain() []tool.Server { return []tool.Server{{ID: "s", Command: server("plain")}} }

// pid returns the process ID of a chat's server.
func pid(t *testing.T, s *mcp.Sessions, key mcp.Key, servers []tool.Server) (pid string, release func()) {
	t.Helper()
	set, release, err := s.Acquire(t.Context(), key, servers)
	if err != nil {
		t.Fatal(err)
	}
	pid, _, _ = strings.Cut(call(t, set, "s__environment", "{}").Text(), "\n")
	return pid, release
}

// Y9: each user's chats have their own servers.
func Test_Servers_Belong_To_A_User_And_A_Chat(t *testing.T) {
	t.Parallel()
	s := sessions(t, 0, 0)
	ann, bob := mcp.Key{User: "ann", Chat: "1"}, mcp.Key{User: "bob", Chat: "1"}
	first, release := pid(t, s, ann, plain())
	release()
	second, release := pid(t, s, ann, plain())
	defer release()
	other, release := pid(t, s, bob, plain())
	defer release()
	third, release := pid(t, s, mcp.Key{User: "ann", Chat: "2"}, plain())
	defer release()
	changed, release := pid(t, s, ann, []tool.Server{{ID: "s", Command: server("plain"), Tools: []string{"environment"}}})
	defer release()
	if first != second {
		t.Error("a chat's server does not outlive a request")
	}
	seen := map[string]bool{first: true, other: true, third: true, changed: true}
	if len(seen) != 4 {
		t.Errorf("chats share a server: %v", seen)
	}
	for _, key := range []mcp.Key{{}, {User: "ann"}, {Chat: "1"}} {
		if _, _, err := s.Acquire(t.Context(), key, plain()); sandbox.CodeOf(err) != sandbox.Invalid {
			t.Errorf("%+v: %v", key, err)
		}
	}
}

// Y9: servers do not end with the request that needed them first.
func Test_A_Session_Outlives_The_Request_That_Opened_It(t *testing.T) {
	t.Parallel()
	s := sessions(t, 0, 0)
	key := mcp.Key{User: "ann", Chat: "1"}
	ctx, cancel := context.WithCancel(t.Context())
	set, release, err := s.Acquire(ctx, key, plain())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	cancel()
	if r := call(t, set, "s__echo", "{}"); r.Failed {
		t.Errorf("%+v", r)
	}
	if _, _, err := s.Acquire(ctx, mcp.Key{User: "bob", Chat: "1"}, plain()); sandbox.CodeOf(err) != sandbox.Canceled {
		t.Error(err)
	}
}

func Test_Concurrent_Callers_Share_One_Opening(t *testing.T) {
	t.Parallel()
	s := sessions(t, 0, 0)
	var mu sync.Mutex
	seen := map[string]int{}
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			key := mcp.Key{User: fmt.Sprint("user ", i%3), Chat: "1"}
			set, release, err := s.Acquire(t.Context(), key, plain())
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			r, err := set.Call(t.Context(), "s__environment", nil)
			if err != nil {
				t.Error(err)
				return
			}
			text, _, _ := strings.Cut(r.Text(), "\n")
			mu.Lock()
			defer mu.Unlock()
			seen[text]++
		})
	}
	all.Wait()
	if len(seen) != 3 {
		t.Errorf("%v", seen)
	}
}

func Test_Idle_Sets_Are_Closed(t *testing.T) {
	t.Parallel()
	s := sessions(t, 20*time.Millisecond, 0)
	key := mcp.Key{User: "ann", Chat: "1"}
	set, release, err := s.Acquire(t.Context(), key, plain())
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := s.Acquire(t.Context(), key, plain())
	if err != nil {
		t.Fatal(err)
	}
	release()
	release() // no effect: the other caller still uses the set
	for range 50 {
		call(t, set, "s__echo", "{}")
	}
	again()
	for deadline := time.Now().Add(20 * time.Second); ; {
		if _, err := set.Call(t.Context(), "s__echo", nil); sandbox.CodeOf(err) == sandbox.Closed {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is open still")
		}
	}
	if _, release, err := s.Acquire(t.Context(), key, plain()); err != nil {
		t.Error(err)
	} else {
		release()
	}
}

func Test_A_Failed_Opening_Is_Retried(t *testing.T) {
	t.Parallel()
	s := sessions(t, 0, 1)
	key := mcp.Key{User: "ann", Chat: "1"}
	for range 3 {
		if _, _, err := s.Acquire(t.Context(), key, []tool.Server{{ID: "s", Command: server("dead")}}); sandbox.CodeOf(err) != sandbox.Unavailable {
			t.Fatal(err)
		}
	}
	_, release := pid(t, s, key, plain())
	if _, _, err := s.Acquire(t.Context(), mcp.Key{User: "bob", Chat: "1"}, plain()); sandbox.CodeOf(err) != sandbox.Exhausted {
		t.Error(err)
	}
	release()
	_, release = pid(t, s, mcp.Key{User: "bob", Chat: "1"}, plain()) // it replaces a set that no request uses
	release()
}

func Test_Closing_Sessions_Ends_All_Servers(t *testing.T) {
	t.Parallel()
	s := sessions(t, 0, 0)
	var sets []*mcp.Set
	for i := range 5 {
		set, release, err := s.Acquire(t.Context(), mcp.Key{User: "ann", Chat: fmt.Sprint(i)}, plain())
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		sets = append(sets, set)
	}
	s.Close()
	for _, set := range sets {
		if _, err := set.Call(t.Context(), "s__echo", nil); sandbox.CodeOf(err) != sandbox.Closed {
			t.Error(err)
		}
	}
	if _, _, err := s.Acquire(t.Context(), mcp.Key{User: "ann", Chat: "1"}, plain()); sandbox.CodeOf(err) != sandbox.Closed {
		t.Error(err)
	}
}
