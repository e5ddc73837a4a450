package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// recordVersion is the version of the format of a record's file. A program that reads another version could ignore what the
// sandbox was created with, such as a restriction.
const recordVersion = 1

// Record describes a sandbox, as its directory stores it. It contains no environment: the process that starts the
// sandbox provides it.
type Record struct {
	Version int              `json:"version"`        // of the file's format; 0 in files of programs that wrote none, which is version 1
	ID      string           `json:"-"`              // its directory's name
	Name    string           `json:"name,omitempty"` // a label for people
	Backend string           `json:"backend"`
	Created time.Time        `json:"created"`
	Idle    sandbox.Duration `json:"idle,omitempty"`    // the sandbox stops when no command has run for this time; 0: never
	TTL     sandbox.Duration `json:"ttl,omitempty"`     // time from Created to the destruction, which waits for running commands; 0: never
	Spare   string           `json:"spare,omitempty"`   // the fingerprint of a spare sandbox without a user; empty: it is not a spare
	State   string           `json:"state,omitempty"`   // its Spec's State, if that is not in its directory
	Cluster *Cluster         `json:"cluster,omitempty"` // the location of a sandbox in a cluster; nil: this user's keepers hold it
	Spec    sandbox.Spec     `json:"spec"`
}

// Store is a directory of sandboxes. The zero value is not usable; the directory need not exist.
type Store struct{ Dir string }

// Names of the files of a sandbox.
const (
	recordFile = "record.json"
	lockFile   = "lock"
	socketFile = "socket"
	logFile    = "log"
	stateDir   = "state" // see sandbox.Spec.State; the driver creates it
)

// namePattern is the form of a valid name, which is also the name of a directory.
const namePattern = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`

// CheckName returns an Invalid error when name is not a valid name of a sandbox.
func CheckName(name string) error {
	if !regexp.MustCompile(namePattern).MatchString(name) {
		return sandbox.Errorf(sandbox.Invalid, "%.100q cannot be a sandbox's name", name).
			WithHint("up to 63 letters, digits, '_', '.' and '-', the first a letter or digit")
	}
	return nil
}

func (s Store) dir(name string) string { return filepath.Join(s.Dir, name) }

// Add writes a new record. Exists: there is a sandbox of that name.
func (s Store) Add(r Record) error {
	held, err := s.add(r, nil)
	held.release()
	return err
}

// add writes a new record and returns with the lock of its sandbox, so that no other process takes it for a stopped one before
// it starts. fill, if not nil, writes further files into its directory. The directory appears for other processes when it is
// complete, and the next sweep removes an incomplete one of a killed process.
func (s Store) add(r Record, fill func(dir string) error) (*lock, error) {
	if err := s.Vacant(r.ID); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, unwritable(err)
	}
	s.sweep()
	tmp, held, err := s.newDir()
	if err != nil {
		return nil, unwritable(err)
	}
	if err := s.fillDir(tmp, r, fill); err != nil {
		_ = s.clear(tmp) // the next sweep tries again
		held.release()
		return nil, err
	}
	return held, nil
}

// unwritable describes that the store cannot be written.
func unwritable(err error) error {
	return sandbox.Errorf(sandbox.Unavailable, "the records of persistent sandboxes cannot be written: %w", err).
		WithHint("set XDG_DATA_HOME to the absolute path of a directory that you can write")
}

// fillDir writes the files of a new sandbox into a temporary directory, and then gives the directory its name.
func (s Store) fillDir(tmp string, r Record, fill func(dir string) error) error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{recordFile: data, logFile: nil} {
		if err := os.WriteFile(filepath.Join(tmp, name), content, 0o600); err != nil {
			return err
		}
	}
	if fill != nil {
		if err := fill(tmp); err != nil {
			return err
		}
	}
	err = os.Rename(tmp, s.dir(r.ID))
	if errors.Is(err, fs.ErrExist) {
		return exists(r.ID)
	}
	return err
}

// encode returns the content of a record's file.
func (r Record) encode() ([]byte, error) {
	r.Version, r.Spec.Env, r.Spec.State = recordVersion, nil, ""
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// rename replaces the record of a sandbox and its name, or changes nothing. The caller holds its lock.
func (s Store) rename(old, r Record) error {
	if err := s.Vacant(r.ID); err != nil {
		return err
	}
	if err := s.rewrite(old.ID, r); err != nil {
		return err
	}
	err := os.Rename(s.dir(old.ID), s.dir(r.ID))
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		err = exists(r.ID)
	}
	return errors.Join(err, s.rewrite(old.ID, old))
}

// rewrite replaces the record of a sandbox in one step.
func (s Store) rewrite(name string, r Record) error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir(name), recordFile)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Vacant returns Exists when there is a record of that name.
func (s Store) Vacant(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	_, err := os.Lstat(s.dir(name))
	if err == nil {
		return exists(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func exists(name string) error {
	return sandbox.Errorf(sandbox.Exists, "there is a sandbox %s already", name).
		WithHint("'agent-sandbox destroy %s' removes it", name)
}

// Load reads a record. NotFound: there is none of that name.
func (s Store) Load(name string) (Record, error) {
	var r Record
	if CheckName(name) != nil {
		return r, noSuch(name)
	}
	path := filepath.Join(s.dir(name), recordFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, noSuch(name)
	}
	if err != nil {
		return r, err
	}
	if err := r.decode(data); err != nil {
		return Record{}, sandbox.Errorf(sandbox.Invalid, "%s: %w", path, err).
			WithHint("'agent-sandbox destroy %s' removes it", name)
	}
	r.ID = name
	return r, nil
}

// decode reads the content of a record's file. It rejects another version, and fields that it does not know.
func (r *Record) decode(data []byte) error {
	var of struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &of); err != nil {
		return err
	}
	if of.Version > recordVersion {
		return fmt.Errorf("version %d of the format; expected at most %d: a newer agent-sandbox wrote it", of.Version, recordVersion)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(r)
}

func noSuch(name string) error {
	return sandbox.Errorf(sandbox.NotFound, "no sandbox %.100q", name).WithHint("'agent-sandbox list' shows all sandboxes")
}

// List returns the records of all sandboxes except spares, ordered by name. If a record cannot be read, it returns an
// error with the other records.
func (s Store) List() ([]Record, error) {
	all, err := s.all()
	return slices.DeleteFunc(all, func(r Record) bool { return r.Spare != "" }), err
}

// Spares returns the records of spare sandboxes, like List.
func (s Store) Spares() ([]Record, error) {
	all, err := s.all()
	return slices.DeleteFunc(all, func(r Record) bool { return r.Spare == "" }), err
}

func (s Store) all() ([]Record, error) {
	s.sweep()
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []Record
	var errs []error
	for _, e := range entries {
		if CheckName(e.Name()) != nil {
			continue // a directory that is being created or removed
		}
		r, err := s.Load(e.Name())
		switch {
		case sandbox.CodeOf(err) == sandbox.NotFound: // removed meanwhile
		case err != nil:
			errs = append(errs, err)
		default:
			out = append(out, r)
		}
	}
	return out, errors.Join(append(errs, err)...)
}

// remove deletes a sandbox's directory. The caller holds its lock.
func (s Store) remove(name string) error {
	// Rename the directory first, so that no process finds a half removed sandbox.
	gone := filepath.Join(s.Dir, fmt.Sprintf("%s%s-%d", gonePrefix, name, time.Now().UnixNano()))
	if err := os.Rename(s.dir(name), gone); err != nil {
		return err
	}
	return s.clear(gone)
}

// clearState removes the State that a record names, if that is not in its directory.
func (s Store) clearState(dir string) error {
	var r Record
	data, err := os.ReadFile(filepath.Join(dir, recordFile))
	if err == nil && json.Unmarshal(data, &r) == nil && filepath.Dir(r.State) == s.Dir && strings.HasPrefix(filepath.Base(r.State), statePrefix) {
		return stage.RemoveTree(r.State)
	}
	return nil
}

// state returns the Spec's State of a sandbox.
func (s Store) state(r Record) string {
	if r.State != "" {
		return r.State
	}
	return filepath.Join(s.dir(r.ID), stateDir)
}

// Log opens the log of a sandbox's keeper. The caller closes it.
func (s Store) Log(name string) (*os.File, error) {
	if _, err := s.Load(name); err != nil {
		return nil, err
	}
	return os.Open(filepath.Join(s.dir(name), logFile))
}
