package docker

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/backend/docker/owner"
	"github.com/seed434b0696/agent-sandbox/backend/docker/profile"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// guestProcesses is the number of processes and threads that the guest needs beside those of commands, with room for machines
// with many processors and a dozen commands at once: docs/design/docker.md has the figures.
const guestProcesses = 64

// config returns the container's configuration without the mounts of the gateway's files.
func (p *prepared) config() (client.ContainerCreateOptions, error) {
	var none client.ContainerCreateOptions
	mounts, err := p.mounts()
	if err != nil {
		return none, err
	}
	filter, err := p.seccomp()
	if err != nil {
		return none, err
	}
	limits := p.plan.Limits
	network := container.NetworkMode("none")
	switch {
	case p.plan.Network.Mode == sandbox.NetworkHost:
		network = "host"
	case len(p.spec.Firewall) > 0:
		network = "bridge"
	}
	config := &container.Config{
		Image: cmp.Or(p.root(), p.image.ID), User: p.user.Identity(), Labels: p.labels(), WorkingDir: "/",
		Entrypoint: []string{layout.Program, "serve", "-"}, Cmd: []string{}, Env: []string{"PATH=" + p.image.Path()},
		OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true,
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		StopSignal:  "SIGKILL", // the guest catches all others, which commands could send too
	}
	if network != "host" {
		config.Hostname = "sandbox"
	}
	host := &container.HostConfig{
		NetworkMode: network, LogConfig: container.LogConfig{Type: "none"}, AutoRemove: !p.state.isPersistent(), IpcMode: "private",
		CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges:true", "seccomp=" + filter},
		ReadonlyRootfs: p.image.ReadOnly, Tmpfs: p.tmpfs(), Mounts: mounts, ShmSize: int64(limits.Tmp),
		Resources: container.Resources{
			Memory: p.memory(), MemorySwap: p.memory(), NanoCPUs: int64(limits.CPU * 1e9), PidsLimit: p.pids(),
			Ulimits: p.ulimits(),
		},
	}
	return client.ContainerCreateOptions{Name: p.name(), Config: config, HostConfig: host}, nil
}

// seccomp returns the seccomp profile in the form that the engine accepts: its text, or for Podman the name of a file.
func (p *prepared) seccomp() (string, error) {
	if p.podman {
		return p.seccompFile()
	}
	return profile.Seccomp()
}

// seccompFile writes the seccomp profile to a file, if it does not exist, and returns its name.
func (p *prepared) seccompFile() (string, error) {
	text, err := profile.Seccomp()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(text))
	name := p.driver.dir("seccomp", hex.EncodeToString(sum[:12])+".json")
	return name, writeFile(name, []byte(text), 0o600)
}

// name returns the container's name: that of a persistent sandbox if it has our prefix, otherwise one with the ID.
func (p *prepared) name() string {
	const prefix = "agent-sandbox-"
	if p.state.isPersistent() && strings.HasPrefix(p.spec.Name, prefix) && isContainerName(p.spec.Name) {
		return p.spec.Name
	}
	return prefix + p.id
}

// isContainerName reports whether the engine accepts a name.
func isContainerName(s string) bool {
	return len(s) > 1 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
}

// labels returns the labels that identify the container and its owner.
func (p *prepared) labels() map[string]string {
	labels := map[string]string{labelOurs: "1", labelHost: owner.User(), labelID: p.id, labelName: p.spec.Name, labelWorkspace: p.plan.Workspace}
	if p.state.isPersistent() {
		labels[labelState], labels[labelPlace] = p.state.dir, owner.Place(p.state.dir)
		labels[labelBase] = p.image.Name
	} else {
		labels[labelOwner] = owner.Process(os.Getpid())
	}
	return labels
}

// ulimits returns the resource limits of every process.
func (p *prepared) ulimits() []*container.Ulimit {
	list := []*container.Ulimit{{Name: "core"}}
	if size := int64(p.plan.Limits.File); size > 0 {
		list = append(list, &container.Ulimit{Name: "fsize", Soft: size, Hard: size})
	}
	return list
}

// memory returns the limit of memory and swap in bytes, 0 for none: the policy's, or else half of what the engine's host has.
// File systems in memory such as /tmp, each of which may take half of the host's memory, count toward it.
func (p *prepared) memory() int64 {
	if n := int64(p.plan.Limits.Memory); n > 0 {
		return n
	}
	return p.spareMemory
}

// pids returns the limit of processes and threads, with room for the guest; nil: no limit.
func (p *prepared) pids() *int64 {
	n := p.plan.Limits.Pids
	if n <= 0 {
		return nil
	}
	all := int64(n) + guestProcesses
	return &all
}
