package docker

import "github.com/seed434b0696/agent-sandbox/sandbox"

// DefaultImage is what a sandbox is made of when its Spec names no image.
const DefaultImage = "agent-sandbox-base:latest"

// Options configure a [Driver].
type Options struct {
	Env     []string // of this process, "K=V": where the engine is (DOCKER_HOST, ...)
	DataDir string   // where files for containers are kept; the engine must see them under the same path
	Guest   string   // the guest program; empty: found or extracted
	Image   string   // the default image; empty: DefaultImage

	Trace  func(phase, line string) // told what is done; nil: nobody is
	Denied func(sandbox.Denial)     // told of refusals; nil: nobody is
}
