// Package transfer copies files and trees between the host and sandboxes. It treats the content of a sandbox as hostile: it
// extracts below one directory, which no member of an archive can leave, without devices, set-id bits and owners.
//
// Both ends use tar as archive/tar reads and writes it; the guest uses this package, too.
package transfer
