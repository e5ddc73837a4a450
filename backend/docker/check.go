package docker

import (
	"context"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/engine"
	"github.com/seed434b0696/agent-sandbox/internal/landlock"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Check asks the engine what it can enforce.
func (d *Driver) Check(ctx context.Context) (sandbox.Report, error) {
	report := sandbox.Report{Backend: d.Name()}
	c, err := d.engine(ctx, "")
	if err != nil {
		report.Findings = []sandbox.Finding{{
			Rule: "container engine", State: sandbox.Impossible, Detail: err.Error(), Fix: sandbox.HintOf(err), Needed: true,
		}}
		return report, ctx.Err()
	}
	res, err := c.Info(ctx, client.InfoOptions{})
	if err != nil {
		return report, c.Wrap(err, "ask the engine about itself")
	}
	info := res.Info
	report.Version = info.ServerVersion
	report.Findings = append(findings(info), d.imageFinding(ctx, c))
	return report, nil
}

func findings(info system.Info) []sandbox.Finding {
	enforced := func(rule, detail string) sandbox.Finding {
		return sandbox.Finding{Rule: rule, State: sandbox.Enforced, Detail: detail}
	}
	has := func(rule string, ok bool, detail, fix string) sandbox.Finding {
		if ok {
			return enforced(rule, detail)
		}
		return sandbox.Finding{Rule: rule, State: sandbox.Impossible, Detail: "the engine's host has no " + detail, Fix: fix}
	}
	seccomp := slices.ContainsFunc(info.SecurityOptions, func(s string) bool { return strings.HasPrefix(s, "name=seccomp") })
	calls := has("system calls", seccomp, "seccomp", "use a kernel with CONFIG_SECCOMP_FILTER")
	calls.Needed = true
	return []sandbox.Finding{
		enforced("container engine", info.ServerVersion+", "+info.OperatingSystem),
		calls,
		enforced("filesystem", "bind mounts of what the policy shows"),
		secondLine(info),
		enforced("network", "a network namespace with loopback alone, and the allow-list outside"),
		has("limits.memory", info.MemoryLimit && info.SwapLimit, "memory cgroup with swap accounting", "boot with swapaccount=1"),
		has("limits.cpu", info.CPUCfsQuota, "cpu cgroup with quotas", "use a kernel with CONFIG_CFS_BANDWIDTH"),
		has("limits.pids", info.PidsLimit, "pids cgroup", "use a kernel with CONFIG_CGROUP_PIDS"),
		enforced("limits.tmp", "tmpfs of that size"),
		enforced("limits.file", "RLIMIT_FSIZE"),
		{Rule: "limits.disk", State: sandbox.Impossible, Detail: "files on a disk are not counted", Fix: "use the virtual backend"},
		{Rule: "limits.nodes", State: sandbox.Impossible, Detail: "files on a disk are not counted", Fix: "use the virtual backend"},
		enforced("limits.wall", "this process"),
		enforced("limits.output", "this process"),
		{Rule: "userns", State: sandbox.Impossible, Detail: "containers make no user namespaces", Fix: "use the bwrap backend"},
		{Rule: "stages", State: sandbox.Impossible, Detail: "a container works on the workspace itself", Fix: "use the bwrap backend"},
	}
}

// secondLine reports whether commands are in a Landlock domain. The supervisor decides that, on the kernel on which the
// containers run.
func secondLine(info system.Info) sandbox.Finding {
	f := sandbox.Finding{Rule: "second line behind the guard", State: sandbox.Enforced, Detail: "Landlock: commands can make no directory entry themselves"}
	switch {
	case !landlock.IsOwnKernel(info.KernelVersion):
		f.State, f.Detail = sandbox.Emulated, "Landlock, if the kernel of the engine's host ("+info.KernelVersion+") offers it: Linux 5.13 or newer"
	case landlock.Version() == 0:
		f.State, f.Detail = sandbox.Impossible, "the kernel offers no Landlock, so a call that got past the guard would make its entry"
		f.Fix = "Linux 5.13 or newer with landlock in lsm= of its command line"
	}
	return f
}

// imageFinding reports whether the default image exists. Without it a spec must name another one.
func (d *Driver) imageFinding(ctx context.Context, c *engine.Client) sandbox.Finding {
	f := sandbox.Finding{Rule: "image " + d.options.Image, State: sandbox.Enforced}
	if _, err := c.ImageInspect(ctx, d.options.Image); err != nil {
		f.State, f.Detail, f.Fix = sandbox.Impossible, "the engine does not have it", "agent-sandbox build-base"
	}
	return f
}

// checkLimits returns Unsupported for a limit that a policy requires and the engine cannot hold.
func checkLimits(info system.Info, plan *policy.Plan) error {
	for _, f := range findings(info) {
		name, limit := strings.CutPrefix(f.Rule, "limits.")
		source, asked := plan.Limits.Required[name]
		if limit && asked && f.State == sandbox.Impossible {
			return sandbox.Errorf(sandbox.Unsupported, "limits.%s (%s): %s", name, source, f.Detail).WithHint("%s", f.Fix)
		}
	}
	return nil
}

// isRootless reports whether the engine runs in a user namespace of its user.
func isRootless(info system.Info) bool { return slices.Contains(info.SecurityOptions, "name=rootless") }
