//go:build linux

package escape_test

import (
	"cmp"
	"slices"
	"strings"
)

// unsuitableForDocker returns why an attempt proves nothing in a container; "": it proves something.
func unsuitableForDocker(c *escape) string {
	return map[string]string{
		"C19.5": "containers need no bubblewrap",
		"C19.6": "containers need no bubblewrap",
		"A7.10": "a container has no home of the host: G40.7",
		"E23.8": "the guest connects to published ports, no process beside it: G40.1 attacks that one",
	}[c.ID]
}

// unsuitableForPersistentDocker is unsuitableForDocker for persistent sandboxes.
func unsuitableForPersistentDocker(c *escape) string {
	return cmp.Or(unsuitableForPersistent(c), unsuitableForDocker(c))
}

// refusedByDocker returns the error of agent-sandbox for a flag that containers do not support.
func refusedByDocker(c *escape) string {
	switch {
	case slices.Contains(c.Flags, "--stage"):
		return "a container works on the workspace itself, not on a stage"
	case slices.Contains(c.Flags, "--userns"):
		return "containers make no user namespaces"
	case slices.Contains(c.Flags, "--tmp"):
		return "this backend has no /tmp that lasts between runs"
	case slices.Contains(c.Flags, "@ssh-agent"):
		return "this backend does not serve the SSH agent"
	case slices.Contains(c.Flags, "@gpg-agent"):
		return "this backend does not serve the GnuPG agent"
	}
	return ""
}

// unsuitableForKube returns why an attempt proves nothing in a pod; "": it proves something.
func unsuitableForKube(c *escape) string {
	kind, _, _ := strings.Cut(c.ID, ".")
	switch {
	case kind == "C19":
		return "no program of this machine runs for a pod"
	case kind == "D20" && c.ID != "D20.1" && c.ID != "D20.2" && c.ID != "D20.3":
		return "a pod has a copy, so no work on the host can be lost"
	case kind == "D30" && (c.ID <= "D30.4" || c.ID == "D30.6"):
		return "commits in a copy do not come back; D30.5 commits, too"
	case kind == "G41", c.ID == "G40.9", c.ID == "G40.11", c.ID == "G40.13":
		return "nothing of the host is mounted into a pod"
	case c.Net != nil && refusedByKube(c) == "":
		return "the test's own network has no cluster"
	}
	return map[string]string{
		"A7.10":  "no home of the host is in a pod: H50.6",
		"F25.18": "nothing of the host is mounted into a pod",
		"F25.5":  "a command that stops the guest ends its own processes: H51.3",
		"F25.7":  "only a node's kubelet limits the processes of a pod: H52.1",
		"G40.5":  "H50.5 attacks the node's sockets",
		"G40.6":  "H51.1 attacks it",
		"G40.8":  "H50.3 attacks the cluster's network",
	}[c.ID]
}

// refusedByKube returns the error of agent-sandbox for a flag that pods do not support.
func refusedByKube(c *escape) string {
	has := func(flag string) bool {
		return slices.ContainsFunc(c.Flags, func(f string) bool { return f == flag || strings.HasPrefix(f, flag+"=") })
	}
	switch {
	case has("--stage"):
		return "a pod works on a copy of the workspace, or on a volume"
	case has("--docker"):
		return "whoever reaches an engine's socket controls its host"
	case has("--userns"):
		return "pods make no user namespaces"
	case has("--tmp"):
		return "this backend has no /tmp that lasts between runs"
	case slices.Contains(c.Flags, "@ssh-agent"):
		return "this backend does not serve the SSH agent"
	case slices.Contains(c.Flags, "@gpg-agent"):
		return "this backend does not serve the GnuPG agent"
	case has("--socket"):
		return "the path is on this host, and the pod is not"
	case has("--secret"):
		return "the proxy of an allow-list inserts them, and a pod cannot be confined to it"
	case has("--allow"), has("--deny"), has("--publish"):
		return "a pod's network cannot be taken away, so commands could bypass the proxy"
	case has("--cmd"):
		return "commands of an image that is not on this machine cannot be wrapped"
	case slices.ContainsFunc(c.Flags, func(f string) bool { return strings.HasPrefix(f, "pids=") }):
		return "only a node's kubelet limits the processes of a pod"
	case slices.ContainsFunc(c.Flags, func(f string) bool { return strings.HasPrefix(f, "{home}") }) && (has("--rw") || has("--ro")):
		return "the path is on this host, and the pod is not"
	}
	return ""
}
