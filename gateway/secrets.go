package gateway

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/egress"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	maxSecret      = 64 << 10 // bytes of a value
	maxMasked      = 4 << 20  // bytes of a file that is masked
	commandTimeout = 30 * time.Second
)

// held is a secret with its value.
type held struct {
	egress.Secret

	from policy.Secret
}

// fetch reads the values of those secrets that this host has.
func fetch(ctx context.Context, list []policy.Secret, env []string) ([]held, error) {
	var out []held
	for _, s := range list {
		if s.Missing != "" {
			continue
		}
		value, err := fetchOne(ctx, s, env)
		if err == nil && (value == "" || len(value) > maxSecret) {
			err = fmt.Errorf("found a value of %d bytes, expected 1 to %d", len(value), maxSecret)
		}
		if err != nil {
			return nil, sandbox.Errorf(sandbox.Unavailable, "the secret %s (%s): %w", s.Name, s.Source, err)
		}
		out = append(out, held{
			Secret: egress.Secret{
				Name: s.Name, Placeholder: egress.NewPlaceholder(value), Value: value, Hosts: s.Hosts, Header: s.Header,
			},
			from: s,
		})
	}
	return out, nil
}

func fetchOne(ctx context.Context, s policy.Secret, env []string) (string, error) {
	switch {
	case s.FromFile != "":
		data, err := readSmall(s.FromFile)
		return strings.TrimSpace(string(data)), err
	case len(s.FromCommand) > 0:
		return output(ctx, s.FromCommand, env)
	}
	return strings.TrimSpace(lookup(env, s.FromEnv)), nil
}

// output runs a program of the host. What it says on stderr is for people, and its
// output is not: it may be half a value.
func output(ctx context.Context, args, env []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.WaitDelay = env, time.Second
	var stdout, stderr limited
	stdout.left, stderr.left = maxSecret+1, 4<<10
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "", fmt.Errorf("%s did not end within %s", args[0], commandTimeout)
	case err != nil:
		said, _, _ := strings.Cut(strings.TrimSpace(stderr.String()), "\n")
		return "", fmt.Errorf("%s: %w: %q", args[0], err, said)
	}
	return strings.TrimSpace(stdout.String()), nil
}

// limited keeps the beginning of what is written.
type limited struct {
	bytes.Buffer

	left int
}

func (l *limited) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	_, _ = l.Buffer.Write(keep)
	return len(p), nil
}

// mask puts the placeholders where commands look for values.
func (g *Gateway) mask(found []held) error {
	// Long values first: a short one may be a part of one.
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b held) int { return cmp.Compare(len(b.Value), len(a.Value)) })
	files := map[string]*File{}
	for _, s := range found {
		if s.from.Env != "" {
			g.Env = append(g.Env, s.from.Env+"="+s.Placeholder)
		}
		if s.from.File == "" {
			continue
		}
		f := files[s.from.File]
		if f == nil {
			var err error
			if f, err = openMasked(s.from.File); err != nil {
				return sandbox.Errorf(sandbox.Unavailable, "the secret %s (%s): %w", s.Name, s.from.Source, err)
			}
			files[s.from.File] = f
		}
		masked := bytes.ReplaceAll(f.Data, []byte(s.Value), []byte(s.Placeholder))
		if bytes.Equal(masked, f.Data) {
			return sandbox.Errorf(sandbox.Invalid, "the secret %s (%s): %s does not hold the value, so nothing in it can be masked", s.Name, s.from.Source, f.Path).
				WithHint("leave the file hidden: drop the secret's \"file\", and name \"env\" instead")
		}
		f.Data = masked
	}
	for _, f := range files {
		g.Files = append(g.Files, *f)
	}
	slices.SortFunc(g.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(g.Env)
	return nil
}

func openMasked(path string) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	data, err := readUpTo(path, maxMasked)
	return &File{Path: path, Data: data, Mode: uint32(info.Mode().Perm() & 0o555)}, err
}

func readSmall(path string) ([]byte, error) { return readUpTo(path, maxSecret) }

// readUpTo reads a regular file; a FIFO would make us wait for ever.
func readUpTo(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s is larger than %s", path, sandbox.Bytes(limit))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// lookup returns the value of a variable, the last one if it is there twice.
func lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
