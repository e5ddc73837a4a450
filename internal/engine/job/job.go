// Package job describes what a container engine does for a command of ours: it builds an image, or runs one command in a
// container. It links no client of an engine; package engine has that.
package job

import (
	"context"
	"io"
	"io/fs"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Engine is a connection to a container engine. Errors are of package sandbox. It is safe for concurrent use.
type Engine interface {
	// Build builds an image with the engine's own layer cache and returns its ID. A step that fails is an error which
	// names the step and ends with the last lines of its output. When ctx ends, so does the build, with what runs in it.
	Build(ctx context.Context, b Build) (id string, err error)
	// Run runs a command and waits. When ctx ends, the command is killed. Its container is removed in any case.
	Run(ctx context.Context, r Run) (Output, error)
	// Image describes an image by its name or ID; NotFound when the engine has none.
	Image(ctx context.Context, name string) (Image, error)
	// HasVolume reports whether the engine has a volume of that name.
	HasVolume(ctx context.Context, name string) (bool, error)
	// Close closes the connection.
	Close() error
}

// Image is an image that an engine has.
type Image struct {
	ID     string
	Labels map[string]string
}

// Build is an image to build.
type Build struct {
	Context    fs.FS             // the files that the Dockerfile can copy; links in it stay links
	Extra      map[string][]byte // further files, by name
	Archive    io.Reader         // what [PackContext] wrote, instead of both
	Dockerfile string            // its name in Context; empty: "Dockerfile"
	Tags       []string          // "name:tag"
	Target     string            // the stage to stop at; empty: the last one
	Args       map[string]string // build arguments
	Labels     map[string]string // of the image
	Progress   func(line string) // gets each line that the build prints; nil: they are dropped
}

// Run is one command in a container of its own that is gone afterwards. It has no capabilities but those that are named.
type Run struct {
	Image   string
	Args    []string // program and arguments; the image's entry point does not run
	Env     []string // "K=V", on top of the image's
	User    string   // "UID:GID"; empty: the image's
	Stdin   io.Reader
	Volumes []sandbox.Volume // storage to mount
	Network bool             // reach the engine's default network; otherwise none
	Caps    []string         // capabilities, such as "CHOWN"
}

// Output is how a [Run] went.
type Output struct {
	Stdout, Stderr []byte // each cut at 1 MiB
	Code           int    // exit status
}
