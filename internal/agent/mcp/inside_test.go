//go:build linux

package mcp_test

import (
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/internal/agent/mcp"
	"github.com/seed434b0696/agent-sandbox/internal/agent/tool"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// Test_A_Program_Without_A_Network_Uses_Tools_Of_The_Host does what an executor does to offer tools to a coding agent:
// it listens in the sandbox, serves each connection, and the agent starts the guest's bridge as its MCP server.
func Test_A_Program_Without_A_Network_Uses_Tools_Of_The_Host(t *testing.T) {
	t.Parallel()
	driver := bwrap.New(bwrap.Options{DataDir: t.TempDir()})
	require.Driver(t, driver)
	box, err := sandbox.Create(t.Context(), driver, sandbox.Spec{
		Workspace: t.TempDir(), Home: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Resident: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close(t.Context()) })
	set := open(t, tool.Server{ID: "s", Command: server("plain")})
	l, err := box.Listen(t.Context(), "unix:/tmp/mcp.sock")
	if err != nil {
		t.Fatal(err)
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				if err := mcp.Serve(t.Context(), conn, set); err != nil {
					t.Error(err)
				}
			})
		}
	})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() { talk(t, box, i) })
	}
	all.Wait()
	_ = l.Close()
	served.Wait()
}

// talk plays the agent in the sandbox, which needs only the command of its server.
func talk(t *testing.T, box *sandbox.Sandbox, i int) {
	t.Helper()
	fromUs, in := io.Pipe()
	out, toUs := io.Pipe()
	run, err := box.Start(t.Context(), sandbox.Cmd{Args: []string{"/run/agent-sandbox/agent-sandbox", "bridge", "unix:/tmp/mcp.sock"}}, sandbox.Stdio{Stdin: fromUs, Stdout: toUs})
	if err != nil {
		t.Error(err)
		return
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "inside"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		t.Error(err)
		return
	}
	for n := range 20 {
		want := fmt.Sprintf(`{"n":%d}`, 100*i+n)
		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "s__echo", Arguments: map[string]int{"n": 100*i + n}})
		if err != nil || r.Content[0].(*sdk.TextContent).Text != want {
			t.Errorf("%+v, %v", r, err)
		}
	}
	_ = session.Close()
	if exit, err := run.Wait(); err != nil || exit.Code != 0 {
		t.Errorf("%+v, %v", exit, err)
	}
}
