package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	bare    = "`true`, no sandbox"
	raw     = "raw bwrap, same flags"
	inside  = "`agent-sandbox exec -- true`"
	listed  = "`agent-sandbox exec --allow example.com -- true`"
	opened  = "`agent-sandbox exec --ca ephemeral --allow 'GET https://example.com/**' -- true`"
	free    = "20 × `git --version` in one sandbox, not wrapped"
	wrapped = "20 × `git --version` in one sandbox, wrapped"

	repeats = 20 // runs of git in one sandbox, so that the sandbox's start does not hide the difference
)

// cases lists the measured cases.
func (s *stage) cases(ctx context.Context) ([]*contender, error) {
	r, err := s.raw(ctx)
	if err != nil {
		return nil, err
	}
	run := func(args ...string) []string { return append([]string{s.command, "exec"}, args...) }
	list := []*contender{
		{name: bare, args: []string{"/bin/true"}},
		r,
		{name: inside, args: run("--", "/bin/true"), against: raw},
		{name: listed, args: run("--allow", "example.com", "--", "/bin/true"), against: raw},
		{name: opened, args: run("--ca", "ephemeral", "--allow", "GET https://example.com/**", "--", "/bin/true"), against: raw},
	}
	for _, one := range []struct{ name, domains string }{{"srt 0.0.78 `true`", ""}, {"srt 0.0.78 `true`, example.com allowed", `"example.com"`}} {
		if s.srt == "" {
			break
		}
		settings, err := s.settings(one.domains)
		if err != nil {
			return nil, err
		}
		// This program leaves sockets named by process number behind, so it gets its own directory for them.
		args := []string{"env", "TMPDIR=" + s.home, "node", s.srt, "-s", settings, "true"}
		// Report a program that cannot run, since users would meet the same failure.
		if out, err := s.prepare(ctx, args).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("srt: %w: %s", err, out)
		}
		list = append(list, &contender{name: one.name, args: args, against: raw})
	}
	loop := []string{"--", "sh", "-c", fmt.Sprintf("for i in $(seq %d); do git --version; done", repeats)}
	list = append(list,
		&contender{name: free, args: append(run("--cmd", "git=true"), loop...)},
		&contender{name: wrapped, args: run(loop...), against: free},
		&contender{name: "guest start (`check`)", args: []string{s.guest, "check"}, exit: 1},
	)
	over, err := s.staging()
	return append(list, over...), err
}

// raw runs bubblewrap with exactly the arguments of agent-sandbox, without agent-sandbox and a shell; guard and limits are
// missing. --dry-run prints the command for bash, which reads it here once.
func (s *stage) raw(ctx context.Context) (*contender, error) {
	line, err := s.prepare(ctx, []string{s.command, "exec", "--dry-run", "--", "/bin/true"}).Output()
	if err != nil {
		return nil, fmt.Errorf("dry run: %w: %s", err, stderr(err))
	}
	dir, err := os.MkdirTemp(s.base, "raw-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	// The line is `env -i K=V... bwrap ARGS... 10< <(...)`: an env function of ours records the words and the descriptors' content.
	script := `dir=$1
env() {
  printf '%s\0' "$@" >"$dir/args"
  for n in {10..40}; do if { :; } 2>/dev/null <&$n; then cat <&$n >"$dir/$n"; fi; done
}
` + string(line)
	if out, err := exec.CommandContext(ctx, "bash", "-c", script, "bash", dir).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("reading the dry run: %w: %s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil {
		return nil, err
	}
	words := strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	program := slices.IndexFunc(words, func(w string) bool { return filepath.Base(w) == "bwrap" })
	if program < 1 || words[0] != "-i" {
		return nil, fmt.Errorf("the dry run is not `env -i ... bwrap`: %s", line)
	}
	return &contender{name: raw, args: words[program:], against: bare, prepare: func(cmd *exec.Cmd) (func() error, error) {
		cmd.Env = words[1:program]
		return inherit(cmd, dir)
	}}, nil
}

// inherit opens each file, whose name is a number, as the descriptor with that number.
func inherit(cmd *exec.Cmd, dir string) (func() error, error) {
	const firstExtra = 3
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var open []*os.File
	done := func() (err error) {
		for _, f := range open {
			err = errors.Join(err, f.Close())
		}
		return err
	}
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, errors.Join(err, done())
		}
		open = append(open, f)
		for len(cmd.ExtraFiles) <= n-firstExtra {
			cmd.ExtraFiles = append(cmd.ExtraFiles, nil)
		}
		cmd.ExtraFiles[n-firstExtra] = f
	}
	return done, nil
}

// more returns the additional time of the case called name over the one called than, or over zero when that is empty, by the median
// of rounds.
func more(cases []*contender, name, than string) time.Duration {
	var more []time.Duration
	for round, t := range find(cases, name).took {
		if than != "" {
			t -= find(cases, than).took[round]
		}
		more = append(more, t)
	}
	slices.Sort(more)
	return at(more, 0.5)
}

func stderr(err error) []byte {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return bytes.TrimSpace(exit.Stderr)
	}
	return nil
}
