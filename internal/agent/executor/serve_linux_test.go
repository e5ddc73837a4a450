package executor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/internal/guest/guestnet"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

func newBox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	driver := bwrap.New(bwrap.Options{DataDir: t.TempDir()})
	require.Driver(t, driver)
	box, err := sandbox.Create(t.Context(), driver, sandbox.Spec{
		Workspace: t.TempDir(), Home: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH")}, Resident: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return box
}

// named is a server whose answers contain its name.
func named(name string) executor.Server {
	return executor.Server{Name: name, Handle: func(_ context.Context, asked json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(fmt.Sprintf(`{"server":%q,"asked":%s}`, name, asked)), nil
	}}
}

// caller is a program in the sandbox that has a server as a child.
type caller struct {
	in    io.WriteCloser
	out   *bufio.Reader
	ended chan error
}

// call starts the command that an agent is configured to start for a server.
func call(t *testing.T, box *sandbox.Sandbox, address string) *caller {
	t.Helper()
	fromUs, in := io.Pipe()
	out, toUs := io.Pipe()
	running, err := box.Start(t.Context(), sandbox.Cmd{Args: guestnet.BridgeArgs(address)}, sandbox.Stdio{Stdin: fromUs, Stdout: toUs})
	if err != nil {
		t.Fatal(err)
	}
	c := &caller{in: in, out: bufio.NewReader(out), ended: make(chan error, 1)}
	go func() {
		_, err := running.Wait()
		_ = toUs.Close()
		c.ended <- err
	}()
	return c
}

// says sends a request and checks the answer.
func (c *caller) says(t *testing.T, ask, want string) {
	t.Helper()
	if _, err := io.WriteString(c.in, ask+"\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := c.out.ReadString('\n'); got != want+"\n" {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// Y8: the address of a server is defined in one place, so the agent connects to the address
// on which the server listens.
func Test_Each_Server_Listens_On_Its_Announced_Address(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	var seen []string
	for range 2 { // two agents in one sandbox
		addresses, stop, err := executor.Listen(t.Context(), box, []executor.Server{named("a"), named("b")})
		if err != nil {
			t.Fatal(err)
		}
		defer stop()
		for name, address := range addresses {
			seen = append(seen, address)
			c := call(t, box, address)
			c.says(t, `{"id":1}`, `{"server":"`+name+`","asked":{"id":1}}`)
			_ = c.in.Close()
			if err := <-c.ended; err != nil {
				t.Error(err)
			}
		}
	}
	if len(seen) != 4 || seen[0] == seen[2] || seen[0] == seen[3] || seen[1] == seen[2] || seen[1] == seen[3] {
		t.Errorf("they share addresses: %q", seen)
	}
}

// Y10: a server serves many clients at once, and ends when no client can connect any more.
func Test_A_Server_Inside_Talks_To_Many_At_Once_And_Ends_With_The_Sandbox(t *testing.T) {
	t.Parallel()
	box := newBox(t)
	addresses, stop, err := executor.Listen(t.Context(), box, []executor.Server{named("a")})
	if err != nil {
		t.Fatal(err)
	}
	var open []*caller
	for range 5 {
		open = append(open, call(t, box, addresses["a"]))
	}
	for i := range open { // the last client gets the first answer, while all others are connected
		open[len(open)-1-i].says(t, fmt.Sprint(i), fmt.Sprintf(`{"server":"a","asked":%d}`, i))
	}
	if err := box.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range open {
		if err := <-c.ended; err == nil {
			t.Error("it was not killed with the sandbox")
		}
		_ = c.in.Close()
	}
	stop() // returns only when the loop that accepts has ended
}
