// Package podstore reads and writes the volume of a persistent pod: its files and their snapshots. [Client] is the host's end,
// [Serve] the guest's.
package podstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"

	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The protocol of a session with "agent-sandbox store", which also serves the operations of package files; the volume is the
// directory [Dir]:
//
//	snapshot NAME   saves the files under a name
//	snapshots       a sandbox.SnapshotInfo for each, oldest first, one JSON object a line
//	remove NAME     removes a snapshot
//	restore NAME    replaces the files by a snapshot; no process may use them
//	copy            copies the files to [CopiedDir], until the next operation
//	settle          finishes an operation whose process was killed
//
// One operation runs at a time, and each first does the work of settle. Exit status and standard error are those of
// package files.
const (
	Command = "store"

	opSnapshot  = "snapshot"
	opSnapshots = "snapshots"
	opForget    = "remove"
	opRestore   = "restore"
	opCopy      = "copy"
	opSettle    = "settle"
)

// Dir is the path of the volume in the container that serves it.
const Dir = "/volume"

// Names in a store. Commands of the sandbox see only the directories in [FilesDir].
const (
	FilesDir     = "files"     // the sandbox's current files, with a directory for each of [PersistentDirs]
	snapshotsDir = "snapshots" // a directory for each snapshot, like FilesDir, with a description
	copiedDir    = "copied"
	nextDir      = "next" // the next FilesDir; it is complete or does not exist
	storeLock    = "lock"
	aboutFile    = "snapshot.json"
	newPrefix    = "new-"
	gonePrefix   = "gone-"
)

// PersistentDirs returns the names of the directories in [FilesDir] that outlive the pod.
func PersistentDirs() []string { return []string{"workspace", "home"} }

// CopiedDir returns the path of one of [PersistentDirs] in a snapshot, or, when its name is empty, of the last copy.
func CopiedDir(snapshot, dir string) string {
	if snapshot == "" {
		return path.Join(Dir, copiedDir, dir)
	}
	return path.Join(Dir, snapshotsDir, snapshot, dir)
}

// Client works on the volume of a persistent sandbox through a guest in a container of its own.
type Client struct{ start files.StartFunc }

// New returns the client of a volume; start starts commands in its container. The client checks and limits all answers.
func New(start files.StartFunc) Client { return Client{start} }

// Snapshot saves the files as they are now under a name.
func (s Client) Snapshot(ctx context.Context, name string) error {
	return s.run(ctx, opSnapshot, name)
}

// Restore replaces the files by a snapshot.
func (s Client) Restore(ctx context.Context, name string) error {
	return s.run(ctx, opRestore, name)
}

// Remove removes a snapshot.
func (s Client) Remove(ctx context.Context, name string) error { return s.run(ctx, opForget, name) }

// Copy copies the files as they are now.
func (s Client) Copy(ctx context.Context) error { return s.run(ctx, opCopy) }

// Settle finishes an operation whose process was killed.
func (s Client) Settle(ctx context.Context) error { return s.run(ctx, opSettle) }

// Snapshots lists the snapshots, oldest first.
func (s Client) Snapshots(ctx context.Context) ([]sandbox.SnapshotInfo, error) {
	data, err := files.Output(ctx, s.start, storeCmd(opSnapshots))
	if err != nil {
		return nil, err
	}
	return decodeSnapshots(data)
}

func decodeSnapshots(data []byte) ([]sandbox.SnapshotInfo, error) {
	list := []sandbox.SnapshotInfo{}
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var info sandbox.SnapshotInfo
		err := dec.Decode(&info)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err == nil {
			err = sandbox.CheckSnapshot(info.Name)
		}
		if err != nil {
			return nil, sandbox.Errorf(sandbox.Internal, "invalid list of snapshots from the guest: %w", err)
		}
		list = append(list, info)
	}
}

func (s Client) run(ctx context.Context, args ...string) error {
	_, err := files.Output(ctx, s.start, storeCmd(args...))
	return err
}

func storeCmd(args ...string) sandbox.Cmd {
	return sandbox.Cmd{Args: append([]string{layout.Program, Command}, args...), Dir: "/"}
}
