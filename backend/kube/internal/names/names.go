// Package names holds the names, labels and annotations of the objects that make up a sandbox in a cluster.
package names

// Labels and annotations of all objects.
const (
	LabelManaged   = "app.kubernetes.io/managed-by" // Manager
	LabelID        = "agent-sandbox.dev/id"         // the sandbox's ID
	LabelNetwork   = "agent-sandbox.dev/network"    // "none" or "host", for NetworkPolicies
	AnnotationName = "agent-sandbox.dev/name"       // the sandbox's name, for people
	// A random value of the process that created an object whose name other processes can use, too.
	AnnotationMaker = "agent-sandbox.dev/maker"
	Manager         = "agent-sandbox"
)

// Labels of the objects of persistent sandboxes.
const (
	LabelRole          = "agent-sandbox.dev/kept" // a pod's role: RoleSandbox or RoleStore; the name is stored in clusters
	RoleSandbox        = "sandbox"                // commands run in the pod
	RoleStore          = "store"                  // the pod only works on the files
	PersistentSelector = LabelManaged + "=" + Manager + "," + LabelRole + "=" + RoleSandbox
)

// Container is the container in which commands run.
const Container = "sandbox"

// DoorContainer is the container through which a client connects to a pod in which commands may run. A process that a kubelet
// starts is less isolated than commands and has the same user, so it gets a container of its own.
const DoorContainer = "door"

// Limits of the door's container.
const (
	DoorCPU    = "2"
	DoorMemory = "128Mi"
)

// ObjectName returns the name of the pod of the sandbox with that ID, and of the volume claim of a persistent one.
func ObjectName(name string) string { return "agent-sandbox-" + name }

// PersistentLabels returns the labels of the volume claim of the persistent sandbox with that ID.
func PersistentLabels(name string) map[string]string {
	return map[string]string{LabelManaged: Manager, LabelRole: RoleSandbox, LabelID: name}
}
