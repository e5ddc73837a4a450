package docker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// CommandLine returns the docker command that creates the container which Create would create for spec, with the image's
// own entry point and a terminal instead of the guest. Wrapped commands are wrapped there, too. It creates no container, and the
// name differs from that of spec's, so that both can exist.
func (d *Driver) CommandLine(ctx context.Context, spec sandbox.Spec) ([]string, error) {
	p, err := d.prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	options, err := p.config()
	if err != nil {
		return nil, err
	}
	c, h := options.Config, options.HostConfig
	filter, err := p.seccompFile()
	if err != nil {
		return nil, err
	}
	args := []string{"docker", "run", "--rm", "-it", "--name", options.Name + "-by-hand", "--user", c.User}
	if c.Hostname != "" {
		args = append(args, "--hostname", c.Hostname)
	}
	for _, k := range slices.Sorted(maps.Keys(c.Labels)) {
		if !slices.Contains([]string{labelHost, labelOwner, labelState, labelPlace, labelBase}, k) {
			args = append(args, "--label", k+"="+c.Labels[k])
		}
	}
	args = append(args, isolationFlags(h)...)
	args = append(args, "--security-opt", "seccomp="+filter)
	for _, path := range slices.Sorted(maps.Keys(h.Tmpfs)) {
		args = append(args, "--tmpfs", path+":"+h.Tmpfs[path])
	}
	for _, m := range h.Mounts {
		args = append(args, "--mount", mountFlag(m))
	}
	for _, kv := range policy.LastOfEach(append([]string{"HOME=" + p.user.Home}, p.plan.Env...)) {
		args = append(args, "--env", kv)
	}
	return append(args, "--workdir", p.dir(), p.image.Name), nil
}

// isolationFlags returns the flags that isolate a container from the host.
func isolationFlags(h *container.HostConfig) []string {
	args := []string{"--network", string(h.NetworkMode), "--ipc", string(h.IpcMode)}
	for _, c := range h.CapDrop {
		args = append(args, "--cap-drop", c)
	}
	for _, o := range h.SecurityOpt {
		if !strings.HasPrefix(o, "seccomp=") { // the client wants a file
			args = append(args, "--security-opt", o)
		}
	}
	if h.ReadonlyRootfs {
		args = append(args, "--read-only")
	}
	for _, limit := range []struct {
		flag  string
		value int64
	}{{"--memory", h.Memory}, {"--memory-swap", h.MemorySwap}, {"--shm-size", h.ShmSize}} {
		if limit.value > 0 {
			args = append(args, limit.flag, strconv.FormatInt(limit.value, 10))
		}
	}
	if h.NanoCPUs > 0 {
		args = append(args, "--cpus", strconv.FormatFloat(float64(h.NanoCPUs)/1e9, 'g', -1, 64))
	}
	if h.PidsLimit != nil {
		args = append(args, "--pids-limit", strconv.FormatInt(*h.PidsLimit, 10))
	}
	for _, u := range h.Ulimits {
		args = append(args, "--ulimit", fmt.Sprintf("%s=%d:%d", u.Name, u.Soft, u.Hard))
	}
	return args
}

// mountFlag is a mount as --mount takes it: fields of CSV.
func mountFlag(m mount.Mount) string {
	fields := []string{"type=" + string(m.Type), "source=" + m.Source, "target=" + m.Target}
	if m.ReadOnly {
		fields = append(fields, "readonly")
	}
	if m.BindOptions != nil && m.BindOptions.NonRecursive {
		fields = append(fields, "bind-recursive=disabled")
	}
	for i, f := range fields {
		if strings.ContainsAny(f, `",`+"\n") {
			fields[i] = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
		}
	}
	return strings.Join(fields, ",")
}
