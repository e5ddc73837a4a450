//go:build !linux

package worker

import (
	"net"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

var errNotLinux = sandbox.Errorf(sandbox.Unsupported, "worker processes need Linux, which limits the memory of a process")

func inherit() (net.Conn, error) { return nil, errNotLinux }

func restrict(sandbox.Bytes) error { return errNotLinux }

func (w *worker) launch() (net.Conn, error) { return nil, errNotLinux }
