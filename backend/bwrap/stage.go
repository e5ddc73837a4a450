//go:build linux

package bwrap

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// staged is the stage on which a command runs. A nil staged is valid and means that the command
// runs on the workspace itself.
type staged struct {
	stage *stage.Stage
	use   *stage.Use
}

// checkStage rejects a stage without a workspace, or with a workspace that other paths make writable.
func checkStage(spec sandbox.Spec, plan *policy.Plan) error {
	switch {
	case spec.Stage == "":
		return nil
	case plan.Workspace == "":
		return sandbox.Errorf(sandbox.Invalid, "a stage needs a workspace")
	}
	return checkAliases(plan)
}

// onStage locks the stage of the instance's spec for cmd; nil if the spec has none.
func (i *instance) onStage(plan *policy.Plan, cmd sandbox.Cmd) (*staged, error) {
	if i.spec.Stage == "" {
		return nil, nil
	}
	st, err := i.ownStage(context.Background())
	if err != nil {
		return nil, err
	}
	use, err := st.Use(cmd.Args)
	if err != nil {
		return nil, err
	}
	s := &staged{stage: st, use: use}
	i.driver.options.Trace("stage", st.Name+" is "+string(st.Kind)+" "+st.Reason)
	if err := s.checkProtected(plan); err != nil {
		return nil, errors.Join(err, s.leave())
	}
	return s, nil
}

// stageEnds is the time in which a sandbox whose owner was killed leaves its stage, on a busy machine.
const stageEnds = 5 * time.Second

// awaitStage waits until no process uses the stage of the instance's spec. It reports whether that is so within stageEnds.
func (i *instance) awaitStage(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, stageEnds)
	defer cancel()
	st, err := i.ownStage(ctx)
	return err == nil && st.Await(ctx) == nil
}

// leave unlocks the stage.
func (s *staged) leave() error {
	if s == nil {
		return nil
	}
	return s.use.Close()
}

// wrap changes c so that it sees the view at the workspace's path. The guest mounts the view and
// executes c in the same process, with its descriptors and its parent-death signal.
func (s *staged) wrap(c *exec.Cmd, guest string) {
	if s == nil {
		return
	}
	w := s.use.Command(guest)
	c.Args = append(append(w.Args, c.Path), c.Args[1:]...)
	c.Path = w.Path
	a := c.SysProcAttr
	a.Cloneflags |= w.Attr.Cloneflags
	a.UidMappings, a.GidMappings, a.AmbientCaps = w.Attr.UidMappings, w.Attr.GidMappings, w.Attr.AmbientCaps
	a.Pdeathsig = w.Attr.Pdeathsig
}

// hostPID returns the host PID of the sandbox's first process. On a stage, bubblewrap reports a
// PID of the stage's PID namespace.
func (s *staged) hostPID(bubblewrap, told int) (int, error) {
	if s == nil {
		return told, nil
	}
	return firstChild(bubblewrap)
}

// adapt returns the plan for a stage. It makes a git directory outside of the workspace, of a
// worktree or a submodule, read-only: the stage has no view of it, so a commit would be
// permanent while its files are not.
func (s *staged) adapt(plan *policy.Plan) *policy.Plan {
	if s == nil {
		return plan
	}
	adapted := *plan
	adapted.Mounts = slices.Clone(plan.Mounts)
	for i := range adapted.Mounts {
		m := &adapted.Mounts[i]
		if m.Access != policy.ReadWrite || isBelow(m.Path, plan.Workspace) || plan.Rules[m.Rule].Preset != "@git" {
			continue
		}
		m.Access = policy.ReadOnly
		if m.Pin { // it has the access of the mount above it
			upper := policy.Plan{Mounts: adapted.Mounts[:i], Rules: plan.Rules}
			m.Access, _ = upper.Access(m.Path)
		}
	}
	return &adapted
}

// watch makes the guard look for guarded names in the stage's own directory.
func (s *staged) watch(g *guard.Guard) {
	if s == nil {
		return
	}
	own := s.stage.Own("") // it may not exist yet; links on the way to it are the host's
	if dir, err := filepath.EvalSymlinks(filepath.Dir(own)); err == nil {
		own = filepath.Join(dir, filepath.Base(own))
	}
	g.Watch(func(dir string) string {
		if isBelow(dir, s.stage.Workspace) {
			return filepath.Join(own, s.relative(dir))
		}
		return dir
	})
}

func (s *staged) relative(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, s.stage.Workspace), "/")
}

// stat returns the status of the file to which an absolute path resolves inside.
func (s *staged) stat(path string) (fs.FileInfo, error) {
	_, host, err := s.resolve(path)
	if err != nil {
		return nil, err
	}
	return os.Stat(host)
}

// maxLinks is the number of symbolic links that the kernel follows (path_resolution(7)).
const maxLinks = 40

// resolve follows the symbolic links of an absolute path inside, and returns the resolved path
// and its path on the host.
func (s *staged) resolve(path string) (inside, host string, err error) {
	if s == nil || s.stage.IsPristine() && s.stage.Kind == stage.Overlay {
		inside, err = filepath.EvalSymlinks(path)
		return inside, inside, err
	}
	rest := strings.Split(path, "/")
	inside, host = "/", "/"
	for links := 0; len(rest) > 0; {
		name := rest[0]
		if rest = rest[1:]; name == "" || name == "." {
			continue
		}
		next := filepath.Join(inside, name)
		var link string
		if host, link, err = s.step(next); err != nil {
			return "", "", &fs.PathError{Op: "lstat", Path: next, Err: err}
		}
		if link == "" {
			inside = next
			continue
		}
		if links++; links > maxLinks {
			return "", "", &fs.PathError{Op: "lstat", Path: path, Err: syscall.ELOOP}
		}
		if strings.HasPrefix(link, "/") {
			inside = "/"
		}
		rest = append(strings.Split(link, "/"), rest...)
	}
	return inside, host, nil
}

// step returns the path on the host of a path without links in its directories, and its target if
// it is a link.
func (s *staged) step(path string) (host, link string, err error) {
	host = path
	if path != s.stage.Workspace && isBelow(path, s.stage.Workspace) {
		seen, err := s.stage.Look(s.relative(path))
		if err != nil {
			return "", "", err
		}
		if seen == nil {
			return "", "", fs.ErrNotExist
		}
		host = seen.Host
	}
	info, err := os.Lstat(host)
	if err != nil {
		return "", "", err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		link, err = os.Readlink(host)
	}
	return host, link, err
}
