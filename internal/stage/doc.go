// Package stage is a copy-on-write view of a workspace: commands write into the
// view, and nothing touches the workspace until [Stage.Apply].
//
// A [Store] keeps stages in a directory of the user. A command runs on a stage
// between [Stage.Use] and [Use.Close]; [Use.Command] says what to put in front of
// its command line, so that it finds the view in the workspace's place.
// [Stage.Diff] and [Stage.WritePatch] show what a command did.
//
// The view is a kernel overlay mounted in a user namespace. Where the kernel
// refuses, it is a copy of the workspace, sharing its blocks where the file system
// can; [Stage.Kind] says which.
//
// # What changed underneath
//
// Apply refuses a path whose entry in the workspace is no longer the one that the
// stage was made over. An overlay takes no record of the workspace when it is made;
// it goes by the inode's change time, which no program can set: an entry that
// changed after the stage was made has one that is not older. So it is careful in
// doubt: a chmod, a new hard link or a rename count as changes, and so does a change
// that the command in the stage already saw. It is blind when the machine's clock was
// set back. Changes of an entry's own content by the file system of another machine
// have another clock; such workspaces are copied, and a copy compares with the record
// that was made while copying.
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
