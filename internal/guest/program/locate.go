// Package program finds the guest program on the host, so that a driver can mount it into a sandbox or send it to a pod.
package program

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/guest/tempfile"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	extractedPrefix = "guest-"
	// oldAfter is the age from which programs of other versions are removed; younger ones may be starting.
	oldAfter = 24 * time.Hour
)

// Locate returns the host's path of a guest program to mount into a sandbox: the embedded one, extracted into dataDir;
// where nothing is embedded, or dataDir cannot be written or is not private, a sandbox-guest in the directory of executable;
// else executable itself, if it has called [ActAsGuest]. It creates a missing dataDir.
// Commands in a sandbox must not be able to write there. Errors have code Unavailable.
func Locate(dataDir, executable string) (string, error) {
	if p, ok := carried(); ok {
		name := filepath.Join(dataDir, p.name)
		if isOwn(name, p.size) && privateDir(dataDir) == nil {
			return name, nil
		}
		data, err := p.read()
		if err == nil {
			name, err = extract(dataDir, data)
		}
		if err != nil {
			if beside, besideErr := locateBeside(executable); besideErr == nil {
				return beside, nil
			}
			return "", sandbox.Errorf(sandbox.Unavailable, "the guest program: %w", err).
				WithHint("make %s a directory that only you can write to", dataDir)
		}
		return name, nil
	}
	return locateBeside(executable)
}

// itself reports whether this program runs the guest when it is started as one.
var itself atomic.Bool //nolint:gochecknoglobals // a property of the program

// ActAsGuest says that this program calls guest.Main when guest.IsGuestCall reports true, so that it can be mounted as the guest.
func ActAsGuest() { itself.Store(true) }

// locateBeside returns the sandbox-guest in the executable's directory, else the executable itself, if that acts as the guest.
func locateBeside(executable string) (string, error) {
	beside := filepath.Join(filepath.Dir(executable), "sandbox-guest")
	names := []string{beside}
	if itself.Load() {
		names = append(names, executable)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return name, nil
		}
	}
	return "", sandbox.Errorf(sandbox.Unavailable, "no guest program: %s carries none, and %s cannot be executed", filepath.Base(executable), beside).
		WithHint("CGO_ENABLED=0 go build -o %s %s", beside, guestPackage)
}

// guestPackage is the package of the guest program.
const guestPackage = "github.com/seed434b0696/agent-sandbox/cmd/sandbox-guest"

// Located returns a function that returns the path of the guest program: named, or, if that is empty, the result of
// [Locate] for this executable. It calls Locate once.
func Located(named, dataDir string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		if named != "" {
			return named, nil
		}
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		return Locate(dataDir, self)
	})
}

// shortSum is the number of bytes of the SHA-256 sum in an extracted program's name.
const shortSum = 8

func nameOf(data []byte) string {
	sum := sha256.Sum256(data)
	return extractedPrefix + hex.EncodeToString(sum[:shortSum])
}

// extract writes data to dir under a name made of its hash, unless it is there. Two processes may do so at once: each
// writes its own file, and the first one stays. If the second file replaced it, another process could fail to mount it
// (ENOENT).
func extract(dir string, data []byte) (string, error) {
	name := filepath.Join(dir, nameOf(data))
	if err := privateDir(dir); err != nil {
		return "", err
	}
	if isOwn(name, int64(len(data))) {
		return name, nil
	}
	t, err := tempfile.New(dir)
	if err != nil {
		return "", err
	}
	defer t.Discard()
	if _, err := t.File.Write(data); err != nil {
		return "", err
	}
	if err := t.File.Chmod(0o555); err != nil {
		return "", err
	}
	if err := t.Place(name, func() bool { return isOwn(name, int64(len(data))) }); err != nil {
		return "", err
	}
	return name, removeOld(dir, name)
}

// isOwn reports whether name is an extracted program that only its owner, this user, could have changed.
func isOwn(name string, size int64) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode() == 0o555 && info.Size() == size && isOwned(info)
}

func isOwned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// privateDir creates dir, and refuses a directory in which other users could replace the program.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !isOwned(info) || info.Mode()&0o022 != 0 {
		return &fs.PathError{Op: "use", Path: dir, Err: errors.New("others can write to it")}
	}
	return nil
}

// removeOld removes programs of other versions and files that a killed extraction has left. A program that is mounted
// in a sandbox continues to work there.
func removeOld(dir, keep string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if name == keep || !strings.HasPrefix(e.Name(), extractedPrefix) && !strings.HasPrefix(e.Name(), tempfile.TempPrefix) {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < oldAfter {
			continue // already removed, of another user, or perhaps in use
		}
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
