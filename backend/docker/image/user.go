package image

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// User is the account that runs the commands of a sandbox.
type User struct {
	UID, GID int
	Name     string
	Home     string
	Entry    string // its line for /etc/passwd; empty: the image has one
	Group    string // its line for /etc/group; empty: the image has one
}

// defaultUser is the user of a sandbox without a workspace whose image names no user except root: the first user of a
// person on most systems.
const defaultUser = 1000

// account is a line of passwd(5).
type account struct {
	name, home string
	uid, gid   int
}

func accounts(passwd string) []account {
	var out []account
	for line := range strings.Lines(passwd) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 7 {
			continue
		}
		uid, uerr := strconv.Atoi(f[2])
		gid, gerr := strconv.Atoi(f[3])
		if uerr == nil && gerr == nil {
			out = append(out, account{name: f[0], uid: uid, gid: gid, home: f[5]})
		}
	}
	return out
}

// SandboxUser returns the owner of the workspace, so that files belong to the same user on both sides. Without a workspace
// it returns the image's user, but never root. In a rootless engine the engine's own user appears as root.
func (i *Image) SandboxUser(workspace string, rootless bool) (User, error) {
	u := User{UID: defaultUser, GID: defaultUser}
	if workspace == "" {
		u.UID, u.GID = i.ownUser()
	} else {
		info, err := os.Stat(workspace)
		if err != nil {
			return u, sandbox.Errorf(sandbox.NotFound, "workspace: %w", err)
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return u, sandbox.Errorf(sandbox.Unsupported, "%s has no owner", workspace)
		}
		u.UID, u.GID = int(st.Uid), int(st.Gid)
		if rootless {
			if u.UID != os.Geteuid() {
				return u, sandbox.Errorf(sandbox.Unsupported, "%s belongs to uid %d, which a rootless engine does not map", workspace, u.UID).
					WithHint("work in a directory of your own")
			}
			u.UID, u.GID = 0, 0
		}
	}
	u.Name, u.Home = "sandbox", "/home/sandbox"
	known := false
	for _, a := range accounts(i.Passwd) {
		if a.uid == u.UID && !known {
			known, u.Name = true, a.name
			if strings.HasPrefix(a.home, "/") && a.home != "/" && a.home != "/nonexistent" {
				u.Home = a.home
			}
		}
	}
	for _, kv := range i.Env { // an image for any user has one home directory for all
		if home, ok := strings.CutPrefix(kv, "HOME="); ok && strings.HasPrefix(home, "/") && home != "/" {
			u.Home = home
		}
	}
	if !known {
		u.Entry = fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh\n", u.Name, u.UID, u.GID, u.Home)
	}
	if !hasGroup(i.Group, u.GID) {
		u.Group = fmt.Sprintf("%s:x:%d:\n", u.Name, u.GID)
	}
	return u, nil
}

// ownUser returns the user of the image's USER instruction, defaultUser for root and for an unknown name.
func (i *Image) ownUser() (uid, gid int) {
	name, group, _ := strings.Cut(i.User, ":")
	for _, a := range accounts(i.Passwd) {
		if a.uid != 0 && (a.name == name || strconv.Itoa(a.uid) == name) {
			return a.uid, a.gid
		}
	}
	uid, err := strconv.Atoi(name)
	if err != nil || uid <= 0 {
		return defaultUser, defaultUser
	}
	if gid, err = strconv.Atoi(group); err != nil || gid <= 0 {
		gid = uid
	}
	return uid, gid
}

func hasGroup(group string, gid int) bool {
	for line := range strings.Lines(group) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) > 2 && f[2] == strconv.Itoa(gid) {
			return true
		}
	}
	return false
}

// Identity returns the user as "UID:GID", for which the engine needs no account in the image.
func (u User) Identity() string { return fmt.Sprintf("%d:%d", u.UID, u.GID) }
