package stage

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/stage/tree"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Mechanism is the implementation of a stage's view.
type Mechanism string

// The mechanisms, best first.
const (
	Overlay Mechanism = "overlay" // a kernel overlay: created at once
	Reflink Mechanism = "reflink" // a copy that shares blocks with the workspace
	Copy    Mechanism = "copy"    // a full copy
)

// DefaultName is the name of a stage for an empty name.
const DefaultName = "default"

// Stage is a view of a workspace with its own changes. Several processes may have
// the same one open: Use, Apply and Discard exclude each other.
type Stage struct {
	Name      string
	Workspace string // absolute and resolved
	Kind      Mechanism
	Reason    string // reason why Kind is not Overlay; else empty
	Created   time.Time

	dir  string // its directory in the store
	data metadata
}

// metadata is stage.json.
type metadata struct {
	Version   int       `json:"version"`
	Name      string    `json:"name"`
	Workspace rawPath   `json:"workspace"`
	Kind      Mechanism `json:"kind"`
	Reason    string    `json:"reason,omitempty"`
	Created   int64     `json:"created"` // nanoseconds since 1970
	// Identity of the workspace's directory, to detect that it was exchanged.
	Inode uint64 `json:"inode"`
	// Entries that Apply has changed in the workspace since Created.
	Known pathMap[tree.Fingerprint] `json:"known,omitempty"`
}

const metadataVersion = 1

// Names inside a stage's directory.
const (
	metadataFile = "stage.json"
	lockFile     = "lock"
	holderFile   = "holder.json"
	journalFile  = "journal.json"
	manifestFile = "manifest.json"
	renewedFile  = "renewed.json"
	upperDir     = "upper"
	workDir      = "work"
	treeDir      = "tree"
	trashDir     = "trash"
)

// isValidName reports whether name has 1 to 64 letters, digits, dots, dashes and
// underscores, and begins with a letter or digit. A regular expression would cost every
// program that links this package a third of a millisecond.
func isValidName(name string) bool {
	const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	return name != "" && len(name) <= 64 && strings.Contains(alphanumeric, name[:1]) && strings.Trim(name, alphanumeric+"._-") == ""
}

func newStage(dir string, data metadata) *Stage {
	return &Stage{
		Name: data.Name, Workspace: string(data.Workspace), Kind: data.Kind, Reason: data.Reason,
		Created: time.Unix(0, data.Created), dir: dir, data: data,
	}
}

// readStage reads the stage in dir; fs.ErrNotExist: there is none.
func readStage(dir string) (*Stage, error) {
	text, err := os.ReadFile(filepath.Join(dir, metadataFile))
	if err != nil {
		return nil, err
	}
	var data metadata
	if err := json.Unmarshal(text, &data); err != nil {
		return nil, sandbox.Errorf(sandbox.Internal, "%s: %w", filepath.Join(dir, metadataFile), err).
			WithHint("remove %s to give its changes up", dir)
	}
	if data.Version != metadataVersion {
		return nil, sandbox.Errorf(sandbox.Unsupported, "%s has version %d; this program supports version %d", dir, data.Version, metadataVersion)
	}
	var again renewal
	if err := readJSON(filepath.Join(dir, renewedFile), &again); err == nil {
		data.Created = max(data.Created, again.Created)
	}
	return newStage(dir, data), nil
}

// renewal is the content of renewed.json: the time from which a pristine stage counts as
// created. If it is missing or damaged, an older time counts, which only detects more
// conflicts.
type renewal struct {
	Created int64 `json:"created"`
}

// reload reads the stage's files again, which other processes may have changed.
func (s *Stage) reload() error {
	now, err := readStage(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return sandbox.Errorf(sandbox.NotFound, "stage %s of %s was discarded", s.Name, s.Workspace)
	}
	if err != nil {
		return err
	}
	*s = *now
	return nil
}

func (s *Stage) save() error {
	return writeJSON(filepath.Join(s.dir, metadataFile), s.data)
}

// viewDir returns the directory that contains the stage's side of every change.
func (s *Stage) viewDir() string {
	if s.Kind == Overlay {
		return filepath.Join(s.dir, upperDir)
	}
	return filepath.Join(s.dir, treeDir)
}
