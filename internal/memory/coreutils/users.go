package coreutils

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// accounts are the users and groups of the machine: its /etc/passwd and /etc/group.
type accounts struct {
	proc   *shell.Proc
	users  []account // nil: not read yet
	groups []account
}

// account is a line of /etc/passwd or /etc/group.
type account struct {
	name    string
	id      uint32
	gid     uint32   // of a user
	home    string   // of a user
	shell   string   // of a user
	members []string // of a group
}

func newAccounts(p *shell.Proc) *accounts { return &accounts{proc: p} }

// accountFileMax bounds what is read of a file that anybody may have made.
const accountFileMax = 1 << 20

// read returns the lines of a colon-separated file that have enough fields. Without the
// file there is root alone.
func (a *accounts) read(path string, least int) []account {
	list := make([]account, 0, 8)
	f, err := a.proc.Open(path)
	if err != nil {
		return append(list, account{name: "root", home: "/root", shell: "/bin/sh"})
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, accountFileMax))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) < least {
			continue
		}
		id, err := strconv.ParseUint(fields[2], 10, 32)
		if err != nil {
			continue
		}
		e := account{name: fields[0], id: uint32(id)}
		if len(fields) >= 7 {
			gid, err := strconv.ParseUint(fields[3], 10, 32)
			if err != nil {
				continue
			}
			e.gid, e.home, e.shell = uint32(gid), fields[5], fields[6]
		} else {
			e.members = strings.Split(fields[3], ",")
		}
		list = append(list, e)
	}
	return list
}

func (a *accounts) allUsers() []account {
	if a.users == nil {
		a.users = a.read("/etc/passwd", 7)
	}
	return a.users
}

func (a *accounts) allGroups() []account {
	if a.groups == nil {
		a.groups = a.read("/etc/group", 4)
	}
	return a.groups
}

func byID(list []account, id uint32) (account, bool) {
	for _, e := range list {
		if e.id == id {
			return e, true
		}
	}
	return account{}, false
}

func byAccountName(list []account, name string) (account, bool) {
	for _, e := range list {
		if e.name == name {
			return e, true
		}
	}
	return account{}, false
}

// user returns the name of a user, or its number.
func (a *accounts) user(id uint32) string {
	if e, ok := byID(a.allUsers(), id); ok {
		return e.name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// group returns the name of a group, or its number.
func (a *accounts) group(id uint32) string {
	if e, ok := byID(a.allGroups(), id); ok {
		return e.name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// userID returns the number of a user who is named or numbered.
func (a *accounts) userID(s string) (uint32, bool) { return accountID(a.allUsers(), s) }

// groupID returns the number of a group that is named or numbered.
func (a *accounts) groupID(s string) (uint32, bool) { return accountID(a.allGroups(), s) }

func accountID(list []account, s string) (uint32, bool) {
	if e, ok := byAccountName(list, s); ok {
		return e.id, true
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 32)
	// The highest number stands for "no change" in chown(2).
	if err != nil || n == 1<<32-1 {
		return 0, false
	}
	return uint32(n), true
}

// groupsOf returns the groups that a user is in: the first is the user's own.
func (a *accounts) groupsOf(u account) []uint32 {
	ids := []uint32{u.gid}
	for _, g := range a.allGroups() {
		for _, m := range g.members {
			if m == u.name && g.id != u.gid {
				ids = append(ids, g.id)
				break
			}
		}
	}
	return ids
}
