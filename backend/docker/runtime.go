package docker

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/backend/docker/image"
	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// layoutVersion changes with the content of runtime directories.
const layoutVersion = "3"

// runtime returns the host directory that is mounted at [layout.Root]: the guest, and what it needs to wrap commands;
// private lists the directories inside that end with the sandbox. Its
// name is a hash of its content, so that sandboxes share it, and it never changes.
func (d *Driver) runtime(ctx context.Context, c *engine.Client, i *image.Image, commands []policy.Command, private []string) (string, error) {
	program, err := d.guest()
	if err != nil {
		return "", err
	}
	key, err := runtimeKey(program, i, commands, private)
	if err != nil {
		return "", err
	}
	dir := d.dir("runtime", key)
	if _, err := os.Lstat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(d.dir("runtime"), 0o700); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(d.dir("runtime"), ".new-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // it was renamed, or is incomplete
	b := &runtimeDir{dir: tmp, image: i}
	if err := copyFile(program, b.inside(layout.Program), 0o555); err != nil {
		return "", err
	}
	if len(commands) > 0 {
		err = image.Read(ctx, c, i.ID, ownLabels(), func(r *image.Reader) error { return b.commands(ctx, r, commands) })
	}
	if err == nil {
		err = b.linkPrivate(private)
	}
	if err == nil {
		err = os.WriteFile(b.inside(layout.SessionSocket), nil, 0o444) // over which the guest's socket is mounted
	}
	if err == nil {
		err = makeReadable(tmp)
	}
	if err != nil {
		return "", err
	}
	if err := os.Rename(tmp, dir); err != nil && !os.IsExist(err) && !isDir(dir) {
		return "", err
	}
	return dir, nil
}

// makeReadable lets every user read all of dir, independent of the umask: the sandbox may run as any user.
func makeReadable(dir string) error {
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil, e.Type()&fs.ModeSymlink != 0:
			return err
		case e.IsDir():
			return os.Chmod(name, 0o755)
		}
		return os.Chmod(name, 0o555)
	})
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func runtimeKey(program string, i *image.Image, commands []policy.Command, private []string) (string, error) {
	info, err := os.Stat(program)
	if err != nil {
		return "", sandbox.Errorf(sandbox.Unavailable, "the guest program: %w", err)
	}
	type rule struct {
		Name, Rule string
		Script     []byte
	}
	var rules []rule
	for _, c := range commands {
		rules = append(rules, rule{c.Name, c.Rule, c.Script})
	}
	data, err := json.Marshal([]any{layoutVersion, filepath.Base(program), info.Size(), info.ModTime().UnixNano(), i.ID, rules, private})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12]), nil
}

// runtimeDir is an incomplete runtime directory.
type runtimeDir struct {
	dir   string
	image *image.Image
}

// inside returns the host path of a path below [layout.Root].
func (b *runtimeDir) inside(name string) string {
	return filepath.Join(b.dir, strings.TrimPrefix(name, layout.Root))
}

// linkPrivate lists for the guest the directories that end with the sandbox; see package layout.
func (b *runtimeDir) linkPrivate(dirs []string) error {
	if err := os.MkdirAll(b.inside(layout.PrivateDir), 0o755); err != nil {
		return err
	}
	for n, dir := range dirs {
		if err := os.Symlink(dir, b.inside(filepath.Join(layout.PrivateDir, strconv.Itoa(n)))); err != nil {
			return err
		}
	}
	return nil
}

func (b *runtimeDir) commands(ctx context.Context, r *image.Reader, commands []policy.Command) error {
	for _, c := range commands {
		if err := b.command(ctx, r, c); err != nil {
			return err
		}
	}
	return nil
}

// command creates what the guest needs to wrap c; see package layout.
func (b *runtimeDir) command(ctx context.Context, r *image.Reader, c policy.Command) error {
	var err error
	switch c.Rule {
	case "deny":
		err = os.MkdirAll(b.inside(filepath.Join(layout.DenyDir, c.Name)), 0o755)
	case "script":
		err = b.write(filepath.Join(layout.WrapperDir, c.Name), c.Script)
	case "preset":
		err = os.MkdirAll(b.inside(filepath.Join(layout.PresetDir, c.Name)), 0o755)
	}
	programs := b.image.Programs[c.Name]
	if err != nil || len(programs) == 0 {
		return err
	}
	if c.Rule != "deny" {
		if err := b.copyProgram(ctx, r, c.Name, programs[0], filepath.Join(layout.BinDir, c.Name)); err != nil {
			return err
		}
	}
	for _, target := range programs {
		switch {
		case layout.IsShared(c.Name, target):
			err = b.copyProgram(ctx, r, c.Name, target, filepath.Join(layout.TargetDir, target))
		case filepath.Base(target) != c.Name:
			err = b.alias(filepath.Base(target), c.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *runtimeDir) write(name string, data []byte) error {
	at := b.inside(name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return os.WriteFile(at, data, 0o555)
}

func (b *runtimeDir) alias(base, command string) error {
	at := b.inside(filepath.Join(layout.AliasDir, base))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	err := os.Symlink(command, at)
	if os.IsExist(err) {
		return nil
	}
	return err
}

// maxProgram is the largest program that is copied from an image.
const maxProgram = 512 << 20

// copyProgram copies a program of the image, over which the guest is mounted there. It rejects a script, which may need the
// files beside it.
func (b *runtimeDir) copyProgram(ctx context.Context, r *image.Reader, command, from, to string) error {
	at := b.inside(to)
	if _, err := os.Lstat(at); err == nil {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	return r.Copy(ctx, from, func(content io.Reader, size int64) error {
		if size > maxProgram {
			return sandbox.Errorf(sandbox.Unsupported, "commands.%s: %s of the image is larger than %s", command, from, sandbox.Bytes(maxProgram))
		}
		text := bufio.NewReader(content)
		if start, err := text.Peek(2); err == nil && slices.Equal(start, []byte("#!")) {
			return sandbox.Errorf(sandbox.Unsupported, "commands.%s: %s of the image is a script, which may need the files beside it", command, from).
				WithHint("refuse the command (\"%s\": false), or let it run (true)", command)
		}
		f, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o555)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, text)
		return errors.Join(err, f.Close())
	})
}

func copyFile(from, to string, perm os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
