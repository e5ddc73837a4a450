package supervisor

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// pipes is a connection over the standard streams of a process.
type pipes struct {
	io.Reader
	io.WriteCloser
}

func Test_The_Guest_Serves_As_The_First_Process_Over_Its_Standard_Streams(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", guesttest.Program(t), "serve", "-")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c, err := session.Connect(t.Context(), pipes{out, in})
	if err != nil {
		t.Fatal(errors.Join(err, cmd.Wait()), errs.String())
	}
	if err := c.Setup(t.Context(), session.Setup{}); err != nil {
		t.Error(err)
	}
	script := `(setsid sh -c 'sleep 0.01; exit 3' &) # its parents are gone before it
i=0; while [ $i -lt 200 ]; do
	all=$(ps -e -o stat= -o args=)
	case $all in *"exit 3"* | *Z*) i=$((i + 1)); sleep 0.05 ;; *) echo reaped; exit ;; esac
done
echo "$all"`
	var said bytes.Buffer
	p, err := c.Start(t.Context(), session.Command{
		Args: []string{"sh", "-c", `eval "$SCRIPT"`}, Env: []string{"PATH=/usr/bin:/bin", "SCRIPT=" + script}, Dir: "/",
	}, sandbox.Stdio{Stdout: &said, Stderr: &said})
	if err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(); err != nil || exit.Code != 0 || !strings.HasSuffix(said.String(), "reaped\n") {
		t.Errorf("%+v, %v, %q", exit, err, said.String())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil || errs.Len() > 0 {
		t.Errorf("%v, %q", err, errs.String())
	}
}
