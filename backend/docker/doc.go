// Package docker is the backend whose sandboxes are containers of a Docker engine or Podman.
//
// A sandbox is one container whose first process is the guest, to which this process is attached: commands, files and
// ports go over that one stream. Nothing inside can be connected to, no port of the host is used, and when this
// process dies the engine closes the guest's input, which ends the container.
package docker
