package kube

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/transfer"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// copyWorkspace copies the host's workspace into the pod, without the paths that the policy hides. It copies nothing back.
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
	hides := func(name string) bool {
		access, _ := i.Plan.Access(filepath.Join(i.Plan.Workspace, name))
		return access == policy.Exclude
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
	if err == nil || perr == nil || errors.Is(perr, io.ErrClosedPipe) {
		return err
	}
	return sandbox.Errorf(sandbox.CodeOf(perr), "copy the workspace: %w", perr)
}
