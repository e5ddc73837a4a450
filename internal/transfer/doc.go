// Package transfer moves files and trees between the host and sandboxes. What comes out of a sandbox is hostile: it
// is extracted below one directory that nothing in it can leave, without devices, set-id bits and owners.
//
// Both ends agree on tar as archive/tar reads and writes it; the guest uses this package for its end too.
package transfer
