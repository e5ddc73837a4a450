// Package transfer copies files and trees between the host and sandboxes. It treats the content of a sandbox as
// hostile. It extracts an archive below one directory, without devices, set-ID bits and owners; no member of the
// archive can write outside of that directory.
//
// Both ends use tar as archive/tar reads and writes it; the guest uses this package, too.
package transfer
