package docker

import "github.com/seed434b0696/agent-sandbox/sandbox"

// DefaultImage is the image of a sandbox whose Spec names none.
const DefaultImage = "agent-sandbox-base:latest"

// Options configure a [Driver].
type Options struct {
	Env     []string // of this process, "K=V": where the engine is (DOCKER_HOST, ...)
	DataDir string   // directory of files for containers, which the engine must see under the same path; empty: ~/.local/share/agent-sandbox
	Guest   string   // the guest program; empty: found or extracted
	Image   string   // the default image; empty: DefaultImage

	Trace  func(phase, line string) // receives debug output; nil: none
	Denied func(sandbox.Denial)     // receives denials; nil: none
}
