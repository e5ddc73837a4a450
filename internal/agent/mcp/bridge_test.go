package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// bridged returns a bridge to a real server with all tools.
func bridged(t *testing.T) *mcp.Bridge {
	t.Helper()
	return mcp.NewBridge("bridge", open(t, tool.Server{ID: "s", Command: server("plain")}))
}

// handled returns the reply to a message; nil: none.
func handled(t *testing.T, b *mcp.Bridge, message string) map[string]any {
	t.Helper()
	reply, err := b.Handle(t.Context(), json.RawMessage(message))
	if err != nil {
		t.Fatal(err)
	}
	if reply == nil {
		return nil
	}
	var out map[string]any
	if err := json.Unmarshal(reply, &out); err != nil || out["jsonrpc"] != "2.0" {
		t.Fatalf("%s: %v", reply, err)
	}
	return out
}

// wire has the replies that the real clients of the fixture expect.
type recorded struct{ asked, answered map[string]any }

func wire(t *testing.T) (list []recorded) {
	t.Helper()
	data, err := os.ReadFile("testdata/wire.log")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var m map[string]any
		if err := json.Unmarshal(line[2:], &m); err != nil {
			t.Fatal(err)
		}
		if line[0] == '>' {
			list = append(list, recorded{asked: m})
		} else {
			list[len(list)-1].answered = m
		}
	}
	return list
}

// Y7: the bridge answers the messages of Claude Code, Codex and older clients as
// they expect.
func Test_Requests_Of_Real_Clients_Are_Answered(t *testing.T) {
	t.Parallel()
	b := bridged(t)
	asked := wire(t)
	if len(asked) != 13 {
		t.Fatalf("%d messages", len(asked))
	}
	for _, one := range asked { // all clients share one connection, which is harder than the recorded case
		if one.asked["method"] == "tools/call" {
			one.asked["params"].(map[string]any)["name"] = "s__echo"
		}
		message, err := json.Marshal(one.asked)
		if err != nil {
			t.Fatal(err)
		}
		got := handled(t, b, string(message))
		if one.answered == nil {
			if got != nil {
				t.Errorf("%s was answered with %v", message, got)
			}
			continue
		}
		if got["id"] != one.answered["id"] || got["error"] != nil {
			t.Errorf("%s: %v", message, got)
		}
		result := got["result"].(map[string]any)
		switch one.asked["method"] {
		case "initialize":
			if want := one.asked["params"].(map[string]any)["protocolVersion"]; result["protocolVersion"] != want {
				t.Errorf("%v, want %v", result["protocolVersion"], want)
			}
			if result["capabilities"].(map[string]any)["tools"] == nil || result["serverInfo"].(map[string]any)["name"] != "bridge" {
				t.Errorf("%v", result)
			}
		case "tools/list":
			if tools := result["tools"].([]any); len(tools) != 10 || tools[0].(map[string]any)["inputSchema"] == nil {
				t.Errorf("%v", result)
			}
		case "tools/call":
			if want := []any{map[string]any{"type": "text", "text": `{"t":"hey"}`}}; !reflect.DeepEqual(result["content"], want) {
				t.Errorf("%v", result)
			}
		}
	}
}

// Y7: the bridge speaks the version that the client requests, down to
// 2024-11-05.
func Test_Versions_Are_Negotiated(t *testing.T) {
	t.Parallel()
	b := mcp.NewBridge("b", none{})
	for asked, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05",
		"2030-01-01": "2025-11-25", "x": "2025-11-25",
	} {
		got := handled(t, b, fmt.Sprintf(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":%q}}`, asked))
		if v := got["result"].(map[string]any)["protocolVersion"]; v != want || got["id"] != "i" {
			t.Errorf("%s: %v", asked, got)
		}
	}
}

// none is a set without tools, as for a server that has none.
type none struct{}

func (none) List(context.Context) ([]tool.Tool, error) { return nil, nil }
func (none) Call(context.Context, string, json.RawMessage) (tool.Result, error) {
	return tool.Result{}, sandbox.Errorf(sandbox.Unavailable, "nobody\nanswers").WithHint("wait")
}

func Test_Invalid_Messages_Get_An_Error_Reply(t *testing.T) {
	t.Parallel()
	b := bridged(t)
	for _, row := range []struct {
		name, message string
		id            any
		code          float64
	}{
		{"no JSON", `{"jsonrpc"`, nil, -32700},
		{"nothing", ``, nil, -32700},
		{"two messages", `{} {}`, nil, -32700},
		{"a message that is too long", `"` + strings.Repeat("x", 17<<20) + `"`, nil, -32700},
		{"nesting without end", strings.Repeat("[", 1<<20), nil, -32700},
		{"no object", `7`, nil, -32600},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, nil, -32600},
		{"no version", `{"id":1,"method":"ping"}`, nil, -32600},
		{"an ID that is none", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, -32600},
		{"a method that is no text", `{"jsonrpc":"2.0","id":1,"method":7}`, nil, -32600},
		{"an empty array", `[]`, nil, -32600},
		{"an unknown method", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, 1.0, -32601},
		{"an empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, 1.0, -32601},
		{"initialize without a version", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, 1.0, -32602},
		{"a call without a name", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`, 1.0, -32602},
		{"a call of nothing", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 1.0, -32602},
		{"a tool that is not there", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__none"}}`, 1.0, -32602},
		{"arguments that are a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s__echo","arguments":[]}}`, 1.0, -32602},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := handled(t, b, row.message)
			fault, _ := got["error"].(map[string]any)
			if id, there := got["id"]; !there || id != row.id || fault["code"] != row.code || fault["message"] == "" {
				t.Errorf("%v", got)
			}
		})
	}
}

// Y7: no notification gets a reply, and both spellings of initialized have the
// same effect.
func Test_Notifications_Get_No_Reply(t *testing.T) {
	t.Parallel()
	b := bridged(t)
	for _, message := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"s__die"}}`,
		`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":4,"result":{}}`,
		`{"jsonrpc":"2.0","id":4,"error":{"code":1,"message":"x"}}`,
		`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`,
	} {
		if got := handled(t, b, message); got != nil {
			t.Errorf("%s: %v", message, got)
		}
	}
	if got := handled(t, b, ` {"jsonrpc":"2.0","id":5,"method":"ping"} `); !reflect.DeepEqual(got["result"], map[string]any{}) {
		t.Errorf("%v", got)
	}
}

func Test_Tool_Failures_Are_Results_For_The_Model(t *testing.T) {
	t.Parallel()
	got := handled(t, mcp.NewBridge("b", none{}), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)
	want := map[string]any{"isError": true, "content": []any{map[string]any{"type": "text", "text": "nobody; answers; hint: wait"}}}
	if !reflect.DeepEqual(got["result"], want) {
		t.Errorf("%v", got)
	}
	if got := handled(t, mcp.NewBridge("b", none{}), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); !reflect.DeepEqual(got["result"], map[string]any{"tools": []any{}}) {
		t.Errorf("%v", got)
	}
}

func Test_An_Array_Of_Messages_Gets_An_Array_Of_Replies(t *testing.T) {
	t.Parallel()
	reply, err := bridged(t).Handle(t.Context(), json.RawMessage(`[{"jsonrpc":"2.0","id":1,"method":"ping"},7,{"jsonrpc":"2.0","method":"notifications/initialized"},
		{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"s__echo","arguments":{"a":1}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(reply, &list); err != nil || len(list) != 3 || list[0]["id"] != 1.0 || list[1]["error"] == nil || list[2]["id"] != 2.0 {
		t.Errorf("%s %v", reply, err)
	}
}

func Test_The_Context_Ends_Running_Calls(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	b := mcp.NewBridge("b", stuck{cancel})
	if reply, err := b.Handle(ctx, json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`)); reply != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%s, %v", reply, err)
	}
}

// stuck is a set whose tools run until their context ends, and report when they
// begin.
type stuck struct{ begun func() }

func (stuck) List(context.Context) ([]tool.Tool, error) { return nil, nil }
func (s stuck) Call(ctx context.Context, _ string, _ json.RawMessage) (tool.Result, error) {
	s.begun()
	<-ctx.Done()
	return tool.Result{}, ctx.Err()
}

// served serves a set over a connection in memory.
func served(t *testing.T, set tool.Set) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- mcp.Serve(context.WithoutCancel(t.Context()), theirs, set) }()
	t.Cleanup(func() {
		_ = ours.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return ours
}

func Test_A_Cancel_That_Follows_At_Once_Finds_Its_Request(t *testing.T) {
	t.Parallel()
	for range 50 {
		conn := served(t, stuck{func() {}})
		go func() {
			for _, line := range []string{
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`,
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
				`{"jsonrpc":"2.0","id":2,"method":"ping"}`,
			} {
				_, _ = io.WriteString(conn, line+"\n")
			}
		}()
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.Contains(line, `"id":2`) {
			t.Fatalf("%s %v", line, err)
		}
		_ = conn.Close() // and no goroutine waits for the call
	}
}

func Test_Excess_Concurrent_Requests_Are_Refused(t *testing.T) {
	t.Parallel()
	conn := served(t, stuck{func() {}})
	go func() {
		for i := range 300 {
			_, _ = fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}`+"\n", i)
		}
	}()
	in := bufio.NewReader(conn)
	for range 300 - 256 {
		line, err := in.ReadString('\n')
		if err != nil || !strings.Contains(line, "more than 256") {
			t.Fatalf("%s %v", line, err)
		}
	}
}

func Test_A_Stream_Continues_After_An_Invalid_Line(t *testing.T) {
	t.Parallel()
	conn := served(t, none{})
	go func() {
		for _, line := range []string{"garbage", "", strings.Repeat("x", 17<<20), `{"jsonrpc":"2.0","id":2,"method":"ping"}`} {
			_, _ = io.WriteString(conn, line+"\n")
		}
	}()
	in := bufio.NewReader(conn)
	got := ""
	for range 3 {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		got += line
	}
	if strings.Count(got, "-32700") != 2 || !strings.Contains(got, `"id":2`) {
		t.Error(got)
	}
}

func Test_Many_Clients_Of_The_SDK_Share_A_Set(t *testing.T) {
	t.Parallel()
	set := open(t, tool.Server{ID: "s", Command: server("plain")})
	var all sync.WaitGroup
	for i := range 20 {
		conn := served(t, set)
		all.Go(func() {
			client := sdk.NewClient(&sdk.Implementation{Name: "client"}, nil)
			session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: conn, Writer: conn}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer session.Close()
			var calls sync.WaitGroup
			for n := range 10 {
				calls.Go(func() {
					r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "s__echo", Arguments: map[string]int{"n": i*100 + n}})
					if err != nil || r.Content[0].(*sdk.TextContent).Text != fmt.Sprintf(`{"n":%d}`, i*100+n) {
						t.Errorf("%+v, %v", r, err)
					}
				})
			}
			calls.Wait()
			if err := session.Ping(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

func Test_Serving_Ends_With_Its_Context(t *testing.T) {
	t.Parallel()
	ours, theirs := net.Pipe()
	defer ours.Close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- mcp.Serve(ctx, theirs, stuck{cancel}) }()
	_, _ = io.WriteString(ours, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`+"\n")
	if err := <-done; err == nil {
		t.Error("it ended without an error")
	}
}

func FuzzBridge(f *testing.F) {
	data, err := os.ReadFile("testdata/wire.log")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		f.Add(line[2:])
	}
	for _, seed := range []string{"[]", "[7,{}]", `{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{}}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1e400}}`} {
		f.Add([]byte(seed))
	}
	b := mcp.NewBridge("fuzz", none{})
	f.Fuzz(func(t *testing.T, message []byte) {
		reply, err := b.Handle(t.Context(), message)
		if err != nil {
			t.Fatal(err)
		}
		if reply != nil && (!json.Valid(reply) || bytes.ContainsAny(reply, "\n") || !bytes.Contains(reply, []byte(`"jsonrpc":"2.0"`))) {
			t.Errorf("%q: %q", message, reply)
		}
		if again, err := b.Handle(t.Context(), message); err != nil || !bytes.Equal(again, reply) {
			t.Errorf("%q: %q, then %q", message, reply, again)
		}
	})
}
