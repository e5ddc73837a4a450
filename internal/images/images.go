// Package images holds what the images of sandboxes over Docker are built from.
package images

import (
	"embed"
	"io/fs"
	"slices"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

//go:embed base claude claude-full
var files embed.FS

// The images, from the one that needs nothing of ours to the one that is built on all others.
const (
	Base       = "base"
	Claude     = "claude"
	ClaudeFull = "claude-full"
)

// Names returns the images, each after the one that it is built on.
func Names() []string { return []string{Base, Claude, ClaudeFull} }

// DefaultTag is the tag of images when nobody names one.
const DefaultTag = "latest"

// Reference is an image's name for the engine: "agent-sandbox-base:latest". An empty tag is [DefaultTag].
func Reference(name, tag string) string {
	if tag == "" {
		tag = DefaultTag
	}
	return "agent-sandbox-" + name + ":" + tag
}

// Context returns the files that an image is built from: its Dockerfile, and what that copies. NotFound: there is no
// such image.
func Context(name string) (fs.FS, error) {
	if !slices.Contains(Names(), name) {
		return nil, sandbox.Errorf(sandbox.NotFound, "no image %.100q", name).WithHint("the images are base, claude and claude-full")
	}
	return fs.Sub(files, name)
}

// Chain returns the images to build for one, in order, the last of which is itself.
func Chain(name string) []string {
	return Names()[:slices.Index(Names(), name)+1]
}
