package command_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// mcpClient FILE ARG... starts "agent-sandbox mcp ARG..." and sends it the calls of FILE, a line each:
//
//	tools                     prints the names of the tools
//	TOOL JSON                 prints the tool's result, or "failed: " and its message
//	cancel PATH TOOL JSON     cancels the call when PATH exists on the host
//	leave PATH TOOL JSON      ends the client when PATH exists, while the call runs
func mcpClient(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: mcpclient FILE ARG...")
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline.Scale(time.Minute))
	defer cancel()
	cmd := exec.Command("agent-sandbox", append([]string{"mcp"}, args[1:]...)...) //nolint:noctx // the transport ends it
	cmd.Path = scratch + "/bin/agent-sandbox"
	cmd.Err = nil // of a PATH that is not the script's
	cmd.Dir, cmd.Stderr = ts.MkAbs("."), ts.Stderr()
	for _, name := range []string{"HOME", "PATH", "LANG"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
	session, err := client.Connect(ctx, &sdk.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	ts.Check(err)
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		mcpLine(ctx, ts, session, strings.TrimSpace(line))
	}
	if err := session.Close(); err != nil {
		ts.Fatalf("the server ended with %v", err)
	}
}

func mcpLine(ctx context.Context, ts *testscript.TestScript, session *sdk.ClientSession, line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "":
	case "tools":
		list, err := session.ListTools(ctx, nil)
		ts.Check(err)
		for _, t := range list.Tools {
			fmt.Fprintln(ts.Stdout(), t.Name, t.OutputSchema != nil)
		}
	case "cancel", "leave":
		path, rest, _ := strings.Cut(rest, " ")
		called, cancel := context.WithCancel(ctx)
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := mcpCall(called, session, rest)
			done <- err
		}()
		awaitFile(ts, path)
		if word == "cancel" {
			cancel()
			fmt.Fprintln(ts.Stdout(), "canceled:", <-done)
		}
	default:
		text, err := mcpCall(ctx, session, line)
		ts.Check(err)
		fmt.Fprintln(ts.Stdout(), text)
	}
}

func mcpCall(ctx context.Context, session *sdk.ClientSession, line string) (string, error) {
	name, args, _ := strings.Cut(line, " ")
	res, err := session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		return "", err
	}
	text := res.Content[0].(*sdk.TextContent).Text
	if res.IsError {
		return "failed: " + text, nil
	}
	data, err := json.Marshal(res.StructuredContent)
	if err == nil && string(data) == "null" {
		err = fmt.Errorf("nothing structured in %s", text)
	}
	return string(data), err
}

// awaitFile waits for a file of the host.
func awaitFile(ts *testscript.TestScript, name string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(deadline.Scale(30 * time.Second)); ; {
		if _, err := os.Stat(ts.MkAbs(name)); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			ts.Fatalf("%s was not created in time", name)
		}
	}
}

// ended NAME... waits until the processes whose marks are in files NAME have ended.
func ended(ts *testscript.TestScript, neg bool, args []string) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	late := time.After(deadline.Scale(30 * time.Second))
	for _, name := range args {
		mark := strings.TrimSpace(ts.ReadFile(name))
		for marked(ts, mark) != neg {
			select {
			case <-tick.C:
			case <-late:
				ts.Fatalf("a process with %s in its arguments: %v", mark, !neg)
			}
		}
	}
}

// marked reports whether a process of the host has text in its arguments.
func marked(ts *testscript.TestScript, text string) bool {
	entries, err := os.ReadDir("/proc")
	ts.Check(err)
	for _, e := range entries {
		data, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && strings.Contains(string(data), text) && e.Name() != fmt.Sprint(syscall.Getpid()) {
			return true
		}
	}
	return false
}
