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

	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// staged is a stage that one command runs on. A nil staged is a command that runs on
// the workspace itself; its methods are right for that, too.
type staged struct {
	stage *stage.Stage
	use   *stage.Use
}

// checkStage refuses a stage that could not be.
func checkStage(spec sandbox.Spec, plan *policy.Plan) error {
	switch {
	case spec.Stage == "":
		return nil
	case plan.Workspace == "":
		return sandbox.Errorf(sandbox.Invalid, "a stage is a view of a workspace, and there is none")
	}
	return checkAliases(plan)
}

// onStage takes the stage of the instance's spec for cmd; nil when it asks for none.
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

// leave gives the stage back.
func (s *staged) leave() error {
	if s == nil {
		return nil
	}
	return s.use.Close()
}

// wrap starts c so that it finds the view in the workspace's place. What it executes
// stays one process: its descriptors and death with our thread are those of c.
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

// hostPID is the pid of the sandbox's first process, which bubblewrap tells in a PID
// namespace of the stage's.
func (s *staged) hostPID(bubblewrap, told int) (int, error) {
	if s == nil {
		return told, nil
	}
	return firstChild(bubblewrap)
}

// adapt returns the plan for a stage. A git directory that lies outside of the
// workspace, of a worktree or a submodule, has no view: a commit would be real while
// the files that it names are not. So it is read-only.
func (s *staged) adapt(plan *policy.Plan) *policy.Plan {
	if s == nil {
		return plan
	}
	adapted := *plan
	adapted.Mounts = slices.Clone(plan.Mounts)
	for i := range adapted.Mounts {
		m := &adapted.Mounts[i]
		if m.Access != policy.ReadWrite || below(m.Path, plan.Workspace) || plan.Rules[m.Rule].Preset != "@git" {
			continue
		}
		m.Access = policy.ReadOnly
		if m.Pin { // it has what is above it
			upper := policy.Plan{Mounts: adapted.Mounts[:i], Rules: plan.Rules}
			m.Access, _ = upper.Access(m.Path)
		}
	}
	return &adapted
}

// watch has the guard look for guarded names in the view's own directory.
func (s *staged) watch(g *guard.Guard) {
	if s == nil {
		return
	}
	g.Watch(func(dir string) string {
		if below(dir, s.stage.Workspace) {
			return s.stage.Own(s.relative(dir))
		}
		return dir
	})
}

func (s *staged) relative(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, s.stage.Workspace), "/")
}

// stat describes what an absolute path leads to inside.
func (s *staged) stat(path string) (fs.FileInfo, error) {
	_, host, err := s.resolve(path)
	if err != nil {
		return nil, err
	}
	return os.Stat(host)
}

// maxLinks is how many symbolic links the kernel follows (path_resolution(7)).
const maxLinks = 40

// resolve follows the symbolic links of an absolute path as it is inside, and returns
// where it leads to and where the host has that.
func (s *staged) resolve(path string) (inside, host string, err error) {
	if s == nil || s.stage.Pristine() && s.stage.Kind == stage.Overlay {
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

// step finds where the host has a path without links on its way, and its target
// when it is one itself.
func (s *staged) step(path string) (host, link string, err error) {
	host = path
	if path != s.stage.Workspace && below(path, s.stage.Workspace) {
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
