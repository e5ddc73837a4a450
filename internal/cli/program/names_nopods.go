//go:build agent && !kube

package program

// Cluster is the program with the driver of pods.
const Cluster = "agent-sandbox-kube"
