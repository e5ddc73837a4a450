package docker

import (
	"os"

	"github.com/seed434b0696/agent-sandbox/backend/docker/owner"
)

// Labels of our containers.
const (
	labelOurs      = "agent-sandbox"           // "1"
	labelHost      = "agent-sandbox.host"      // see owner.User
	labelID        = "agent-sandbox.id"        // of the sandbox
	labelName      = "agent-sandbox.name"      // of the sandbox, for people
	labelWorkspace = "agent-sandbox.workspace" // the host's directory
	labelOwner     = "agent-sandbox.owner"     // the process with which the container ends: see owner.Process
	labelState     = "agent-sandbox.state"     // of a persistent sandbox: the directory with which the container ends
	labelPlace     = "agent-sandbox.place"     // the location of that directory: see owner.Place
	labelBase      = "agent-sandbox.base"      // the image that the Spec of a persistent sandbox named
	labelConfig    = "agent-sandbox.config"    // the hash of its configuration
)

// ownLabels returns the labels of a container of this process that is not a sandbox.
func ownLabels() map[string]string {
	return map[string]string{labelOurs: "1", labelHost: owner.User(), labelOwner: owner.Process(os.Getpid())}
}
