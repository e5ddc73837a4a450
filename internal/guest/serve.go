package guest

import (
	"context"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
)

// runnerCommand is what the supervisor starts itself as, once for each command that runs.
const runnerCommand = "runner"

// serve is the supervisor of a resident sandbox: it speaks with the host over the inherited socket whose
// number is its argument, or over standard input and output, and ends with it.
func (p process) serve(args []string) int {
	runtime.GOMAXPROCS(1) // It passes on; more would only wake each other.
	if len(args) != 1 {
		return p.usage()
	}
	var conn io.ReadWriteCloser
	var err error
	if args[0] == "-" {
		conn, err = attached()
	} else {
		fd, _ := strconv.Atoi(args[0]) // what is no number is no descriptor
		if fd <= 2 {
			return p.usage()
		}
		f := os.NewFile(uintptr(fd), "host")
		conn, err = net.FileConn(f)
		_ = f.Close()
	}
	return p.serveOn(conn, err)
}

// serveOn serves on a connection unless there was an error.
func (p process) serveOn(conn io.ReadWriteCloser, err error) int {
	if err == nil {
		err = session.Serve(conn, session.Options{Runner: []string{Program, runnerCommand}, Inside: p.inside})
	}
	if err != nil {
		return p.fail(exitRefused, err.Error())
	}
	return 0
}

// attached is the connection of a container's guest: a socket of the host where one stands, which has nobody in between,
// or else standard input and output, as the engine carries them.
func attached() (io.ReadWriteCloser, error) {
	std, err := privateStdio()
	if err != nil {
		return nil, err
	}
	if conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", SessionSocket); err == nil {
		return conn, nil // what std leads to stays open as long as we live: it is how the engine sees us
	}
	return std, nil
}

// EnvironCommand is the argument of [Program] with which the supervisor prints the variables that it was started with,
// each with a NUL byte behind it: what the image has.
const EnvironCommand = "environ"

// inside is what the supervisor does itself.
func (p process) inside(args []string, dir string) (run func(in io.Reader, out, errs io.Writer) int, ok bool) {
	if len(args) == 2 && args[0] == Program && args[1] == EnvironCommand {
		return func(_ io.Reader, out, _ io.Writer) int { return printEnviron(p.env, out) }, true
	}
	return ownFiles(args, dir)
}

func printEnviron(env []string, out io.Writer) int {
	for _, kv := range env {
		if _, err := io.WriteString(out, kv+"\x00"); err != nil {
			return exitRefused
		}
	}
	return 0
}

// ownFiles lets the supervisor serve files itself: it is inside the same walls as a command.
func ownFiles(args []string, dir string) (run func(in io.Reader, out, errs io.Writer) int, ok bool) {
	if len(args) < 2 || args[0] != Program || args[1] != filesCommand {
		return nil, false
	}
	args = slices.Clone(args[2:])
	for i := range args {
		if i == 1 || i == 2 && args[0] == opRename {
			args[i] = below(dir, args[i])
		}
	}
	return func(in io.Reader, out, errs io.Writer) int { return serveFiles(args, in, out, errs) }, true
}

// below makes a name absolute as the kernel would: without cleaning it, because ".." after a link is not
// what it seems.
func below(dir, name string) string {
	if name == "" || strings.HasPrefix(name, "/") {
		return name
	}
	return dir + "/" + name
}
