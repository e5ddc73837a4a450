// Package job describes the jobs of a container engine: to build an image, and to run one command in a container. It
// links no client of an engine; package engine does.
package job

import (
	"context"
	"io"
	"io/fs"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Engine is a connection to a container engine. Errors are of package sandbox. It is safe for concurrent use.
type Engine interface {
	// Build builds an image with the engine's own layer cache and returns its ID. The error of a failed step names the
	// step and ends with the last lines of its output. When ctx ends, the engine stops the build and its containers.
	Build(ctx context.Context, b Build) (id string, err error)
	// Run runs a command and waits for its end. When ctx ends, it kills the command. It always removes the container.
	Run(ctx context.Context, r Run) (Output, error)
	// Image describes an image by its name or ID; NotFound when the engine has none.
	Image(ctx context.Context, name string) (Image, error)
	Volumes
	// Close closes the connection.
	Close() error
}

// Volumes are the volumes of an engine.
type Volumes interface {
	// HasVolume reports whether the engine has a volume of that name.
	HasVolume(ctx context.Context, name string) (bool, error)
	// UnusedVolumes returns the names of the volumes that have a label and that no container has, not even a stopped one,
	// with the value of the label.
	UnusedVolumes(ctx context.Context, label string) (map[string]string, error)
	// RemoveVolume removes a volume with its files. Exists: a container has it. NotFound: there is none.
	RemoveVolume(ctx context.Context, name string) error
}

// Image is an image that an engine has.
type Image struct {
	ID      string
	Digests []string // "name@sha256:..." of the registries that the image came from or went to
	Labels  map[string]string
}

// Build is an image to build.
type Build struct {
	Context    fs.FS             // the files that the Dockerfile can copy; symbolic links stay links
	Extra      map[string][]byte // further files, by name
	Archive    io.Reader         // what [PackContext] wrote, instead of both
	Dockerfile string            // its name in Context; empty: "Dockerfile"
	Tags       []string          // "name:tag"
	Target     string            // the stage to stop at; empty: the last one
	Args       map[string]string // build arguments
	Labels     map[string]string // of the image
	Progress   func(line string) // receives each line of the build's output; nil: the lines are dropped
}

// Run is one command in a temporary container. It has only the capabilities in Caps.
type Run struct {
	Image   string
	Args    []string // program and arguments, instead of the image's entry point
	Env     []string // "K=V", in addition to the image's
	User    string   // "UID:GID"; empty: the image's
	Stdin   io.Reader
	Volumes []sandbox.Volume // volumes to mount
	Network bool             // with the engine's default network; false: without one
	Caps    []string         // capabilities, such as "CHOWN"
}

// Output is the result of a [Run].
type Output struct {
	Stdout, Stderr []byte // the first 1 MiB of each
	Code           int    // exit status
}
