package virtual

import (
	"os"

	"github.com/seed434b0696/agent-sandbox/internal/memory/system"
)

// newUser returns the user of commands. It has the numbers of this process, so that files of the host keep their owner.
func newUser() system.User {
	u := system.User{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Name: "user", Home: "/home/user"}
	if u.UID == 0 {
		u.Name, u.Home = system.Root.Name, system.Root.Home
	}
	return u
}
