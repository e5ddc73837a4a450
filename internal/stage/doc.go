// Package stage is a copy-on-write view of a workspace: commands write into the
// view, and nothing touches the workspace until [Stage.Apply].
//
// A [Store] is a directory of stages. A command runs on a stage between [Stage.Use]
// and [Use.Close]; [Use.Command] returns what to put in front of its command line, so
// that it sees the view at the workspace's path. [Stage.Diff] and [Stage.WritePatch]
// show its changes.
//
// The view is a kernel overlay mounted in a user namespace. Where the kernel
// refuses, it is a copy of the workspace, sharing its blocks where the file system
// can; [Stage.Kind] says which.
//
// # Conflicts
//
// Apply skips a path whose entry in the workspace has changed since the stage was
// created. An overlay stores no record of the workspace; it compares the inode's
// change time, which no program can set, with the time of its creation. So a chmod,
// a new hard link or a rename count as changes, and so does a change that the command
// in the stage already saw. It misses changes after the machine's clock was set back.
// The file system of another machine has another clock; workspaces on one are copied,
// and a copy compares with the record that was written while copying.
//
// # Limits
//
// Owners, extended attributes and times are not part of a difference. Hard links
// between changed files survive when they are applied together; one between a
// changed and an unchanged file is broken, as overlays do. A file that belongs to
// another user or group cannot be changed inside a plain user's overlay. A workspace
// with other mounts below it is refused. The workspace should rest while a command
// runs on an overlay over it: what the command sees of later changes is undefined.
package stage
