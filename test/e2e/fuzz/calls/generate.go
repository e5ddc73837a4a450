//go:build linux

package calls

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Protected are paths below a project that a sandbox must neither create nor change. {git} is the repository's git
// directory, {common} the one that linked work trees share.
var Protected = []string{ //nolint:gochecknoglobals // a table
	".git", "{git}/hooks", "{git}/hooks/pre-commit", "{git}/config", "{git}/config.worktree", "{git}/commondir", "{git}/info/attributes",
	"{git}/modules/x", "{git}/worktrees/x", "{git}/worktrees/x/gitdir", "{git}/objects/info/alternates", "{git}/remotes", "{git}/branches/x",
	"{common}/hooks", "{common}/config", "{common}/info/exclude",
	".mcp.json", ".vscode", ".vscode/tasks.json", ".claude", ".claude/settings.json", ".envrc", ".husky", ".agent-sandbox.json", ".agent-sandbox",
	".github/workflows", ".github/workflows/x.yml", ".bashrc", ".gitmodules", ".pre-commit-config.yaml",
	"sub/.git", "sub/nested/.git", "sub/nested/.git/config", "sub/nested/.git/hooks", "sub/nested/.vscode", "sub/nested/.mcp.json",
	"src/bare/objects", "new/.git", "new", "d/.git", ".git/x/.git", "{git}/d/.git", "{home}/.cache/d/.git", "{home}/.bashrc", "{home}/.config/git",
	"{home}/outside/file", "{home}/outside/new",
}

// parts are the names that make a directory a repository.
var parts = []string{"HEAD", "objects", "refs", "commondir", "config", "hooks", "info", "worktrees", ".git", "head", "Objects"} //nolint:gochecknoglobals // a table

var (
	ordinary = []string{"a", "b", "c", "d", "d/e", "d/e/f", "new", "src/x", "sub/x", ".github", ".git2", "l", "l/x", "m", "{git}/y", "{git}/d", "{home}/.cache/d", //nolint:gochecknoglobals // a table
		"{home}/.cache/l", "{tmp}/t", "{tmp}/d", "src", "src/bare", "sub", "sub/nested", "{git}/info", "{git}/modules", "{git}/refs/heads/z", "{git}/objects/info"}
	odd = []string{"n\nn", "\xff\xfe", "a ", " ", "...", ".git ", ".git.", "-rf", ".git\n", ".GIT", ".Mcp.Json", "a (deleted)", ".git\u200c", "{git}/HEAD", //nolint:gochecknoglobals // a table
		"{git}/objects", "{git}/refs", "{git}/index", "{home}/outside", "{home}/outside/link", "{home}/outside/pipe", "..", ".", "", "/"}
	// Contents are configurations with which the host's git would run the canary, or read other places.
	contents = []string{ //nolint:gochecknoglobals // a table
		"#!/bin/sh\nexec {canary}\n", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {work}\n\tfsmonitor = {canary}\n\thooksPath = {tools}\n", "ref: refs/heads/main\n",
		"gitdir: {work}/d\n", "gitdir: {work}/src/bare\n", "{work}/d\n", "x\n",
	}
	opens = []uint64{unix.O_CREAT, unix.O_CREAT, unix.O_EXCL, unix.O_TRUNC, unix.O_APPEND, unix.O_DIRECTORY, unix.O_NOFOLLOW, unix.O_PATH, unix.O_TMPFILE, //nolint:gochecknoglobals // a table
		unix.O_CLOEXEC, unix.O_SYNC, unix.O_DIRECT, unix.O_NOATIME, unix.O_ASYNC, unix.O_LARGEFILE, unix.O_NOCTTY}
)

type generator struct {
	*rand.Rand
	mounts bool // the program may mount
}

// Generate returns the program of a seed. With mounts it also makes and removes mounts.
func Generate(seed uint64, mounts bool) Program {
	g := generator{rand.New(rand.NewPCG(seed, 7)), mounts} //nolint:gosec // programs are to be made again
	var p Program
	for i := range 2 + g.IntN(2) {
		t := Thread{Loop: i > 0 && g.one(2)}
		for budget := g.budget(t.Loop); len(t.Calls) < budget; {
			t.Calls = append(t.Calls, g.step()...)
		}
		p.Threads = append(p.Threads, t)
	}
	return p
}

func (g generator) budget(loop bool) int {
	if loop {
		return 1 + g.IntN(4)
	}
	return 20 + g.IntN(60)
}

// one returns true once in n times.
func (g generator) one(n int) bool { return g.IntN(n) == 0 }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) reg() int { return g.IntN(Registers) }

func (g generator) at() string {
	if g.one(3) {
		return "r" + strconv.Itoa(g.reg())
	}
	return "cwd"
}

// path returns a path in one of its many spellings.
func (g generator) path() string {
	var p string
	switch g.IntN(10) {
	case 0, 1, 2:
		p = g.pick(Protected...)
	case 3, 4:
		p = g.pick("d", "new", "src/bare", "{git}/d", "{home}/.cache/d", "d/e", "{git}", ".") + "/" + g.pick(parts...)
	case 5:
		p = g.pick(odd...)
	default:
		p = g.pick(ordinary...)
	}
	return g.spell(p)
}

func (g generator) spell(p string) string {
	if !strings.HasPrefix(p, "{") && p != "" && p[0] != '/' {
		switch g.IntN(12) {
		case 0:
			p = "{work}/" + p
		case 1:
			p = g.pick("/proc/self/cwd/", "/proc/{pid}/cwd/", "/proc/thread-self/cwd/", "/proc/{pid}/task/{tid}/cwd/") + p
		case 2:
			p = g.pick("/proc/self/root{work}/", "/proc/{pid}/root{work}/", "/proc/1/root{work}/") + p
		case 3:
			p = g.pick("/proc/self/fd/{r", "/dev/fd/{r") + strconv.Itoa(g.reg()) + "}/" + g.pick(p, p, "")
		case 4:
			p = g.pick("../project/", "./", "sub/../", "d/../", "l/", "l/../", "m/", "{home}/.cache/l/") + p
		}
	}
	if !g.one(4) {
		return p
	}
	switch g.IntN(6) {
	case 0:
		return strings.ReplaceAll(p, "/", "//")
	case 1:
		return p + g.pick("/", "//", "/.", "/./", "/..", "/../x")
	case 2:
		return strings.ReplaceAll(p, "/", "/./")
	case 3:
		return "{pad:" + strconv.Itoa([]int{3900, 4000, 4080, 4096, 4200}[g.IntN(5)]) + "}" + p
	case 4:
		return strings.ToUpper(p[:g.IntN(len(p)+1)]) + p
	}
	return p + g.pick("\x00x", "\n", " ", "\xff")
}

// step returns one call, or a few related calls.
func (g generator) step() []Call {
	switch g.IntN(12) {
	case 0:
		return g.repository()
	case 1:
		return g.temporary()
	case 2:
		return g.linkThrough()
	case 3:
		return g.moveInto()
	case 4:
		if g.mounts {
			return g.mount()
		}
	}
	return []Call{g.call()}
}

func (g generator) call() Call {
	c := Call{At: g.at(), Path: g.path(), From: g.at(), Mode: []uint64{0o755, 0o644, 0o700, 0, 0o4755, 0o2777, 0o1777}[g.IntN(7)], Reg: g.reg()}
	c.Name = g.pick("openat", "openat", "openat", "open", "creat", "openat2", "mkdirat", "mkdirat", "mkdir", "mknodat", "mknod", "symlinkat", "symlinkat", "symlink",
		"linkat", "linkat", "link", "renameat2", "renameat2", "renameat2", "renameat", "rename", "unlinkat", "unlinkat", "unlink", "rmdir", "bind", "connect",
		"chdir", "fchdir", "chroot", "dup", "close", "truncate", "ftruncate", "write", "copy_file_range", "fchmodat", "fchmodat", "fchownat", "utimensat", "setxattr",
		"io_uring_setup", "unshare", "setns", "open_by_handle_at", "setflags", "clonefile", "umask", "flock", "open_tree", "fsopen", "pivot_root", "mount", "umount2")
	switch c.Name {
	case "openat", "open", "openat2":
		c.Flags = []uint64{unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR, unix.O_RDWR, 3}[g.IntN(5)]
		for range g.IntN(4) {
			c.Flags |= opens[g.IntN(len(opens))]
		}
		if !g.one(20) {
			c.Flags |= unix.O_NONBLOCK
		}
		if c.Name == "openat2" && g.one(3) {
			c.Flags |= 1 << 40 // unknown to the kernel
		}
	case "mknodat", "mknod":
		c.Mode |= []uint64{unix.S_IFIFO, unix.S_IFIFO, unix.S_IFREG, unix.S_IFSOCK, unix.S_IFCHR, unix.S_IFBLK, 0}[g.IntN(7)]
	case "symlinkat", "symlink":
		c.Old = g.pick(g.path(), g.pick(Protected...), "..", ".", "{home}", "{home}/outside", "{git}", "d", "/")
	case "linkat", "link", "renameat", "rename", "copy_file_range", "clonefile", "mount":
		c.Old = g.path()
		if c.Name == "linkat" {
			c.Flags = []uint64{0, 0, unix.AT_SYMLINK_FOLLOW, unix.AT_EMPTY_PATH, unix.AT_EMPTY_PATH | unix.AT_SYMLINK_FOLLOW}[g.IntN(5)]
			if c.Flags&unix.AT_EMPTY_PATH != 0 {
				c.Old, c.From = "", "r"+strconv.Itoa(g.reg())
			}
		}
	case "renameat2":
		c.Old = g.path()
		c.Flags = []uint64{0, 0, unix.RENAME_EXCHANGE, unix.RENAME_EXCHANGE, unix.RENAME_NOREPLACE, unix.RENAME_WHITEOUT, 0x7}[g.IntN(7)]
	case "unlinkat":
		c.Flags = []uint64{0, unix.AT_REMOVEDIR}[g.IntN(2)]
	case "write":
		c.Old = g.pick(contents...)
	case "unshare":
		c.Flags = []uint64{unix.CLONE_FS, unix.CLONE_FILES, unix.CLONE_NEWNS, unix.CLONE_NEWUSER}[g.IntN(4)]
	case "umount2":
		c.Flags = unix.MNT_DETACH
	case "chdir", "fchdir", "chroot":
		if g.one(2) { // rarely, otherwise most paths do not exist
			c = Call{Name: "chdir", Path: "{work}"}
		}
	case "openpath":
	}
	if !g.one(5) || c.Name == "bind" || strings.Contains(c.Path, "{r") || strings.Contains(c.Path, "{pad") {
		return c
	}
	c.Flip = g.pick("zz", "d/zz", "src/bare/zz", "{git}/zz", g.pick(Protected...))
	if strings.HasPrefix(c.Flip, "{") != strings.HasPrefix(c.Path, "{") && (c.Path == "" || c.Path[0] == '/') {
		c.Flip = ""
	}
	return c
}

// repository creates the parts of a repository in one directory, in any order and with different calls.
func (g generator) repository() []Call {
	dir := g.pick("d", "new", "src/bare", "{git}/d", "{home}/.cache/d", "d/e", "new/.git", "a")
	out := []Call{{Name: "mkdirat", At: "cwd", Path: dir, Mode: 0o755}}
	for _, name := range []string{"HEAD", "objects", "refs", "commondir", "config"} {
		if g.one(8) {
			continue
		}
		path, reg := g.spell(dir+"/"+name), g.reg()
		other := g.pick("a", "b", dir+"/zz", "{tmp}/t", dir+"/"+name+"2")
		dirLike := name == "objects" || name == "refs"
		var steps []Call
		switch k := g.IntN(6); {
		case k == 0:
			steps = []Call{{Name: "symlinkat", At: "cwd", Path: path, Old: g.pick("{git}/"+name, "{work}/src/bare/"+name, ".", "zz")}}
		case dirLike && k < 4:
			steps = []Call{{Name: "mkdirat", At: "cwd", Path: path, Mode: 0o755}}
		case dirLike:
			steps = []Call{{Name: "mkdirat", At: "cwd", Path: other, Mode: 0o755}, {Name: "renameat2", From: "cwd", Old: other, At: "cwd", Path: path, Flags: g.exchange()}}
		case k == 1:
			steps = []Call{
				{Name: "openat", At: "cwd", Path: other, Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644, Reg: reg},
				{Name: "write", Reg: reg, Old: g.content(name)},
				{Name: "linkat", From: "cwd", Old: other, At: "cwd", Path: path},
			}
		case k == 2:
			steps = []Call{
				{Name: "openat", At: "cwd", Path: other, Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644, Reg: reg},
				{Name: "write", Reg: reg, Old: g.content(name)},
				{Name: "renameat2", From: "cwd", Old: other, At: "cwd", Path: path, Flags: g.exchange()},
			}
		default:
			steps = []Call{{Name: "openat", At: "cwd", Path: path, Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644, Reg: reg}, {Name: "write", Reg: reg, Old: g.content(name)}}
		}
		if g.one(3) {
			out = append(steps, out...)
		} else {
			out = append(out, steps...)
		}
	}
	if g.one(2) {
		out = append(out, Call{Name: "renameat2", From: "cwd", Old: dir, At: "cwd", Path: g.pick("b", ".git", "d/.git", "new", "{git}/y", "sub/x"), Flags: g.exchange()})
	}
	return out
}

func (g generator) exchange() uint64 { return []uint64{0, 0, unix.RENAME_EXCHANGE}[g.IntN(3)] }

func (g generator) content(name string) string {
	switch name {
	case "HEAD":
		return contents[2]
	case "commondir":
		return g.pick(contents[3:]...)
	}
	return contents[1]
}

// temporary creates a file without a name, fills it and gives it a name.
func (g generator) temporary() []Call {
	reg := g.reg()
	target := Call{Name: "linkat", From: "r" + strconv.Itoa(reg), At: "cwd", Path: g.path(), Flags: unix.AT_EMPTY_PATH}
	if g.one(2) {
		target.From, target.Old, target.Flags = "cwd", "/proc/self/fd/{r"+strconv.Itoa(reg)+"}", unix.AT_SYMLINK_FOLLOW
	}
	return []Call{
		{Name: "openat", At: "cwd", Path: g.pick(".", "d", "{git}", "{tmp}"), Flags: unix.O_TMPFILE | unix.O_RDWR, Mode: 0o755, Reg: reg},
		{Name: "write", Reg: reg, Old: g.pick(contents...)},
		target,
	}
}

// linkThrough creates a link and uses a path through it.
func (g generator) linkThrough() []Call {
	link := g.pick("l", "m", "d/l", "{home}/.cache/l", "{tmp}/l", "{git}/l", ".github", "{git}/info", "new")
	to := g.pick("{git}", "{git}/hooks", "{git}/info", ".", "..", "{home}", "{home}/outside", "sub/nested", "src/bare", "{home}/.cache", "{work}", "/proc/self/root{home}")
	c := g.call()
	c.At, c.Path, c.Flip = "cwd", link+"/"+g.pick(append(slices.Clone(parts), "hooks/pre-commit", "new", "file", ".mcp.json", "attributes", "x", "workflows")...), ""
	return []Call{{Name: "symlinkat", At: "cwd", Path: link, Old: to}, c}
}

// moveInto fills a directory and moves it to a place where its content is protected, or fills it through a descriptor
// afterwards.
func (g generator) moveInto() []Call {
	reg := g.reg()
	inner := g.pick("workflows", "attributes", "hooks", "config", "settings.json", "tasks.json", "x", "HEAD")
	to := g.pick(".github", "{git}/info", "{git}/modules", "{git}/worktrees", "{git}/objects/info", ".claude", ".vscode", "sub/nested", "sub", "{git}", "src/bare", "{git}/branches")
	out := []Call{
		{Name: "mkdirat", At: "cwd", Path: "a", Mode: 0o755},
		{Name: "openat", At: "cwd", Path: "a", Flags: unix.O_PATH | unix.O_DIRECTORY, Reg: reg},
		{Name: "openat", At: "r" + strconv.Itoa(reg), Path: inner, Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o755, Reg: (reg + 1) % Registers},
		{Name: "renameat2", From: "cwd", Old: "a", At: "cwd", Path: to, Flags: g.exchange()},
	}
	if g.one(2) {
		out[2], out[3] = out[3], out[2]
	}
	return out
}

// mount mounts file systems of the program, and leaves the mounts of the sandbox.
func (g generator) mount() []Call {
	reg := g.reg()
	r := "r" + strconv.Itoa(reg)
	switch g.IntN(4) {
	case 0:
		return []Call{
			{Name: "openat", At: "cwd", Path: g.pick("{work}", "{git}", "{home}", "{home}/.cache"), Flags: unix.O_PATH | unix.O_DIRECTORY, Reg: reg},
			{Name: "mount", Old: "tmpfs", Path: "{tmp}"},
			{Name: "mkdirat", At: "cwd", Path: "{tmp}/old", Mode: 0o755},
			{Name: "pivot_root", Path: "{tmp}", Old: "{tmp}/old"},
			{Name: "umount2", Path: "/old", Flags: unix.MNT_DETACH},
			{Name: "unlinkat", At: r, Path: g.pick(".mcp.json", ".git/config", "config", ".vscode/tasks.json", ".bashrc")},
			{Name: "unlinkat", At: r, Path: g.pick("hooks", ".git/hooks", ".vscode", "project/.vscode"), Flags: unix.AT_REMOVEDIR},
			{Name: "renameat2", From: r, Old: g.pick("hooks", ".git/hooks", ".vscode", ".git", ".mcp.json"), At: r, Path: "zz"},
			{Name: "openat", At: r, Path: g.pick(".mcp.json", ".git/config", ".envrc"), Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644, Reg: reg},
		}
	case 1:
		return []Call{
			{Name: "mkdirat", At: "cwd", Path: "{tmp}/d", Mode: 0o755},
			{Name: "mount", Old: g.pick("{work}", "{git}", "{home}", "{home}/.cache", "/"), Path: "{tmp}/d", Flags: unix.MS_BIND | uint64(g.IntN(2))*unix.MS_REC},
			{Name: "openat", At: "cwd", Path: "{tmp}/d/" + g.pick(".mcp.json", ".envrc", ".git/config", "config", "hooks/x", "d/.git"), Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644, Reg: reg},
			{Name: "unlinkat", At: "cwd", Path: "{tmp}/d/" + g.pick(".mcp.json", ".git/config", "config")},
		}
	case 2:
		return []Call{
			{Name: "open_tree", At: "cwd", Path: g.pick("{work}", "{git}", "{home}"), Flags: 1 | unix.AT_RECURSIVE*uint64(g.IntN(2)), Reg: reg},
			{Name: "openat", At: r, Path: g.pick(".mcp.json", ".envrc", "config"), Flags: unix.O_CREAT | unix.O_RDWR, Mode: 0o644, Reg: g.reg()},
			{Name: "unlinkat", At: r, Path: g.pick(".mcp.json", ".git/config", "config")},
		}
	}
	return []Call{
		{Name: "mount", Old: "tmpfs", Path: g.pick("{tmp}", "d", "{work}", "{git}/d", "{home}")},
		{Name: "mkdirat", At: "cwd", Path: g.pick("{tmp}/d", "d/.git", "{work}/.git"), Mode: 0o755},
		{Name: "umount2", Path: g.pick("{tmp}", "d", "{work}", "{work}/.mcp.json", "{git}/config"), Flags: unix.MNT_DETACH},
	}
}
