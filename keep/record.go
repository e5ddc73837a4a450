package keep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Record is what a sandbox is made from, as its directory keeps it. It holds no environment: that is of the
// process which starts the sandbox.
type Record struct {
	ID      string           `json:"-"`              // its directory's name
	Name    string           `json:"name,omitempty"` // a label for people
	Backend string           `json:"backend"`
	Created time.Time        `json:"created"`
	Idle    sandbox.Duration `json:"idle,omitempty"` // stops when no command has run for so long; 0: never
	TTL     sandbox.Duration `json:"ttl,omitempty"`  // is destroyed so long after Created, but not while a command runs; 0: never
	Spec    sandbox.Spec     `json:"spec"`
}

// Store is a directory of sandboxes. The zero value is not usable; it need not exist.
type Store struct{ Dir string }

// Names of the files of a sandbox.
const (
	recordFile = "record.json"
	lockFile   = "lock"
	socketFile = "socket"
	logFile    = "log"
)

// namePattern is what a name may be: it becomes a directory's.
const namePattern = `^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`

// CheckName reports why a name cannot be a sandbox's, or nil.
func CheckName(name string) error {
	if !regexp.MustCompile(namePattern).MatchString(name) {
		return sandbox.Errorf(sandbox.Invalid, "%.100q cannot be a sandbox's name", name).
			WithHint("up to 63 letters, digits, '_', '.' and '-', the first a letter or digit")
	}
	return nil
}

func (s Store) dir(name string) string { return filepath.Join(s.Dir, name) }

// Add writes a new record. Exists: there is one of that name.
func (s Store) Add(r Record) error {
	if err := CheckName(r.ID); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	// Others see the directory whole or not at all.
	tmp, err := os.MkdirTemp(s.Dir, ".new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(tmp) }() // it has been renamed, or is nobody's
	r.Spec.Env = nil
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{recordFile: append(data, '\n'), lockFile: nil, logFile: nil} {
		if err := os.WriteFile(filepath.Join(tmp, name), content, 0o600); err != nil {
			return err
		}
	}
	err = os.Rename(tmp, s.dir(r.ID))
	if errors.Is(err, fs.ErrExist) {
		return sandbox.Errorf(sandbox.Exists, "there is a sandbox %s already", r.ID).
			WithHint("'agent-sandbox destroy %s' removes it", r.ID)
	}
	return err
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
	if err := json.Unmarshal(data, &r); err != nil {
		return r, sandbox.Errorf(sandbox.Invalid, "%s: %w", path, err).
			WithHint("'agent-sandbox destroy %s' removes it", name)
	}
	r.ID = name
	return r, nil
}

func noSuch(name string) error {
	return sandbox.Errorf(sandbox.NotFound, "no sandbox %.100q", name).WithHint("'agent-sandbox list' shows those that there are")
}

// List reads all records, in the order of their names. One that cannot be read is an error beside the others.
func (s Store) List() ([]Record, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []Record
	var errs []error
	for _, e := range entries {
		if CheckName(e.Name()) != nil {
			continue // one that is being made or removed
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
	// Out of sight first: what is half removed is nobody's sandbox.
	gone := filepath.Join(s.Dir, fmt.Sprintf(".gone-%s-%d", name, time.Now().UnixNano()))
	if err := os.Rename(s.dir(name), gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// Log opens what a sandbox's keeper wrote.
func (s Store) Log(name string) (*os.File, error) {
	if _, err := s.Load(name); err != nil {
		return nil, err
	}
	return os.Open(filepath.Join(s.dir(name), logFile))
}
