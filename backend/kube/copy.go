package kube

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/transfer"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// copyWorkspace copies the host's workspace into the pod, without the paths that the policy hides. It copies nothing back. It
// leaves out secret files that the user does not name: on this host only the sandbox could read them, but the administrators of the
// cluster and all users of the namespace can read the copy.
func (i *instance) copyWorkspace(ctx context.Context) error {
	archiver, ok := files.New(i.Start).(sandbox.Archiver)
	if !ok {
		return sandbox.Errorf(sandbox.Internal, "the guest does not support directory transfer")
	}
	root, err := os.OpenRoot(i.Plan.Workspace)
	if err != nil {
		return sandbox.Errorf(sandbox.CodeOf(err), "workspace: %w", err)
	}
	defer root.Close()
	var left []string // the secret files
	hides := func(name string, kind fs.FileMode) bool {
		file := filepath.Join(i.Plan.Workspace, name)
		if access, _ := i.Plan.Access(file); access == policy.Exclude {
			return true
		}
		if kind != 0 || !i.Plan.IsLeftOut(file) { // only a regular file has content
			return false
		}
		left = append(left, name)
		return true
	}
	i.driver.options.Trace("kube", "copy "+i.Plan.Workspace)
	r, w := io.Pipe()
	packed := make(chan error, 1)
	go func() {
		err := transfer.PackWithout(ctx, w, root, hides)
		_ = w.CloseWithError(err) // documented to return nil
		packed <- err
	}()
	err = archiver.Unpack(ctx, i.PathInside(i.Plan.Workspace), r)
	_ = r.Close() // as above
	perr := <-packed
	i.noticeLeft(left)
	if err == nil || perr == nil || errors.Is(perr, io.ErrClosedPipe) {
		return err
	}
	return sandbox.Errorf(sandbox.CodeOf(perr), "copy the workspace: %w", perr)
}
