package docker

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// user is who runs the commands of a sandbox.
type user struct {
	uid, gid int
	name     string
	home     string
	entry    string // its line in /etc/passwd; empty: the image has one
	group    string // the line of its group; empty: the image has one
}

// nobodyElse is the user of sandboxes without a workspace whose image names none: the first of people on most systems.
const nobodyElse = 1000

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

// user is the owner of the workspace, so that files belong to the same user on both sides. Without a workspace it
// is the image's, but never root. A rootless engine shows what belongs to its own user as root's.
func (i *image) user(workspace string, rootless bool) (user, error) {
	u := user{uid: nobodyElse, gid: nobodyElse}
	if workspace == "" {
		u.uid, u.gid = i.ownUser()
	} else {
		info, err := os.Stat(workspace)
		if err != nil {
			return u, sandbox.Errorf(sandbox.NotFound, "workspace: %w", err)
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return u, sandbox.Errorf(sandbox.Unsupported, "%s has no owner", workspace)
		}
		u.uid, u.gid = int(st.Uid), int(st.Gid)
		if rootless {
			if u.uid != os.Geteuid() {
				return u, sandbox.Errorf(sandbox.Unsupported, "%s belongs to uid %d, whom a rootless engine does not know", workspace, u.uid).
					WithHint("work in a directory of your own")
			}
			u.uid, u.gid = 0, 0
		}
	}
	u.name, u.home = "sandbox", "/home/sandbox"
	known := false
	for _, a := range accounts(i.Passwd) {
		if a.uid == u.uid && !known {
			known, u.name = true, a.name
			if strings.HasPrefix(a.home, "/") && a.home != "/" && a.home != "/nonexistent" {
				u.home = a.home
			}
		}
	}
	for _, kv := range i.Env { // an image for whoever comes has one home for all
		if home, ok := strings.CutPrefix(kv, "HOME="); ok && strings.HasPrefix(home, "/") && home != "/" {
			u.home = home
		}
	}
	if !known {
		u.entry = fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh\n", u.name, u.uid, u.gid, u.home)
	}
	if !hasGroup(i.Group, u.gid) {
		u.group = fmt.Sprintf("%s:x:%d:\n", u.name, u.gid)
	}
	return u, nil
}

// ownUser is what the image's USER says; root and what cannot be read are nobodyElse.
func (i *image) ownUser() (uid, gid int) {
	name, group, _ := strings.Cut(i.User, ":")
	for _, a := range accounts(i.Passwd) {
		if a.uid != 0 && (a.name == name || strconv.Itoa(a.uid) == name) {
			return a.uid, a.gid
		}
	}
	uid, err := strconv.Atoi(name)
	if err != nil || uid <= 0 {
		return nobodyElse, nobodyElse
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

// identity is the user as the engine takes it: numbers, which need no account.
func (u user) identity() string { return fmt.Sprintf("%d:%d", u.uid, u.gid) }
