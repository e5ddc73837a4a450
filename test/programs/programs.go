// Package programs provides the built programs of this project for tests.
//
// `make` builds them once and names their directory in AGENT_SANDBOX_PROGRAMS. Without that variable this package builds
// the requested ones, with the go command in PATH, and stores them in the user's cache directory under their content's hash,
// so that `go test ./...` works in a fresh clone.
package programs

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Variable names the environment variable that holds the directory of the built programs.
const Variable = "AGENT_SANDBOX_PROGRAMS"

// The names of the programs.
const (
	Command          = "agent-sandbox"               // the command, which carries the guest
	CommandInMemory  = "agent-sandbox-memory"        // the same with the tag memory
	CommandWithPods  = "agent-sandbox-kube"          // the same with the tag kube
	CommandWithAgent = "agent-sandbox-agent"         // the same with the tags kube and agent
	CommandAlone     = "agent-sandbox-without-guest" // the command that carries no guest
	Hooks            = "agent-sandbox-hooks"         // the program that runs the hooks of assistants
	Guest            = "sandbox-guest"               // the guest
)

// source is the source of a program.
type source struct {
	pkg, tags string
	carries   bool // the guest, embedded
}

var sources = map[string]source{
	Command:          {pkg: "./cmd/agent-sandbox", carries: true},
	CommandInMemory:  {pkg: "./cmd/agent-sandbox", tags: "memory", carries: true},
	CommandWithPods:  {pkg: "./cmd/agent-sandbox", tags: "kube", carries: true},
	CommandWithAgent: {pkg: "./cmd/agent-sandbox", tags: "kube,agent", carries: true},
	CommandAlone:     {pkg: "./cmd/agent-sandbox"},
	Hooks:            {pkg: "./cmd/agent-sandbox-hooks"},
	Guest:            {pkg: "./cmd/sandbox-guest"},
}

// guestEntry is the first instruction of the guest, as build/scripts/guest.sh links it.
const guestEntry = "github.com/seed434b0696/agent-sandbox/internal/guest/confine.Entry"

const (
	// unusedFor is the time after which a program that no test has requested, and the directory of a checkout, are removed.
	unusedFor = 3 * 24 * time.Hour
	// stored is the maximum number of programs in the cache, in addition to those that tests may be running.
	stored = 24
	// running is the time for which tests may run a program after they requested it.
	running = 2 * time.Hour
)

// Path returns the absolute path of a program. Other tests use the same file, and other users may not be able to reach it. A
// test that runs it as another user, or exposes it to an attack, calls [Install] for a copy.
func Path(ctx context.Context, name string) (string, error) {
	s, ok := sources[name]
	if !ok {
		return "", fmt.Errorf("unknown program %q; expected one of %q", name, slices.Sorted(maps.Keys(sources)))
	}
	if dir := os.Getenv(Variable); dir != "" {
		path, err := filepath.Abs(filepath.Join(dir, name))
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return "", fmt.Errorf("%s=%s holds no program %s (unset it, or run go run ./test/programs/build %s): %w", Variable, dir, name, dir, err)
		}
		return path, nil
	}
	b, err := newBuilder()
	if err != nil {
		return "", err
	}
	defer b.close()
	return b.program(ctx, name, s)
}

// Build builds a test's own program to a path, executable for every user. The program is the package in a directory, such as
// testdata/attack, built without cgo.
func Build(ctx context.Context, dir, to string) error {
	b, err := newBuilder()
	if err != nil {
		return err
	}
	defer b.close()
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	sum, name := sha256.Sum256([]byte(dir)), filepath.Base(dir)
	built, err := b.build(ctx, name+"-"+hex.EncodeToString(sum[:4]), name, dir, ".")
	if err != nil {
		return err
	}
	return copyProgram(built, to)
}

// Install copies programs into a directory, executable for every user, and creates the directory if it is missing.
func Install(ctx context.Context, dir string, names ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		path, err := Path(ctx, name)
		if err == nil {
			err = copyProgram(path, filepath.Join(dir, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// All returns the names of all programs.
func All() []string { return slices.Sorted(maps.Keys(sources)) }

// builder holds the lock on the cache of one checkout.
type builder struct {
	top   string // of the checkout
	cache string
	own   string // of this checkout below cache: the go command links only changed programs again there
	lock  *os.File
}

func newBuilder() (*builder, error) {
	top, err := checkout()
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no directory to build programs in: %w", err)
	}
	sum := sha256.Sum256([]byte(top))
	b := &builder{top: top, cache: filepath.Join(cache, "agent-sandbox", "programs")}
	b.own = filepath.Join(b.cache, "checkout-"+hex.EncodeToString(sum[:4]))
	if err := os.MkdirAll(b.own, 0o755); err != nil {
		return nil, err
	}
	now := time.Now()
	if err := os.Chtimes(b.own, now, now); err != nil { // it is in use
		return nil, err
	}
	if b.lock, err = os.OpenFile(filepath.Join(b.own, ".lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := unix.Flock(int(b.lock.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", b.lock.Name(), err), b.lock.Close())
	}
	return b, nil
}

func (b *builder) close() { _ = b.lock.Close() }

// checkout returns the directory of this module's go.mod, at or above the working directory.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if text, err := os.ReadFile(filepath.Join(at, "go.mod")); err == nil && strings.HasPrefix(string(text), "module github.com/seed434b0696/agent-sandbox\n") {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no checkout of this project at or above %s; name a directory with built programs in %s", dir, Variable)
		}
	}
}

// program builds a program, with the guest of the same checkout in it.
func (b *builder) program(ctx context.Context, name string, s source) (string, error) {
	args := []string{}
	if s.tags != "" {
		args = append(args, "-tags", s.tags)
	}
	if name == Guest && runtime.GOARCH == "amd64" {
		args = append(args, "-ldflags", "-s -w -E "+guestEntry)
	}
	if name == Guest || name == Hooks {
		return b.build(ctx, name, name, b.top, append(args, s.pkg)...)
	}
	guest := ""
	if s.carries {
		var err error
		if guest, err = b.program(ctx, Guest, sources[Guest]); err != nil {
			return "", err
		}
	}
	overlay, err := b.overlay(name, guest)
	if err != nil {
		return "", err
	}
	return b.build(ctx, name, name, b.top, append(args, "-overlay", overlay, s.pkg)...)
}

// overlay makes the go command see a guest, or none, in the directory from which the command embeds it, whatever that
// directory contains.
func (b *builder) overlay(name, guest string) (string, error) {
	bin := filepath.Join(b.top, "internal", "guest", "program", "bin")
	present, err := filepath.Glob(filepath.Join(bin, "*guest*"))
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, p := range present {
		replace[p] = ""
	}
	if guest != "" {
		small, err := b.compress(guest)
		if err != nil {
			return "", err
		}
		replace[filepath.Join(bin, "guest-"+filepath.Base(filepath.Dir(guest))+".gz")] = small
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.own, name+".overlay.json")
	return file, os.WriteFile(file, text, 0o600)
}

// compress writes a gzip of a program beside it, as a release build embeds the guest, and returns its path.
func (b *builder) compress(program string) (string, error) {
	small := program + ".gz"
	if _, err := os.Stat(small); err == nil {
		return small, nil
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	unfinished := small + ".new" // the caller holds the builder's lock
	if err := os.WriteFile(unfinished, out.Bytes(), 0o600); err != nil {
		return "", err
	}
	return small, os.Rename(unfinished, small)
}

// build runs go build in a directory and returns its result, in the directory that its content's hash names.
func (b *builder) build(ctx context.Context, out, name, dir string, args ...string) (string, error) {
	out = filepath.Join(b.own, out)
	cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", out}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%q in %s: %w\n%s", cmd.Args, dir, err, text)
	}
	sum, err := hashOf(out)
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.cache, sum, name)
	now := time.Now()
	if os.Chtimes(filepath.Dir(path), now, now) == nil {
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	if err := errors.Join(b.removeUnused(now), os.MkdirAll(filepath.Dir(path), 0o755)); err != nil {
		return "", err
	}
	return path, copyProgram(out, path)
}

// removeUnused removes the programs that tests have not requested for a while, except the newest ones, and the directories
// of unused checkouts.
func (b *builder) removeUnused(now time.Time) error {
	entries, err := os.ReadDir(b.cache)
	if err != nil {
		return err
	}
	var found []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // another builder may have removed it
			found = append(found, info)
		}
	}
	slices.SortFunc(found, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	programs := 0
	for _, info := range found {
		age, isCheckout := now.Sub(info.ModTime()), strings.HasPrefix(info.Name(), "checkout-")
		if !isCheckout {
			programs++
		}
		if age < unusedFor && (isCheckout || age < running || programs <= stored) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(b.cache, info.Name())); err != nil {
			return err
		}
	}
	return nil
}

// hashOf returns the first eight bytes of a file's SHA-256, as the release build names the guest that it embeds.
func hashOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// copyProgram copies a program in one step: a running program of that name continues unchanged.
func copyProgram(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.CreateTemp(filepath.Dir(to), ".new-")
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	if err = errors.Join(err, dst.Chmod(0o755), dst.Close()); err == nil {
		err = os.Rename(dst.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(dst.Name()))
	}
	return nil
}
