package podstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/podinit"
	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/guest/supervisor"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// volume is a persistent sandbox's volume, mounted at dir.
type volume struct{ dir string }

// Serve serves operations on the volume of a sandbox and on its files over standard input and output, in a container of its
// pod in which no command runs. It first compares its own size and hash with the arguments. With --alone the pod's first process
// ends with it.
//
//	store SIZE SHA256 [--alone]
func Serve(p process.Process, args []string) int {
	runtime.GOMAXPROCS(1) // as in package supervisor
	if len(args) < 2 || len(args) > 3 || len(args) == 3 && args[2] != "--alone" {
		return p.Usage()
	}
	err := process.VerifySelf(args[0], args[1])
	if err == nil && len(args) == 3 {
		var alive *os.File
		if alive, err = podinit.NamedPipe(podinit.AliveRoot+podinit.AlivePipe, unix.O_RDWR); err == nil {
			defer alive.Close()
		}
	}
	if err != nil {
		return p.Fail(process.ExitRefused, err.Error())
	}
	conn, err := process.PrivateStdio()
	if err == nil {
		err = session.Serve(conn, session.Options{Runner: []string{layout.Program, supervisor.RunnerCommand}, Inside: ownCommand})
	}
	if err != nil {
		return p.Fail(process.ExitRefused, err.Error())
	}
	return 0
}

// ownCommand recognizes the command lines that the guest of a volume executes itself. This guest starts no other
// programs.
func ownCommand(args []string, dir string) (run func(in io.Reader, out, errs io.Writer) int, ok bool) {
	if len(args) > 1 && args[0] == layout.Program && args[1] == Command {
		return func(_ io.Reader, out, errs io.Writer) int {
			return files.Status(operate(Dir, args[2:], out), errs)
		}, true
	}
	return files.OwnCommand(args, dir)
}

var errStoreUsage = errors.New("usage: store snapshot|remove|restore NAME, store snapshots|copy|settle")

func operate(dir string, args []string, out io.Writer) error {
	operands := map[string]int{opSnapshot: 1, opForget: 1, opRestore: 1, opSnapshots: 0, opCopy: 0, opSettle: 0}
	if len(args) == 0 {
		return errStoreUsage
	}
	n, known := operands[args[0]]
	if !known || len(args) != 1+n {
		return errStoreUsage
	}
	if n == 1 {
		if err := sandbox.CheckSnapshot(args[1]); err != nil {
			return err
		}
	}
	s := volume{dir}
	held, err := s.lock()
	if err != nil {
		return err
	}
	defer held.Close()
	if err := s.settle(); err != nil {
		return err
	}
	return s.perform(args, out)
}

func (s volume) perform(args []string, out io.Writer) error {
	switch args[0] {
	case opSnapshot:
		return s.snapshot(args[1])
	case opForget:
		return s.forget(args[1])
	case opRestore:
		return s.restore(args[1])
	case opSnapshots:
		return s.list(out)
	case opCopy:
		return s.fill(s.at(copiedDir), FilesDir, nil)
	}
	return nil
}

func (s volume) at(names ...string) string {
	return filepath.Join(append([]string{s.dir}, names...)...)
}

// lock waits until no other operation runs. The kernel releases the lock with this process.
func (s volume) lock() (*os.File, error) {
	f, err := os.OpenFile(s.at(storeLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(os.NewSyscallError("lock", err), f.Close())
		}
	}
}

// settle finishes a restore whose files are complete, and removes files that killed processes have left.
func (s volume) settle() error {
	if _, err := os.Lstat(s.at(nextDir)); err == nil {
		if err := s.exchange(); err != nil {
			return err
		}
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, newPrefix) && !strings.HasPrefix(name, gonePrefix) && name != copiedDir {
			continue
		}
		if err := s.clear(name); err != nil {
			return err
		}
	}
	return nil
}

// exchange replaces the files with nextDir. If it is killed, settle finishes it.
func (s volume) exchange() error {
	gone := gonePrefix + unique()
	if err := os.Rename(s.at(FilesDir), s.at(gone)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(s.at(nextDir), s.at(FilesDir)); err != nil {
		return err
	}
	return s.sync()
}

func unique() string { return time.Now().UTC().Format("20060102T150405.000000000") }

// sync writes the names in the store to the disk.
func (s volume) sync() error {
	d, err := os.Open(s.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// clear removes files of a sandbox. The top directories may belong to the node, which lets the group of this process
// write to them.
func (s volume) clear(name string) error {
	for _, top := range append(PersistentDirs(), ".") {
		dir := s.at(name, top)
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if top == "." && slices.Contains(PersistentDirs(), e.Name()) {
				continue
			}
			if err := removeEntry(filepath.Join(dir, e.Name()), e.IsDir()); err != nil {
				return err
			}
		}
		if err := os.Remove(dir); err != nil {
			return err
		}
	}
	return nil
}

func removeEntry(name string, dir bool) error {
	if dir {
		return stage.RemoveTree(name)
	}
	return os.Remove(name)
}

// fill copies a directory of files to another one of the store, which gets its name when it is complete. about, if not nil, gets
// the size and is written into it.
func (s volume) fill(final, from string, about *sandbox.SnapshotInfo) error {
	temp := newPrefix + unique()
	if err := os.Mkdir(s.at(temp), 0o700); err != nil {
		return err
	}
	var size int64
	for _, dir := range PersistentDirs() {
		n, err := s.clone(from, temp, dir)
		if err != nil {
			return errors.Join(err, s.clear(temp))
		}
		size += n
	}
	if about != nil {
		about.Size = size
		if err := describeIn(s.at(temp, aboutFile), *about); err != nil {
			return errors.Join(err, s.clear(temp))
		}
	}
	if err := os.Rename(s.at(temp), final); err != nil {
		return errors.Join(err, s.clear(temp))
	}
	return s.sync()
}

// clone copies one of PersistentDirs. The source may not exist yet: the first pod that mounts it creates it.
func (s volume) clone(from, to, dir string) (size int64, err error) {
	if err := os.Mkdir(s.at(to, dir), 0o700); err != nil {
		return 0, err
	}
	if _, err := os.Lstat(s.at(from, dir)); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return stage.CloneTree(context.Background(), s.at(from, dir), s.at(to, dir))
}

func describeIn(name string, about sandbox.SnapshotInfo) error {
	data, err := json.Marshal(about)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

func (s volume) snapshot(name string) error {
	if err := os.MkdirAll(s.at(snapshotsDir), 0o700); err != nil {
		return err
	}
	final := s.at(snapshotsDir, name)
	if _, err := os.Lstat(final); err == nil {
		return sandbox.Errorf(sandbox.Exists, "there is a snapshot %s already", name)
	}
	return s.fill(final, FilesDir, &sandbox.SnapshotInfo{Name: name, Created: time.Now()})
}

// find returns NotFound if no snapshot has that name.
func (s volume) find(name string) error {
	_, err := os.Lstat(s.at(snapshotsDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return sandbox.Errorf(sandbox.NotFound, "no snapshot %s", name)
	}
	return err
}

func (s volume) forget(name string) error {
	if err := s.find(name); err != nil {
		return err
	}
	gone := gonePrefix + unique()
	if err := os.Rename(s.at(snapshotsDir, name), s.at(gone)); err != nil { // first remove it from the list
		return err
	}
	return s.clear(gone)
}

func (s volume) restore(name string) error {
	if err := s.find(name); err != nil {
		return err
	}
	if info := s.describe(name); info.Problem != "" {
		return sandbox.Errorf(sandbox.Invalid, "snapshot %s is damaged: %s", name, info.Problem)
	}
	if err := s.fill(s.at(nextDir), filepath.Join(snapshotsDir, name), nil); err != nil {
		return err
	}
	return s.settle()
}

// describe returns the description of a snapshot, of a damaged one too.
func (s volume) describe(name string) sandbox.SnapshotInfo {
	var info sandbox.SnapshotInfo
	data, err := os.ReadFile(s.at(snapshotsDir, name, aboutFile))
	if err == nil {
		err = json.Unmarshal(data, &info)
	}
	if err == nil && info.Name != name {
		err = fmt.Errorf("%s is of %q", aboutFile, info.Name)
	}
	if err == nil {
		return info
	}
	return sandbox.SnapshotInfo{Name: name, Problem: err.Error()}
}

func (s volume) list(out io.Writer) error {
	entries, err := os.ReadDir(s.at(snapshotsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var list []sandbox.SnapshotInfo
	for _, e := range entries {
		list = append(list, s.describe(e.Name()))
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Created.Before(list[j].Created) })
	enc := json.NewEncoder(out)
	for _, info := range list {
		if err := enc.Encode(info); err != nil {
			return err
		}
	}
	return nil
}
