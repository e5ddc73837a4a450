// Package supervisor is the guest's process that starts, watches and kills the commands of a resident sandbox.
package supervisor

import (
	"context"
	"io"
	"net"
	"os"
	"runtime"
	"strconv"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
)

// RunnerCommand is the operation with which the supervisor starts itself, once for each running command.
const RunnerCommand = "runner"

// Serve is the supervisor of a resident sandbox. It communicates with the host over the inherited socket whose number
// is its argument, or over standard input and output, and ends with that connection.
func Serve(p process.Process, args []string) int {
	runtime.GOMAXPROCS(1) // The supervisor only forwards data; more threads would only wake each other.
	if len(args) != 1 {
		return p.Usage()
	}
	var conn io.ReadWriteCloser
	var err error
	if args[0] == "-" {
		conn, err = attached()
	} else {
		fd, _ := strconv.Atoi(args[0]) // 0 for an argument that is not a number
		if fd <= 2 {
			return p.Usage()
		}
		f := os.NewFile(uintptr(fd), "host")
		conn, err = net.FileConn(f)
		_ = f.Close()
	}
	return serveOn(p, conn, args[0] == "-", err)
}

// serveOn serves a connection, or reports err. container is that of [session.Options].
func serveOn(p process.Process, conn io.ReadWriteCloser, container bool, err error) int {
	if err == nil {
		err = session.Serve(conn, session.Options{
			Runner: []string{layout.Program, RunnerCommand}, Inside: OwnCommands(p.Env), Container: container,
		})
	}
	if err != nil {
		return p.Fail(process.ExitRefused, err.Error())
	}
	return 0
}

// attached returns the connection of a container's guest: the host's socket if it is mounted, otherwise standard input
// and output, which the engine relays.
func attached() (io.ReadWriteCloser, error) {
	std, err := process.PrivateStdio()
	if err != nil {
		return nil, err
	}
	if conn, err := (&net.Dialer{}).DialContext(context.Background(), "unix", layout.SessionSocket); err == nil {
		return conn, nil // the standard streams stay open until this process ends: the engine watches them
	}
	return std, nil
}

// EnvironCommand is the argument of [Program] with which the supervisor prints the variables that it was started with,
// each followed by a NUL byte: the variables of the image.
const EnvironCommand = "environ"

// OwnCommands returns a function that recognizes the command lines that the supervisor executes itself:
// "environ" prints env, "files" is an operation on files.
func OwnCommands(env []string) func(args []string, dir string) (run func(in io.Reader, out, errs io.Writer) int, ok bool) {
	return func(args []string, dir string) (run func(in io.Reader, out, errs io.Writer) int, ok bool) {
		if len(args) == 2 && args[0] == layout.Program && args[1] == EnvironCommand {
			return func(_ io.Reader, out, _ io.Writer) int { return printEnviron(env, out) }, true
		}
		return files.OwnCommand(args, dir)
	}
}

func printEnviron(env []string, out io.Writer) int {
	for _, kv := range env {
		if _, err := io.WriteString(out, kv+"\x00"); err != nil {
			return process.ExitRefused
		}
	}
	return 0
}
