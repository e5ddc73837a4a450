package repo

import (
	"context"
	"os"
	"slices"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// labelPath is the label of a repository's own volumes; its value is the repository's path. The volumes that all repositories
// share do not have it.
const labelPath = "agent-sandbox.repo-path"

// UnusedVolumes returns the volumes of repositories that no container has, and the repository of each. An engine may serve
// other users and machines, so it returns only those of repositories that were locked in dir (see [Repo.Lock]), whose
// sandboxes have their records on this machine. The repositories need not exist any more.
func UnusedVolumes(ctx context.Context, e job.Volumes, dir string) (map[string]Repo, error) {
	unused, err := e.UnusedVolumes(ctx, labelPath)
	if err != nil {
		return nil, err
	}
	found := map[string]Repo{}
	for name, path := range unused {
		r := Repo{Path: path}
		if !slices.Contains([]string{r.ShelfVolume(), r.HistoryVolume()}, name) {
			continue // a volume of another program with our label
		}
		if _, err := os.Lstat(r.lockFile(dir)); err == nil {
			found[name] = r
		}
	}
	return found, nil
}

// RemoveVolume removes a volume of the repository with its files, unless isUsed reports that a sandbox has it. It holds the
// repository's lock in dir meanwhile, so that no sandbox of it is created. It reports whether the volume was removed; one
// that a container has, or that does not exist, is left without an error.
func (r Repo) RemoveVolume(ctx context.Context, e job.Volumes, dir, name string, isUsed func(name string) (bool, error)) (bool, error) {
	release, err := r.Lock(ctx, dir)
	if err != nil {
		return false, err
	}
	defer release()
	if used, err := isUsed(name); used || err != nil {
		return false, err
	}
	err = e.RemoveVolume(ctx, name)
	if code := sandbox.CodeOf(err); code == sandbox.Exists || code == sandbox.NotFound {
		return false, nil
	}
	return err == nil, err
}
