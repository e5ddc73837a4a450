package virtual

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// hostname is what every machine is called.
const hostname = "sandbox"

// user is who commands run as.
type user struct {
	uid, gid uint32
	name     string
	home     string
}

// root is the user of a [Machine].
var root = user{name: "root", home: "/root"}

// hostUser is a user with the numbers of this process, so that files of the host keep their owner.
func hostUser() user {
	u := user{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid()), name: "user", home: "/home/user"}
	if u.uid == 0 {
		u.name, u.home = root.name, root.home
	}
	return u
}

func (u user) cred() vfs.Cred { return vfs.Cred{UID: u.uid, GID: u.gid} }

// programs are those of every machine.
var programs = sync.OnceValue(func() *shell.Programs { return shell.NewPrograms(coreutils.Commands()) })

// system is what a machine has before anything is done in it.
type system struct {
	tree  *vfs.Snapshot // all of it is the user's to change, if the user is root
	fixed *vfs.Snapshot // nobody changes it but in /tmp and the home directory
	usage vfs.Usage
}

var systems struct {
	mu sync.Mutex
	of map[user]*system
}

// systemFor returns the system for a user, which is made once.
func systemFor(u user) (*system, error) {
	systems.mu.Lock()
	defer systems.mu.Unlock()
	if s := systems.of[u]; s != nil {
		return s, nil
	}
	f := vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: -1, FileBytes: -1, Nodes: -1}})
	if err := furnish(f, u); err != nil {
		return nil, fmt.Errorf("prepare the system: %w", err)
	}
	s := &system{tree: f.Snapshot(), usage: f.Usage()}
	if err := fix(f, "/", u); err != nil {
		return nil, err
	}
	s.fixed = f.Snapshot()
	if systems.of == nil {
		systems.of = map[user]*system{}
	}
	systems.of[u] = s
	return s, nil
}

// on returns a file system that begins as a tree of the system, which does not count against limits.
func (s *system) on(tree *vfs.Snapshot, o vfs.Options) *vfs.FS {
	l := &o.Limits
	if l.Nodes == 0 {
		l.Nodes = vfs.DefaultNodes
	}
	if l.Nodes > 0 {
		l.Nodes += s.usage.Nodes
	}
	if l.Bytes == 0 {
		l.Bytes = vfs.DefaultBytes
	}
	if l.Bytes > 0 {
		l.Bytes += s.usage.Bytes
	}
	return tree.FS(o)
}

// furnish makes what programs expect to be there.
func furnish(f *vfs.FS, u user) error {
	admin := vfs.Cred{}
	for _, dir := range []string{
		"/bin", "/etc", "/home", "/root", "/run", "/tmp",
		"/usr/bin", "/usr/lib", "/usr/local/bin", "/usr/share", "/var/tmp",
	} {
		if dir == "/bin" {
			continue // a link
		}
		if err := f.MkdirAll(admin, dir, 0o755); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/tmp", "/var/tmp"} {
		if err := f.Chmod(admin, dir, 0o777|fs.ModeSticky); err != nil {
			return err
		}
	}
	for link, target := range map[string]string{
		"/bin": "usr/bin", "/sbin": "usr/bin", "/lib": "usr/lib", "/usr/sbin": "bin",
		"/etc/mtab": "../proc/mounts",
	} {
		if err := f.Symlink(admin, target, link); err != nil {
			return err
		}
	}
	if err := shell.AddDevices(f); err != nil {
		return err
	}
	for name, text := range systemFiles(u) {
		if err := f.WriteFile(context.Background(), admin, name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	if err := addPrograms(f); err != nil {
		return err
	}
	return ownDir(f, u, u.home)
}

// fix protects a directory and what is below but for places where users work.
func fix(f *vfs.FS, dir string, u user) error {
	switch dir {
	case "/tmp", "/var/tmp", u.home:
		return protect(f, dir, vfs.Pinned)
	}
	list, err := f.ReadDir(vfs.Cred{}, dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		at := path.Join(dir, e.Name)
		switch {
		case e.IsDir():
			err = fix(f, at, u)
		case e.Mode&fs.ModeDevice == 0: // Nothing of a device changes when it is written to.
			err = protect(f, at, vfs.Fixed)
		}
		if err != nil {
			return err
		}
	}
	return protect(f, dir, vfs.Fixed)
}

func protect(f *vfs.FS, at string, p vfs.Protection) error {
	_, err := f.Protect(at, p)
	return err
}

// makeDir makes a directory with all above it in a tree that may be fixed. New ones are as protected
// as the one that holds them.
func makeDir(f *vfs.FS, dir string) error {
	for at := "/"; ; {
		rest, ok := relative(dir, at)
		if !ok || rest == "." {
			return nil
		}
		name, _, _ := strings.Cut(rest, "/")
		next := path.Join(at, name)
		_, err := f.Stat(vfs.Cred{}, next)
		if errors.Is(err, fs.ErrNotExist) {
			err = makeIn(f, at, next)
		}
		if err != nil {
			return err
		}
		at = next
	}
}

func makeIn(f *vfs.FS, parent, dir string) error {
	before, err := f.Protect(parent, vfs.Free)
	if err != nil {
		return err
	}
	err = f.Mkdir(vfs.Cred{}, dir, 0o755)
	err = errors.Join(err, protect(f, parent, before))
	if err == nil && before != vfs.Free {
		err = protect(f, dir, before)
	}
	return err
}

// ownDir makes a directory that belongs to the user; those above it are root's.
func ownDir(f *vfs.FS, u user, dir string) error {
	if err := makeDir(f, dir); err != nil {
		return err
	}
	before, err := f.Protect(dir, vfs.Free)
	if err == nil {
		err = f.Chown(vfs.Cred{}, dir, u.uid, u.gid, true)
	}
	if err == nil && before != vfs.Free {
		err = protect(f, dir, vfs.Pinned)
	}
	return err
}

// addPrograms makes a file for every program where scripts look for it.
func addPrograms(f *vfs.FS) error {
	for _, c := range programs().Commands() {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			if err := f.WriteFile(context.Background(), vfs.Cred{}, "/usr/bin/"+name, shell.Stub(name), 0o755); err != nil {
				return err
			}
		}
	}
	return nil
}

// systemFiles are small files that programs read.
func systemFiles(u user) map[string]string {
	passwd := "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
	group := "root:x:0:\nnogroup:x:65534:\n"
	if u.uid != 0 {
		id, gid := strconv.Itoa(int(u.uid)), strconv.Itoa(int(u.gid))
		passwd += u.name + ":x:" + id + ":" + gid + "::" + u.home + ":/bin/bash\n"
		group += u.name + ":x:" + gid + ":\n"
	}
	return map[string]string{
		"/etc/passwd": passwd, "/etc/group": group, "/etc/hostname": hostname + "\n",
		"/etc/hosts":      "127.0.0.1\tlocalhost\n::1\tlocalhost\n127.0.1.1\t" + hostname + "\n",
		"/etc/shells":     "/bin/sh\n/bin/bash\n",
		"/etc/os-release": "PRETTY_NAME=\"agent-sandbox in memory\"\nNAME=\"agent-sandbox\"\nID=agent-sandbox\n",
	}
}

// searchPath makes sure that programs are found: those of the host's PATH that exist here are few.
func searchPath(env []string) []string {
	const standard = "/usr/local/bin:/usr/bin:/bin"
	out := make([]string, 0, len(env)+1)
	found := false
	for _, kv := range env {
		list, ok := strings.CutPrefix(kv, "PATH=")
		if !ok {
			out = append(out, kv)
			continue
		}
		if found {
			continue // the first one counts, as in getenv(3)
		}
		found = true
		if !hasBin(list) {
			list = strings.TrimSuffix(list+":"+standard, ":")
		}
		out = append(out, "PATH="+list)
	}
	if !found {
		out = append(out, "PATH="+standard)
	}
	return out
}

func hasBin(list string) bool {
	for dir := range strings.SplitSeq(list, ":") {
		if d := path.Clean(dir); d == "/usr/bin" || d == "/bin" {
			return true
		}
	}
	return false
}
