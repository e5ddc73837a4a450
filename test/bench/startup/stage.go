package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// stage is one user's environment: a home, a repository, and copies of the programs
// that the user can execute.
type stage struct {
	uid                   int
	base, home, workspace string
	command, guest, srt   string // srt: its cli.js, or empty
}

func newStage(uid int, command, guest, npm string) (*stage, error) {
	base, err := os.MkdirTemp("", "startup-")
	if err != nil {
		return nil, err
	}
	s := &stage{
		uid: uid, base: base,
		home: filepath.Join(base, "home"), workspace: filepath.Join(base, "work"),
		command: filepath.Join(base, "bin", "agent-sandbox"), guest: filepath.Join(base, "bin", "sandbox-guest"),
	}
	if err := s.fill(command, guest, npm); err != nil {
		return nil, errors.Join(err, os.RemoveAll(base))
	}
	return s, nil
}

func (s *stage) fill(command, guest, npm string) error {
	for _, dir := range []string{s.home, s.workspace, filepath.Join(s.base, "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Chmod(s.base, 0o755), copyProgram(command, s.command), copyProgram(guest, s.guest)); err != nil {
		return err
	}
	if npm != "" {
		if err := s.copySRT(npm); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Lchown(s.home, s.uid, s.uid), os.Lchown(s.workspace, s.uid, s.uid)); err != nil {
		return err
	}
	out, err := s.prepare(context.Background(), []string{"git", "init", "-q"}).CombinedOutput()
	if err != nil {
		return fmt.Errorf("git init: %w: %s", err, out)
	}
	return nil
}

// settings writes the settings of srt; domains are JSON strings separated by commas.
func (s *stage) settings(domains string) (string, error) {
	text := `{"network":{"allowedDomains":[` + domains + `],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":["."],"denyWrite":[]}}`
	file := filepath.Join(s.base, fmt.Sprintf("srt-%d.json", len(domains)))
	return file, os.WriteFile(file, []byte(text), 0o644)
}

// copySRT copies srt with its dependencies, because other users cannot read a cache
// below /root.
func (s *stage) copySRT(npm string) error {
	to := filepath.Join(s.base, "node_modules")
	entries, err := os.ReadDir(npm)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case !e.IsDir() || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "node-linux-"):
			continue
		case name == "@anthropic-ai":
			name = filepath.Join(name, "sandbox-runtime")
		}
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(npm, name))); err != nil {
			return err
		}
	}
	s.srt = filepath.Join(to, "@anthropic-ai", "sandbox-runtime", "dist", "cli.js")
	_, err = os.Stat(s.srt)
	return err
}

// prepare returns a command of the stage's user, in the repository.
func (s *stage) prepare(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = s.workspace
	cmd.Env = []string{"HOME=" + s.home, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}
	if s.uid != os.Getuid() {
		id := uint32(s.uid)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: id, Gid: id}}
	}
	return cmd
}

func copyProgram(from, to string) error {
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: run 'make build' first", err)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}
