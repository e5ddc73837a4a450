package stage

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"
)

// renew updates the creation time of a pristine overlay: the next command sees the
// workspace as it is now, so earlier changes are not conflicts.
func (s *Stage) renew() error {
	if s.Kind != Overlay || !s.IsPristine() {
		return nil
	}
	root, err := os.Lstat(s.Workspace)
	if err != nil {
		return err
	}
	if err := os.Chmod(s.viewDir(), root.Mode().Perm()); err != nil {
		return err
	}
	now := time.Now()
	text, err := json.Marshal(renewal{now.UnixNano()})
	if err != nil {
		return err
	}
	// Not synced: see renewal.
	name := filepath.Join(s.dir, renewedFile)
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		return err
	}
	if err := os.Rename(name+".new", name); err != nil {
		return err
	}
	s.Created, s.data.Created = now, now.UnixNano()
	return nil
}
