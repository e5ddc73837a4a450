// Package stage provides a copy-on-write view of a workspace: commands write into the
// view, and the workspace does not change until [Stage.Apply].
//
// A [Store] is a directory of stages. A command runs on a stage between [Stage.Use] and
// [Use.Close]; [Use.Command] returns a prefix for its command line, with which the
// command sees the view at the workspace's path. [Stage.Diff] and [Stage.WritePatch] show
// its changes.
//
// The view is a kernel overlay mounted in a user namespace. If the kernel refuses the
// overlay, the view is a copy of the workspace, which shares its blocks if the file
// system supports that. [Stage.Kind] is the mechanism.
//
// # Conflicts
//
// Apply skips a path whose entry in the workspace has changed since the stage was
// created. An overlay stores no record of the workspace; it compares the inode's change
// time, which no program can set, with the time of its creation. So a chmod, a new hard
// link or a rename count as changes, and so does a change that the command in the stage
// already saw. It misses changes after the machine's clock was set back. A file system of
// another machine has another clock, so a stage of such a workspace is a copy. A copy
// compares with the record that was written while copying.
//
// # Limits
//
// Owners, extended attributes and times are not part of a difference. Hard links between
// changed files are preserved if the files are applied together; a link between a changed
// and an unchanged file is broken, as in overlays. A file that belongs to another user or
// group cannot be changed inside a plain user's overlay. A workspace with other mounts
// below it is refused. The workspace should not change while a command runs on an overlay
// over it: whether the command sees such changes is undefined.
package stage
