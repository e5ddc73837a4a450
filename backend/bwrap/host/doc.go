// Package host finds bubblewrap on a host and reports what the host can enforce with it: namespaces, system call filters,
// cgroups, and the layer that forbids what fails.
package host
