package agent

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/event"
	"github.com/seed434b0696/agent-sandbox/internal/agent/executor"
	"github.com/seed434b0696/agent-sandbox/internal/transfer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// hostFiles are the backends whose sandboxes show paths of this host.
var hostFiles = []string{"bwrap", "docker"}

// homeName is the directory beside the workspace in which an agent stores its sessions.
const homeName = ".agent"

// DefaultImage returns the image that 'agent-sandbox build-base' builds for a coding agent. Containers and pods use it when
// the assistant names no image. It is "" if this project has no image for the agent.
func DefaultImage(agent string) string {
	if agent == "claude" || agent == "codex" {
		return "agent-sandbox-base:latest"
	}
	return ""
}

// maxOutput bounds the output of an agent, in bytes. Agents print whole files, and print them twice.
const maxOutput = 4 << 30

// isolate creates the sandbox. The sandbox ends with the request; the workspace remains.
func (t *turn) isolate(ctx context.Context) error {
	if t.executor == nil {
		return nil
	}
	driver, spec, err := t.pipeline.isolation(t.assistant)
	if err != nil {
		return err
	}
	t.backend = driver.Name()
	if t.backend == "virtual" {
		return sandbox.Errorf(sandbox.Unsupported, "%s runs programs, and a sandbox in memory has none", t.executor.Name()).
			WithHint("take the backend bwrap, docker or kube")
	}
	sb := t.assistant.Sandbox
	spec.Workspace, spec.Resident = t.space.Dir, true
	if spec.Image = cmp.Or(sb.Image, spec.Image); spec.Image == "" && t.backend != "bwrap" {
		if spec.Image = DefaultImage(t.executor.Name()); spec.Image == "" {
			return sandbox.Errorf(sandbox.Invalid, "%s needs an image that contains it; found no image", t.executor.Name()).
				WithHint(`name one in the assistant's package: "sandbox": {"image": "..."}`)
		}
	}
	if t.request.Workspace != "" {
		if !slices.Contains(hostFiles, t.backend) {
			return sandbox.Errorf(sandbox.Unsupported, "the %s backend works on a copy of the workspace, so a directory of the caller would not change", t.backend).
				WithHint("leave the directory out, or take the backend bwrap or docker")
		}
		spec.Workspace = t.request.Workspace
	}
	spec.Layers = append(slices.Clip(spec.Layers), sb.Layer)
	spec.Policy.Limits.Output = maxOutput
	if err := t.paths(&spec); err != nil {
		return err
	}
	t.report("sandbox", strings.TrimSpace("creating a sandbox, "+t.backend+" "+spec.Image))
	box, err := sandbox.Create(ctx, driver, spec)
	if err != nil {
		return err
	}
	t.report("sandbox", "the sandbox is ready")
	t.box = box
	t.later(func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), bookingTime)
		defer cancel()
		_ = box.Close(end) // the driver removes what is left
	})
	return t.skills(ctx)
}

// paths makes the agent's home, which lives as long as the chat, and the agent's program visible in a sandbox that shows the
// host's files.
func (t *turn) paths(spec *sandbox.Spec) error {
	if !slices.Contains(hostFiles, t.backend) {
		return nil
	}
	t.home = filepath.Join(t.space.Dir, homeName)
	if spec.Workspace != t.space.Dir {
		spec.Policy.Filesystem.RW = append(slices.Clip(spec.Policy.Filesystem.RW), t.space.Dir)
	}
	if owner, ok := t.executor.(executor.SettingsOwner); ok {
		spec.Policy.Filesystem.RW = append(slices.Clip(spec.Policy.Filesystem.RW), filepath.Join(t.agentHome(), owner.SettingsDir()))
	}
	if t.backend != "bwrap" {
		return nil
	}
	args, dirs, err := t.pipeline.program(t.executor.Name())
	if err != nil {
		return err
	}
	t.program = args
	spec.Policy.Filesystem.RO = append(slices.Clip(spec.Policy.Filesystem.RO), dirs...)
	return nil
}

// agentHome returns the agent's own directory inside the sandbox.
func (t *turn) agentHome() string {
	if t.home != "" {
		return filepath.Join(t.home, t.executor.Name())
	}
	return "/tmp/" + homeName
}

// skills copies the assistant's skills into the agent's home, outside the workspace. Each turn copies the current ones.
func (t *turn) skills(ctx context.Context) error {
	to := t.agentHome() + "/skills"
	files := t.box.Files()
	if err := files.Remove(ctx, to); err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
		return err
	}
	if len(t.assistant.Skills.Skills) == 0 {
		return nil
	}
	m, ok := files.(sandbox.Maker)
	if !ok {
		return sandbox.Errorf(sandbox.Unsupported, "the %s backend makes no directories", t.backend)
	}
	for _, s := range t.assistant.Skills.Skills {
		dir := to + "/" + s.Name
		if err := m.Mkdir(ctx, dir, 0o755); err != nil {
			return err
		}
		if err := transfer.In(ctx, t.box, s.Dir()+"/.", dir, nil); err != nil {
			return err
		}
	}
	return nil
}

// collect copies the agent's files into the chat's workspace if the sandbox worked on a copy. It replaces the old files when
// the copy is complete.
func (t *turn) collect(ctx context.Context) error {
	if t.box == nil || slices.Contains(hostFiles, t.backend) {
		return nil
	}
	root, err := os.OpenRoot(t.space.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	const incoming = homeName + "-incoming"
	if err := root.RemoveAll(incoming); err != nil {
		return err
	}
	if err := root.Mkdir(incoming, 0o700); err != nil {
		return err
	}
	defer func() { _ = root.RemoveAll(incoming) }() // the next request tries again
	left, err := transfer.Out(ctx, t.box, t.dir()+"/.", filepath.Join(t.space.Dir, incoming), transfer.OutOptions{
		Limits: transfer.Limits{Bytes: transfer.DefaultBytes, Entries: transfer.DefaultEntries},
	})
	if err != nil {
		return err
	}
	if len(left) > 0 {
		t.emit(event.NewNotice(event.NoticeError, "left", fmt.Sprintf("%d files stay in the sandbox, such as %s", len(left), left[0])))
	}
	return replaceFiles(root, incoming)
}

// replaceFiles moves the content of the directory incoming into root and removes everything else from root.
func replaceFiles(root *os.Root, incoming string) error {
	old, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range old {
		if e.Name() != incoming {
			if err := root.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
	}
	made, err := fs.ReadDir(root.FS(), incoming)
	if err != nil {
		return err
	}
	for _, e := range made {
		if err := root.Rename(incoming+"/"+e.Name(), e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// dir returns the path of the workspace inside the sandbox.
func (t *turn) dir() string {
	if t.backend == "kube" {
		return "/workspace"
	}
	if t.request.Workspace != "" {
		return t.request.Workspace
	}
	return t.space.Dir
}
