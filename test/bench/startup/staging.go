package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

const (
	large  = "`agent-sandbox exec -- true`, 50,000 files"
	staged = "`exec --stage -- true`, 50,000 files, again"
	fresh  = "`exec --stage=NEW -- true`, 50,000 files, the first time"
)

// staging creates a large tree and lists the cases of a stage over it.
func (s *stage) staging() ([]*contender, error) {
	tree := filepath.Join(s.base, "large")
	for d := range 500 {
		dir := filepath.Join(tree, strconv.Itoa(d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		for f := range 100 {
			if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(f)), []byte("x"), 0o644); err != nil {
				return nil, err
			}
		}
	}
	if err := os.Lchown(tree, s.uid, s.uid); err != nil {
		return nil, err
	}
	in := func(cmd *exec.Cmd) (func() error, error) {
		cmd.Dir = tree
		return func() error { return nil }, nil
	}
	discard := func(cmd *exec.Cmd) (func() error, error) {
		cmd.Dir = tree
		again := exec.Command(s.command, "stage", "discard", "new") //nolint:noctx // short
		again.Dir, again.Env, again.SysProcAttr = tree, cmd.Env, cmd.SysProcAttr
		return func() error {
			out, err := again.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("discard: %w: %s", err, out)
			}
			return err
		}, nil
	}
	return []*contender{
		{name: large, args: []string{s.command, "exec", "--", "/bin/true"}, prepare: in},
		{name: staged, args: []string{s.command, "exec", "--stage", "--", "/bin/true"}, against: large, prepare: in},
		{name: fresh, args: []string{s.command, "exec", "--stage=new", "--", "/bin/true"}, against: large, prepare: discard},
	}, nil
}
