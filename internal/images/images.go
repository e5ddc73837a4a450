// Package images contains the build contexts of the images of Docker sandboxes.
package images

import (
	"embed"
	"io/fs"
	"slices"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

//go:embed base claude claude-full
var files embed.FS

// The images, each built on the one before.
const (
	Base       = "base"
	Claude     = "claude"
	ClaudeFull = "claude-full"
)

// Names returns the names of the images, each after its base image.
func Names() []string { return []string{Base, Claude, ClaudeFull} }

// DefaultTag is the tag of images for an empty tag.
const DefaultTag = "latest"

// Reference returns an image's name in the engine: "agent-sandbox-base:latest". An empty tag is [DefaultTag].
func Reference(name, tag string) string {
	if tag == "" {
		tag = DefaultTag
	}
	return "agent-sandbox-" + name + ":" + tag
}

// Context returns the build context of an image: its Dockerfile, and the files that it copies. NotFound: there is no such
// image.
func Context(name string) (fs.FS, error) {
	if !slices.Contains(Names(), name) {
		return nil, sandbox.Errorf(sandbox.NotFound, "no image %.100q", name).WithHint("the images are base, claude and claude-full")
	}
	return fs.Sub(files, name)
}

// Chain returns the images to build for an image, in order; the image itself is the last.
func Chain(name string) []string {
	return Names()[:slices.Index(Names(), name)+1]
}
