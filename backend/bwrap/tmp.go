//go:build linux

package bwrap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/proxy"
	"github.com/seed434b0696/agent-sandbox/internal/tmpstore"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// tmpPath is the directory that lasts if the policy says so.
const tmpPath = "/tmp"

// tmps returns the store of the /tmp directories that last.
func (d *Driver) tmps() tmpstore.Store {
	return tmpstore.Store{Dir: filepath.Join(d.options.DataDir, policy.TmpDir)}
}

// checkTmp rejects what a /tmp that lasts cannot have. files are mounted over those of the host.
func checkTmp(plan *policy.Plan, files []proxy.File) error {
	if !plan.KeepTmp {
		return nil
	}
	if source, ok := plan.Limits.Required["tmp"]; ok {
		return sandbox.Errorf(sandbox.Unsupported, "limits.tmp in %s: a /tmp that lasts has the size of its file system", source).
			WithHint("leave --tmp keep or the limit out")
	}
	// Bubblewrap follows links on the way to a mount inside, and a command of an earlier run can have put one there.
	if path := mountedBelow(plan, tmpPath, files); path != "" {
		return sandbox.Errorf(sandbox.Unsupported, "%s lies in /tmp, and nothing is mounted into a /tmp that lasts", path).
			WithHint("leave --tmp keep out, or work in a directory outside of /tmp")
	}
	return nil
}

// mountedBelow returns a path below dir at which bubblewrap mounts something, or "".
func mountedBelow(plan *policy.Plan, dir string, files []proxy.File) string {
	var paths []string
	for _, m := range plan.Mounts {
		paths = append(paths, m.Path)
	}
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	for _, c := range plan.Commands {
		paths = append(paths, c.Targets...)
	}
	for _, path := range append(paths, plan.Sockets...) {
		if strings.HasPrefix(path, dir+"/") {
			return path
		}
	}
	return ""
}

// prepareTmps creates the store of the /tmp directories, unless the plan shows it: a command sees its own as /tmp, and those of other
// workspaces not at all.
func (i *instance) prepareTmps(plan *policy.Plan) error {
	dir, err := i.driver.tmps().Prepare(plan.Workspace)
	if err == nil && !isHidden(plan, dir) {
		err = sandbox.Errorf(sandbox.Unsupported, "filesystem.tmp: commands could see %s", dir).
			WithHint("leave --tmp keep out, or put agent-sandbox's files where its policy hides them")
	}
	return err
}

// ensureTmp returns the directory for /tmp, which exists then; "": /tmp does not last.
func (i *instance) ensureTmp(plan *policy.Plan, files []proxy.File) (string, error) {
	if !plan.KeepTmp {
		return "", nil
	}
	if err := checkTmp(plan, files); err != nil {
		return "", err
	}
	return i.driver.tmps().Ensure(plan.Workspace)
}

// executableInTmp returns the error with which executing a file of a /tmp that lasts would fail, or nil, also if it is not
// known: a link can lead anywhere.
func (i *instance) executableInTmp(plan *policy.Plan, name string) error {
	dir, err := i.driver.tmps().Path(plan.Workspace)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil {
		return nil
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return err
	case err != nil:
		return nil
	case info.IsDir():
		return errIsDir
	case info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}

// leftovers looks for files that a command leaves in its private /tmp. A nil one is valid and finds none.
type leftovers struct {
	dir   *os.File // /tmp inside, which lives as long as this descriptor
	known map[string]bool
}

// lookForLeftovers is called once, when the sandbox's mounts are complete and its command has not begun.
func (p *process) lookForLeftovers() {
	if p.instance.driver.options.TmpLeft != nil && !p.plan.KeepTmp && !p.instance.spec.Resident && p.confined.listening {
		p.left = openLeftovers(p.plan, p.first())
	}
}

// openLeftovers opens /tmp in the root of a process whose mounts are complete; nil if it cannot. What the plan mounts there
// is not left by a command.
func openLeftovers(plan *policy.Plan, pid int) *leftovers {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root"+tmpPath, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	l := &leftovers{os.NewFile(uintptr(fd), tmpPath), map[string]bool{}}
	for _, m := range plan.Mounts {
		if rest, ok := strings.CutPrefix(m.Path, tmpPath+"/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			l.known[name] = true
		}
	}
	return l
}

// close reports whether there are any. It reads one name more than are known.
func (l *leftovers) close() bool {
	if l == nil {
		return false
	}
	defer l.dir.Close()
	names, _ := l.dir.Readdirnames(len(l.known) + 1) // after an error the remark is left out
	for _, name := range names {
		if !l.known[name] {
			return true
		}
	}
	return false
}
