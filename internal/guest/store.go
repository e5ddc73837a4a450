package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The two ends of a session with "agent-sandbox store" agree on this, as on the operations on files; the store is the directory
// [StoreDir]:
//
//	snapshot NAME   keeps the files under a name
//	snapshots       a sandbox.SnapshotInfo for each, oldest first, one JSON object a line
//	remove NAME     removes a snapshot
//	restore NAME    puts the files back to a snapshot; nothing may use them
//	copy            copies the files to where [CopiedDir] says, until the next operation
//	settle          finishes what a killed one has begun
//
// Only one is at work at a time. Each begins with settling. Exit status and standard error are as those of files.
const (
	storeCommand = "store"

	opSnapshot  = "snapshot"
	opSnapshots = "snapshots"
	opForget    = "remove"
	opRestore   = "restore"
	opCopy      = "copy"
	opSettle    = "settle"
)

// StoreDir is where the volume of a sandbox stands whose files and snapshots it holds.
const StoreDir = "/volume"

// Names in a store. No command of the sandbox sees more of it than the directories in [FilesDir].
const (
	FilesDir     = "files"     // the sandbox's own, with a directory for each of Kept
	snapshotsDir = "snapshots" // a directory for each, as FilesDir, with a description
	copiedDir    = "copied"
	nextDir      = "next" // is to take the place of FilesDir: whole, or not there
	storeLock    = "lock"
	aboutFile    = "snapshot.json"
	newPrefix    = "new-"
	gonePrefix   = "gone-"
)

// Kept are the directories of a sandbox's files that outlive its pod.
func Kept() []string { return []string{"workspace", "home"} }

// CopiedDir is where one of [Kept] is of a snapshot, or, when its name is empty, of the last copy.
func CopiedDir(snapshot, kept string) string {
	if snapshot == "" {
		return path.Join(StoreDir, copiedDir, kept)
	}
	return path.Join(StoreDir, snapshotsDir, snapshot, kept)
}

// Store works on the volume of a sandbox, through the guest at [StoreDir] within other walls.
type Store struct{ start StartFunc }

// NewStore returns the store of the sandbox in which start starts commands. What comes back is taken for hostile.
func NewStore(start StartFunc) Store { return Store{start} }

// Snapshot keeps the files as they are now.
func (s Store) Snapshot(ctx context.Context, name string) error {
	return s.run(ctx, nil, opSnapshot, name)
}

// Restore puts the files back to a snapshot.
func (s Store) Restore(ctx context.Context, name string) error {
	return s.run(ctx, nil, opRestore, name)
}

// Remove removes a snapshot.
func (s Store) Remove(ctx context.Context, name string) error { return s.run(ctx, nil, opForget, name) }

// Copy copies the files as they are now.
func (s Store) Copy(ctx context.Context) error { return s.run(ctx, nil, opCopy) }

// Settle finishes what a killed process has begun.
func (s Store) Settle(ctx context.Context) error { return s.run(ctx, nil, opSettle) }

// Snapshots lists them.
func (s Store) Snapshots(ctx context.Context) ([]sandbox.SnapshotInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &boundedBuffer{limit: maxListing, over: cancel}
	if err := s.run(ctx, out, opSnapshots); err != nil {
		return nil, err
	}
	return decodeSnapshots(out.buf.Bytes())
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
			return nil, sandbox.Errorf(sandbox.Internal, "the guest's list of snapshots: %w", err)
		}
		list = append(list, info)
	}
}

func (s Store) run(ctx context.Context, out io.Writer, args ...string) error {
	c := &call{errs: &boundedBuffer{limit: maxErrorLine}}
	stdio := sandbox.Stdio{Stdout: out, Stderr: c.errs}
	p, err := s.start(ctx, sandbox.Cmd{Args: append([]string{Program, storeCommand}, args...), Dir: "/"}, stdio)
	if err != nil {
		return err
	}
	c.process = p
	return c.end()
}
