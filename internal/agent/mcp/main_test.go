package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
)

// TestMain also runs the servers: real processes that communicate over their standard
// streams.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "server" {
		if err := beServer(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// server returns the command line of a server.
func server(kind string) []string {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return []string{self, "server", kind}
}

func beServer(kind string) error {
	switch kind {
	case "plain":
		return good().Run(context.Background(), &sdk.StdioTransport{})
	case "talkative":
		fmt.Println("welcome to this server")
		return good().Run(context.Background(), &sdk.StdioTransport{})
	case "stubborn":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		_ = good().Run(context.Background(), &sdk.StdioTransport{})
		<-time.After(time.Hour) // ends a process in which all goroutines wait
	case "outer":
		return outer()
	case "dead":
		fmt.Fprintln(os.Stderr, "loading\nno configuration in \x1b[31m/nowhere")
		os.Exit(7)
	case "deaf":
		<-time.After(time.Hour) // ends a process in which all goroutines wait
	case "garbage":
		for {
			fmt.Println(strings.Repeat("}{", 500))
		}
	}
	return raw(kind)
}

// good runs a server made with the SDK, whose tools are on several pages.
func good() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test"}, &sdk.ServerOptions{PageSize: 2})
	text := func(t string) *sdk.CallToolResult {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: t}}}
	}
	add := func(name string, f func(ctx context.Context, args string) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "does " + name, InputSchema: json.RawMessage(`{"type":"object"}`)},
			func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				return f(ctx, string(r.Params.Arguments))
			})
	}
	add("echo", func(_ context.Context, args string) (*sdk.CallToolResult, error) { return text(args), nil })
	add("fail", func(context.Context, string) (*sdk.CallToolResult, error) {
		r := text("it went wrong")
		r.IsError = true
		return r, nil
	})
	add("refuse", func(context.Context, string) (*sdk.CallToolResult, error) {
		return nil, fmt.Errorf("arguments\nrefused")
	})
	add("image", func(context.Context, string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.ImageContent{MIMEType: "image/png", Data: []byte{1, 2}}}}, nil
	})
	add("structured", func(context.Context, string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{StructuredContent: map[string]any{"a": "<b>"}}, nil
	})
	add("wait", func(ctx context.Context, args string) (*sdk.CallToolResult, error) {
		var in struct{ Begun, Ended string }
		_ = json.Unmarshal([]byte(args), &in)
		_ = os.WriteFile(in.Begun, nil, 0o600)
		<-ctx.Done()
		return text("ended"), os.WriteFile(in.Ended, []byte("canceled"), 0o600)
	})
	add("die", func(context.Context, string) (*sdk.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
		return nil, nil
	})
	add("environment", func(context.Context, string) (*sdk.CallToolResult, error) {
		dir, err := os.Getwd()
		return text(fmt.Sprintf("pid %d\ndir %s\n%s", os.Getpid(), dir, strings.Join(os.Environ(), "\n"))), err
	})
	add("spawn", func(context.Context, string) (*sdk.CallToolResult, error) {
		near, far := exec.Command("sleep", "1000"), exec.Command("sleep", "1000") //nolint:noctx // the test looks whether they end
		far.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := near.Start(); err != nil {
			return nil, err
		}
		err := far.Start()
		return text(fmt.Sprint(near.Process.Pid, " ", far.Process.Pid)), err
	})
	add("grow", func(context.Context, string) (*sdk.CallToolResult, error) {
		add("grown", func(context.Context, string) (*sdk.CallToolResult, error) { return text("grown"), nil })
		return text("more"), nil
	})
	return s
}

// outer runs a server that starts servers itself and does not end them.
func outer() error {
	set, err := mcp.Open(context.Background(), []tool.Server{{ID: "s", Command: server("stubborn")}}, mcp.Options{Env: os.Environ()})
	if err != nil {
		return err
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "outer"}, nil)
	schema := json.RawMessage(`{"type":"object"}`)
	s.AddTool(&sdk.Tool{Name: "inner", InputSchema: schema}, func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		about, err := set.Call(ctx, "s__environment", nil)
		if err != nil {
			return nil, err
		}
		spawned, err := set.Call(ctx, "s__spawn", nil)
		if err != nil {
			return nil, err
		}
		pid, _, _ := strings.Cut(strings.TrimPrefix(about.Text(), "pid "), "\n")
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: pid + " " + spawned.Text()}}}, nil
	})
	s.AddTool(&sdk.Tool{Name: "kill", InputSchema: schema}, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
	return s.Run(context.Background(), &sdk.StdioTransport{})
}

// raw runs a server with behaviour that the SDK does not permit.
func raw(kind string) error {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return nil // the client has gone
		}
		if err != nil {
			return err
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return err
		}
		if m.ID == nil {
			continue
		}
		if m.Method != "" {
			reply(kind, string(m.ID), m.Method)
		}
	}
}

func reply(kind, id, method string) {
	say := func(result string) { fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, result) }
	switch {
	case method == "initialize":
		say(`{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"old","version":"1"}}`)
	case method == "tools/list" && kind == "endless":
		say(fmt.Sprintf(`{"tools":[{"name":"t%s","inputSchema":{"type":"object"}}],"nextCursor":"more"}`, id))
	case method == "tools/list" && kind == "misnamed":
		say(`{"tools":[{"name":"a b","inputSchema":{"type":"object"}}]}`)
	case method == "tools/list" && kind == "twice":
		say(`{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"a","inputSchema":{"type":"object"}}]}`)
	case method == "tools/list" && kind == "shapeless":
		say(`{"tools":[{"name":"a","inputSchema":"any"}]}`)
	case method == "tools/list":
		say(`{"tools":[{"name":"use","inputSchema":{"type":"object"}}]}`)
	case kind == "giant":
		_, _ = io.WriteString(os.Stdout, `{"jsonrpc":"2.0","id":`)
		for range 20 {
			_, _ = io.WriteString(os.Stdout, strings.Repeat("1", 1<<20))
		}
		fmt.Println("}")
	case kind == "deep":
		say(strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000))
	case kind == "flood": // notifications and requests without end, and then the answer
		for i := range 20_000 {
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
			if i%1000 == 0 {
				fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":\"q%d\",\"method\":\"sampling/createMessage\",\"params\":{}}\n", i)
			}
		}
		say(`{"content":[{"type":"text","text":"after the flood"}]}`)
	default:
		say(`{"content":[{"type":"text","text":"old"}]}`)
	}
}
