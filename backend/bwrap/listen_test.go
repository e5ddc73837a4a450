//go:build linux

package bwrap_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// resident creates a resident sandbox, whose commands share their namespaces.
func resident(t *testing.T, p sandbox.Policy) *sandbox.Sandbox {
	t.Helper()
	driver := bwrap.New(bwrap.Options{DataDir: t.TempDir()})
	require.Driver(t, driver)
	s, err := sandbox.Create(t.Context(), driver, sandbox.Spec{
		Workspace: t.TempDir(), Home: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Resident: true, Policy: p,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// asking is a client of HTTP, over TCP and over a Unix socket.
const asking = `
import http.client, socket, sys
c = http.client.HTTPConnection("localhost", int(sys.argv[1]) if sys.argv[1].isdigit() else 80)
if not sys.argv[1].isdigit():
    c.sock = socket.socket(socket.AF_UNIX)
    c.sock.connect(sys.argv[1])
c.request("POST", "/v1/messages", "hello")
print(c.getresponse().read().decode())
`

func Test_A_Handler_Of_This_Process_Serves_A_Sandbox_Without_A_Network(t *testing.T) {
	s := resident(t, sandbox.Policy{})
	for _, row := range []struct{ address, inside string }{
		{"unix:/tmp/model.sock", "/tmp/model.sock"},
		{"127.0.0.1:8317", "8317"},
	} {
		l, err := s.Listen(t.Context(), row.address)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // of this test alone
			fmt.Fprintf(w, "%s %s", r.Method, r.URL.Path)
		})}
		served := make(chan error, 1)
		go func() { served <- server.Serve(l) }()
		res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"python3", "-c", asking, row.inside}})
		if err != nil || string(res.Stdout) != "POST /v1/messages\n" {
			t.Errorf("%s: %+v, %v", row.address, res, err)
		}
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	}
	res, err := s.Run(t.Context(), sandbox.Cmd{Args: []string{"python3", "-c", "import socket; socket.create_connection(('192.0.2.1', 80), 5)"}})
	if err != nil || !strings.Contains(string(res.Stderr), "unreachable") {
		t.Errorf("the network is %+v, %v", res, err)
	}
}

func Test_Listen_Opens_No_Port_On_The_Loopback_Of_The_Host(t *testing.T) {
	s := resident(t, sandbox.Policy{Network: sandbox.Network{Mode: sandbox.NetworkHost}})
	if _, err := s.Listen(t.Context(), "127.0.0.1:8317"); sandbox.CodeOf(err) != sandbox.Unsupported || !strings.Contains(sandbox.HintOf(err), "unix:") {
		t.Error(err)
	}
	l, err := s.Listen(t.Context(), "unix:/tmp/model.sock")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
