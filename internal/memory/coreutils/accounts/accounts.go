// Package accounts reads the users and groups of a machine from /etc/passwd and /etc/group in its file
// system.
package accounts

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// FormatID writes the number of a user or group.
func FormatID(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// Database holds the users and groups of the machine: its /etc/passwd and /etc/group.
type Database struct {
	proc   *shell.Proc
	users  []Account // nil: not read yet
	groups []Account
}

// Account is a line of /etc/passwd or /etc/group.
type Account struct {
	Name    string
	ID      uint32
	Gid     uint32   // of a user
	home    string   // of a user
	shell   string   // of a user
	members []string // of a group
}

// New returns the users and groups of the machine that p runs on. They are read when they are first needed.
func New(p *shell.Proc) *Database { return &Database{proc: p} }

// MaxFile bounds the read part of a file, which any program may have written.
const MaxFile = 1 << 20

// accountMemory is about how many bytes an account takes beside its line, in a list that grows.
const accountMemory = 400

// read returns the lines of a colon-separated file that have enough fields. Without the
// file there is root alone.
func (a *Database) read(path string, least int) []Account {
	list := make([]Account, 0, 8)
	f, err := a.proc.Open(path)
	if err != nil {
		return append(list, Account{Name: "root", home: "/root", shell: "/bin/sh"})
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, MaxFile))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), ":") // bounded: by a line of 64 KiB
		if len(fields) < least {
			continue
		}
		id, err := strconv.ParseUint(fields[2], 10, 32)
		if err != nil {
			continue
		}
		e := Account{Name: fields[0], ID: uint32(id)}
		if len(fields) >= 7 {
			gid, err := strconv.ParseUint(fields[3], 10, 32)
			if err != nil {
				continue
			}
			e.Gid, e.home, e.shell = uint32(gid), fields[5], fields[6]
		} else {
			e.members = strings.Split(fields[3], ",") // bounded: by a line of 64 KiB
		}
		if a.proc.Reserve(accountMemory) != nil {
			break
		}
		list = append(list, e)
	}
	return list
}

// AllUsers returns the users in the order of the file; root alone when there is no file.
func (a *Database) AllUsers() []Account {
	if a.users == nil {
		a.users = a.read("/etc/passwd", 7)
	}
	return a.users
}

// AllGroups returns the groups in the order of the file; root alone when there is no file.
func (a *Database) AllGroups() []Account {
	if a.groups == nil {
		a.groups = a.read("/etc/group", 4)
	}
	return a.groups
}

// ByID returns the first account of the list that has the number.
func ByID(list []Account, id uint32) (Account, bool) {
	for _, e := range list {
		if e.ID == id {
			return e, true
		}
	}
	return Account{}, false
}

// ByName returns the first account of the list that has the name.
func ByName(list []Account, name string) (Account, bool) {
	for _, e := range list {
		if e.Name == name {
			return e, true
		}
	}
	return Account{}, false
}

// User returns the name of a user, or its number.
func (a *Database) User(id uint32) string {
	if e, ok := ByID(a.AllUsers(), id); ok {
		return e.Name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// Group returns the name of a group, or its number.
func (a *Database) Group(id uint32) string {
	if e, ok := ByID(a.AllGroups(), id); ok {
		return e.Name
	}
	return strconv.FormatUint(uint64(id), 10)
}

// UserID returns the number of the user that a name or a decimal number denotes.
func (a *Database) UserID(s string) (uint32, bool) { return accountID(a.AllUsers(), s) }

// GroupID returns the number of the group that a name or a decimal number denotes.
func (a *Database) GroupID(s string) (uint32, bool) { return accountID(a.AllGroups(), s) }

func accountID(list []Account, s string) (uint32, bool) {
	if e, ok := ByName(list, s); ok {
		return e.ID, true
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "+"), 10, 32)
	// The highest number stands for "no change" in chown(2).
	if err != nil || n == 1<<32-1 {
		return 0, false
	}
	return uint32(n), true
}

// GroupsOf returns the groups that a user is in: the first is the user's own.
func (a *Database) GroupsOf(u Account) []uint32 {
	ids := []uint32{u.Gid}
	for _, g := range a.AllGroups() {
		for _, m := range g.members {
			if m == u.Name && g.ID != u.Gid {
				ids = append(ids, g.ID)
				break
			}
		}
	}
	return ids
}
