//go:build !linux

package guest

import "errors"

// network is what "init" prepares before it becomes the command.
type network struct{ net, ports int }

func (n network) prepare() error {
	if n.net < 0 && n.ports < 0 {
		return nil
	}
	return errors.ErrUnsupported
}

func servePorts(p process) int {
	return p.fail(exitNetwork, "ports: only Linux has network namespaces")
}

func (p process) connect([]string) int {
	return p.fail(exitNetwork, "connect: only Linux has network namespaces")
}
