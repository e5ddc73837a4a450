package system

import (
	"encoding/binary"
	"fmt"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func hostidCommand() program.Description {
	return program.Description{
		Name: "hostid", Usage: "[OPTION]", Summary: "print the number of the machine in hexadecimal", Run: runHostid,
	}
}

// runHostid prints what gethostid(3) makes of the address: its halves, exchanged. The only address is that of the machine itself.
func runHostid(p *shell.Proc) int {
	if status, done := program.NoOperands(p, hostidCommand); done {
		return status
	}
	address := binary.LittleEndian.Uint32([]byte{127, 0, 0, 1})
	return program.PrintLine(p, fmt.Sprintf("%08x", address<<16|address>>16))
}
