package guest

import (
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/guest/session"
)

// runnerCommand is what the supervisor starts itself as, once for each command that runs.
const runnerCommand = "runner"

// serve is the supervisor of a resident sandbox: it speaks with the host over the inherited socket whose
// number is its argument, and ends with it.
func (p process) serve(args []string) int {
	fd := -1
	if len(args) == 1 {
		fd, _ = strconv.Atoi(args[0]) // what is no number is no descriptor
	}
	if fd <= 2 {
		return p.usage()
	}
	f := os.NewFile(uintptr(fd), "host")
	conn, err := net.FileConn(f)
	_ = f.Close()
	if err == nil {
		err = session.Serve(conn, session.Options{Runner: []string{Program, runnerCommand}, Inside: ownFiles})
	}
	if err != nil {
		return p.fail(exitRefused, err.Error())
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
