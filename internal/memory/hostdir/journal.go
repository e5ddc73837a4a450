package hostdir

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// note is the journal entry of an Apply, from before it makes the first file until its tree shows the
// changes no more. Without steps nothing has happened yet but that files were made.
type note struct {
	Dir   string `json:"dir"` // of the host
	Ino   uint64 `json:"ino"` // its number: another one may have taken its name
	Temp  string `json:"temp"`
	Steps []step `json:"steps,omitempty"`
}

// journal is the note of an Apply that goes on. It is locked as long as its process lives.
type journal struct {
	name string // without its endings
	lock *os.File
	note note
}

const (
	noteEnd = ".json"
	lockEnd = ".lock"
)

// identity says which directory of the host this is.
func (m *Mount) identity() (dir string, ino uint64, err error) {
	dir, err = filepath.Abs(m.root.Name())
	if err != nil {
		return "", 0, err
	}
	info, err := m.root.Stat(".")
	if err != nil {
		return "", 0, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", 0, errors.ErrUnsupported
	}
	return dir, st.Ino, nil
}

// begin notes where an Apply makes its files; nil when the mount keeps no journal.
func (m *Mount) begin(temp string) (*journal, error) {
	if m.journal == "" {
		return nil, nil //nolint:nilnil // A journal is a choice.
	}
	dir, ino, err := m.identity()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(m.journal, 0o700); err != nil {
		return nil, err
	}
	j := &journal{name: filepath.Join(m.journal, rand.Text()), note: note{Dir: dir, Ino: ino, Temp: temp}}
	for mine := false; !mine; {
		if mine, err = j.hold(syscall.LOCK_EX); err != nil {
			return nil, err
		}
	}
	if err := j.write(nil); err != nil {
		return nil, errors.Join(err, j.end())
	}
	return j, nil
}

// hold makes the journal's lock and takes it; false: another process has it, or has removed it because it took this one for dead.
func (j *journal) hold(how int) (bool, error) {
	f, err := os.OpenFile(j.name+lockEnd, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	if err := syscall.Flock(int(f.Fd()), how); err != nil {
		return false, errors.Join(ignoreError(err, syscall.EWOULDBLOCK), f.Close())
	}
	mine, err := f.Stat()
	var now fs.FileInfo
	if err == nil {
		now, err = os.Stat(f.Name())
	}
	if err != nil || !os.SameFile(mine, now) {
		return false, errors.Join(ignoreError(err, fs.ErrNotExist), f.Close())
	}
	j.lock = f
	return true, nil
}

// write notes the steps. A reader sees all of them or none.
func (j *journal) write(steps []step) error {
	if j == nil {
		return nil
	}
	j.note.Steps = steps
	data, err := json.Marshal(j.note)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(j.name+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(j.name+".new", j.name+noteEnd)
}

// end takes the note away.
func (j *journal) end() error {
	if j == nil {
		return nil
	}
	var errs []error
	for _, name := range []string{".new", noteEnd, lockEnd} {
		if err := os.Remove(j.name + name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, j.lock.Close())...)
}

// finish completes an Apply in the same directory that was killed, and returns its paths.
func (m *Mount) finish() ([]string, error) {
	if m.journal == "" {
		return nil, nil
	}
	dir, ino, err := m.identity()
	if err != nil {
		return nil, err
	}
	list, err := os.ReadDir(m.journal)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var finished []string
	for _, e := range list {
		name, ok := strings.CutSuffix(e.Name(), lockEnd)
		if ok {
			if err := m.forget(name); err != nil {
				return finished, err
			}
			continue
		}
		if name, ok = strings.CutSuffix(e.Name(), noteEnd); !ok {
			continue
		}
		j := &journal{name: filepath.Join(m.journal, name)}
		if err := j.read(); errors.Is(err, fs.ErrNotExist) || err == nil && (j.note.Dir != dir || j.note.Ino != ino) {
			continue
		} else if err != nil {
			return finished, err
		}
		paths, err := j.resume(m.root)
		finished = append(finished, paths...)
		if err != nil {
			return finished, err
		}
	}
	slices.Sort(finished)
	return slices.Compact(finished), nil
}

// forget removes a lock without a note, and with it the incomplete files of a dead process, which had not changed the directory.
func (m *Mount) forget(name string) error {
	j := &journal{name: filepath.Join(m.journal, name)}
	if _, err := os.Lstat(j.name + noteEnd); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	mine, err := j.hold(syscall.LOCK_EX | syscall.LOCK_NB)
	if !mine || err != nil {
		return err
	}
	if _, err := os.Lstat(j.name + noteEnd); !errors.Is(err, fs.ErrNotExist) { // written meanwhile
		return errors.Join(err, j.lock.Close())
	}
	return j.end()
}

func (j *journal) read() error {
	data, err := os.ReadFile(j.name + noteEnd)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, &j.note); err != nil {
		return fmt.Errorf("%s: %w", j.name+noteEnd, err)
	}
	if !strings.HasPrefix(j.note.Temp, prefix) || strings.Contains(j.note.Temp, "/") {
		return fmt.Errorf("%s: not a journal of an Apply", j.name+noteEnd)
	}
	return nil
}

// resume takes the journal over from a dead process, and does the remaining steps. It leaves the journal of a live process.
func (j *journal) resume(root *os.Root) (finished []string, err error) {
	if mine, err := j.hold(syscall.LOCK_EX | syscall.LOCK_NB); !mine || err != nil {
		return nil, err
	}
	if err := j.read(); errors.Is(err, fs.ErrNotExist) { // Another process has done it.
		return nil, j.end()
	} else if err != nil {
		return nil, errors.Join(err, j.lock.Close())
	}
	failed := map[string]bool{}
	for _, s := range j.note.Steps {
		p := string(s.Path)
		if failed[p] {
			continue
		}
		if err := redoStep(root, j.note.Temp, s); err != nil {
			failed[p] = true
		} else {
			finished = append(finished, p)
		}
	}
	finished = slices.DeleteFunc(finished, func(p string) bool { return failed[p] })
	return finished, errors.Join(root.RemoveAll(j.note.Temp), j.end())
}

func ignoreError(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}
