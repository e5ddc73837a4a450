// Package system makes the file system that every machine in memory begins with: directories, small files that
// programs read, and a file in /usr/bin for each program.
package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/hint"
	"github.com/seed434b0696/agent-sandbox/internal/memory/zone"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// Hostname is the name of every machine.
const Hostname = "sandbox"

// User is the owner of a machine's home directory, under whose numbers commands run.
type User struct {
	UID, GID uint32
	Name     string
	Home     string // absolute
}

// Root is the user with all rights.
var Root = User{Name: "root", Home: "/root"} //nolint:gochecknoglobals // A constant; Go has none of structs.

// Cred returns the rights of the user.
func (u User) Cred() vfs.Cred { return vfs.Cred{UID: u.UID, GID: u.GID} }

// NewShell returns a shell that finds the programs of every machine. It sets Programs, Hostname, Zone and Hint of o.
func NewShell(o shell.Options) *shell.Shell {
	o.Programs, o.Hostname, o.Zone, o.Hint = programs(), Hostname, zone.Load, hint.For
	return shell.New(o)
}

var index struct {
	once sync.Once
	all  *shell.Programs
}

// programs returns the programs of every machine, which are indexed once. It is not a variable with a function in it: the
// initialization of one would link all programs into each importer of this package.
func programs() *shell.Programs {
	index.once.Do(func() { index.all = shell.NewPrograms(coreutils.Commands()) })
	return index.all
}

// System is the content of a machine's file system before the first command. It is safe for concurrent use.
type System struct {
	Tree  *vfs.Snapshot // root may change all of it
	Fixed *vfs.Snapshot // all but /tmp, /var/tmp and the user's home is read-only, for root too
	Usage vfs.Usage     // bytes and nodes that it takes
}

var systems struct {
	mu sync.Mutex
	of map[User]*System
}

// For returns the system of a user. It is built at the first call and shared by all later ones.
func For(u User) (*System, error) {
	systems.mu.Lock()
	defer systems.mu.Unlock()
	if s := systems.of[u]; s != nil {
		return s, nil
	}
	f := vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: -1, FileBytes: -1, Nodes: -1}})
	if err := build(f, u); err != nil {
		return nil, fmt.Errorf("prepare the system: %w", err)
	}
	s := &System{Tree: f.Snapshot(), Usage: f.Usage()}
	if err := makeFixed(f, "/", u); err != nil {
		return nil, err
	}
	s.Fixed = f.Snapshot()
	if systems.of == nil {
		systems.of = map[User]*System{}
	}
	systems.of[u] = s
	return s, nil
}

// NewFS returns a file system that begins as tree, which is s.Tree or s.Fixed. The system's own files do not count
// against the limits of o.
func (s *System) NewFS(tree *vfs.Snapshot, o vfs.Options) *vfs.FS {
	l := &o.Limits
	if l.Nodes == 0 {
		l.Nodes = vfs.DefaultNodes
	}
	if l.Nodes > 0 {
		l.Nodes += s.Usage.Nodes
	}
	if l.Bytes == 0 {
		l.Bytes = vfs.DefaultBytes
	}
	if l.Bytes > 0 {
		l.Bytes += s.Usage.Bytes
	}
	return tree.FS(o)
}

// build makes the directories and files that programs expect.
func build(f *vfs.FS, u User) error {
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
	return OwnDir(f, u, u.Home)
}

// makeFixed makes a directory and all below it read-only, but for the places where users work.
func makeFixed(f *vfs.FS, dir string, u User) error {
	switch dir {
	case "/tmp", "/var/tmp", u.Home:
		return Protect(f, dir, vfs.Pinned)
	}
	list, err := f.ReadDir(vfs.Cred{}, dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		at := path.Join(dir, e.Name)
		switch {
		case e.IsDir():
			err = makeFixed(f, at, u)
		case e.Mode&fs.ModeDevice == 0: // Nothing of a device changes when it is written to.
			err = Protect(f, at, vfs.Fixed)
		}
		if err != nil {
			return err
		}
	}
	return Protect(f, dir, vfs.Fixed)
}

// Protect sets the protection of the file at a path.
func Protect(f *vfs.FS, at string, p vfs.Protection) error {
	_, err := f.Protect(at, p)
	return err
}

// MakeDir makes a directory with its parents in a tree that may be read-only. A new directory is as protected
// as the one that holds it.
func MakeDir(f *vfs.FS, dir string) error {
	for at := "/"; ; {
		rest, ok := Relative(dir, at)
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
	err = errors.Join(err, Protect(f, parent, before))
	if err == nil && before != vfs.Free {
		err = Protect(f, dir, before)
	}
	return err
}

// OwnDir makes a directory that belongs to the user; its parents belong to root.
func OwnDir(f *vfs.FS, u User, dir string) error {
	if err := MakeDir(f, dir); err != nil {
		return err
	}
	before, err := f.Protect(dir, vfs.Free)
	if err == nil {
		err = f.Chown(vfs.Cred{}, dir, u.UID, u.GID, true)
	}
	if err == nil && before != vfs.Free {
		err = Protect(f, dir, vfs.Pinned)
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

// systemFiles returns the content of small files that programs read, by path.
func systemFiles(u User) map[string]string {
	passwd := "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
	group := "root:x:0:\nnogroup:x:65534:\n"
	if u.UID != 0 {
		id, gid := strconv.Itoa(int(u.UID)), strconv.Itoa(int(u.GID))
		passwd += u.Name + ":x:" + id + ":" + gid + "::" + u.Home + ":/bin/bash\n"
		group += u.Name + ":x:" + gid + ":\n"
	}
	return map[string]string{
		"/etc/passwd": passwd, "/etc/group": group, "/etc/hostname": Hostname + "\n",
		"/etc/hosts":      "127.0.0.1\tlocalhost\n::1\tlocalhost\n127.0.1.1\t" + Hostname + "\n",
		"/etc/shells":     "/bin/sh\n/bin/bash\n",
		"/etc/os-release": "PRETTY_NAME=\"agent-sandbox in memory\"\nNAME=\"agent-sandbox\"\nID=agent-sandbox\n",
	}
}

// SearchPath returns env with a PATH that leads to the programs of the machine: few directories of the host's PATH
// exist here.
func SearchPath(env []string) []string {
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

// Environment puts more over env; both are lists of NAME=value. It returns a new slice.
func Environment(env, more []string) []string {
	out := slices.Clone(env)
	for _, kv := range more {
		name, _, _ := strings.Cut(kv, "=")
		out = slices.DeleteFunc(out, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		out = append(out, kv)
	}
	return out
}

// Relative returns a path as seen from dir, "." for dir itself. False: the path is neither dir nor below it.
func Relative(p, dir string) (string, bool) {
	if p == dir {
		return ".", true
	}
	rest, ok := strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
	return rest, ok
}
