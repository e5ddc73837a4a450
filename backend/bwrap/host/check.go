//go:build linux

package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap/limits"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Check reports what this host can enforce, with the bubblewrap at bwrapPath or, if that is empty, the one that [Find]
// returns. What the host cannot do is a finding, not an error. It takes some tens of milliseconds.
func Check(ctx context.Context, bwrapPath string) (sandbox.Report, error) {
	f := collectFacts(ctx, bwrapPath)
	if err := ctx.Err(); err != nil {
		return sandbox.Report{}, err
	}
	return diagnose(f), nil
}

// diagnose returns a finding for each rule: the mechanism that enforces it, or the layer that forbids it. It depends only on f.
func diagnose(f facts) sandbox.Report {
	r := sandbox.Report{Backend: "bwrap", Version: f.version}
	add := func(rule string, needed bool, v verdict) {
		r.Findings = append(r.Findings, sandbox.Finding{
			Rule: rule, State: v.state, Detail: v.detail, Fix: v.fix, Needed: needed,
		})
	}
	add("bubblewrap", true, f.judgeBwrap())
	add("user namespaces", true, f.judgeUserns())
	if tried, ok := f.tries[tryProc]; ok {
		add("private /proc", true, f.judgeProc(tried))
	}
	if tried, ok := f.tries[trySeccomp]; ok {
		add("system call filter", true, verdictOfTry(tried, "seccomp, made for this architecture", "let the outer container allow seccomp(2) and prctl(2)"))
	}
	add("guard of missing names", true, f.judgeGuard())
	add("second line behind the guard", false, f.judgeLandlock())
	add("guard of sockets", true, f.judgeSockets())
	add("network none", false, f.judgeNet())
	add("nested user namespaces", false, f.judgeNested())
	add("paths that cannot be exchanged", false, f.judgeBindFD())
	add("terminal", false, f.judgeTerminal())
	for _, c := range []string{"cpu", "memory", "pids"} {
		add("limits."+c, false, f.judgeLimit(c))
	}
	add("limits.tmp", false, enforced("the size of a tmpfs"))
	none := impossible("files on a disk are not counted", "use the virtual backend")
	add("limits.disk", false, none)
	add("limits.nodes", false, none)
	add("limits.file", false, enforced("RLIMIT_FSIZE"))
	add("limits.wall", false, verdict{sandbox.Emulated, "agent-sandbox kills the sandbox when its time is over", ""})
	add("limits.output", false, verdict{sandbox.Emulated, "output over the limit is read and dropped", ""})
	return r
}

// verdict is a finding without its rule.
type verdict struct {
	state       sandbox.State
	detail, fix string
}

func enforced(detail string) verdict        { return verdict{sandbox.Enforced, detail, ""} }
func impossible(detail, fix string) verdict { return verdict{sandbox.Impossible, detail, fix} }

func (f facts) judgeBwrap() verdict {
	err := f.bwrapErr
	if err == nil {
		err = f.features.Usable(f.bwrap)
	}
	if err != nil {
		return impossible(err.Error(), sandbox.HintOf(err))
	}
	return enforced(f.bwrap)
}

// Bits of capabilities(7).
const (
	capSysPtrace = 1 << 19
	capSysAdmin  = 1 << 21
	capSetfcap   = 1 << 31
)

const (
	seccompFix  = "allow clone, unshare, mount, umount2 and pivot_root in the outer container: docker run --security-opt seccomp=unconfined"
	appArmorFix = "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or load an AppArmor profile that grants userns to bwrap"
)

// judgeUserns finds the layer that forbids user namespaces, or what bubblewrap does in them. Of several it names the one
// to remove first.
func (f facts) judgeUserns() verdict {
	message := f.tries[tryBase]
	if f.userns == nil && message == "" {
		if _, tried := f.tries[tryBase]; !tried {
			return enforced("the kernel creates them; bubblewrap was not tried")
		}
		return enforced("user, mount, PID, IPC and UTS namespaces")
	}
	if message == "" && f.userns != nil {
		message = "clone(CLONE_NEWUSER): " + rootCause(f.userns)
	}
	privileged := f.caps&capSysAdmin != 0
	switch {
	case isWSL1(f.release):
		return impossible("WSL 1 has no Linux kernel and no namespaces", "wsl --set-version <distribution> 2")
	case errors.Is(f.userns, unix.EINVAL) || errors.Is(f.userns, unix.ENOSYS):
		return impossible("the kernel is built without user namespaces", "a kernel with CONFIG_USER_NS=y")
	case f.maxUserns == 0 || errors.Is(f.userns, unix.ENOSPC):
		return impossible(
			fmt.Sprintf("sysctl user.max_user_namespaces is %d and used up: %s", f.maxUserns, message),
			"sudo sysctl -w user.max_user_namespaces=15000 (in an outer sandbox: let that one allow nested user namespaces)")
	case f.cloneSysctl == 0 && !privileged:
		return impossible("sysctl kernel.unprivileged_userns_clone is 0: "+message, "sudo sysctl -w kernel.unprivileged_userns_clone=1")
	case f.appArmor == 1 && !privileged:
		return impossible("AppArmor restricts unprivileged user namespaces: "+message, appArmorFix)
	case f.chrooted:
		return impossible("this process is in a chroot, where the kernel creates no user namespaces: "+message, "enter the tree with a mount namespace (unshare --mount, pivot_root) in place of chroot")
	case f.userns == nil && f.uid == 0 && f.caps&capSetfcap == 0 && strings.Contains(message, "uid map"):
		return impossible("root lacks CAP_SETFCAP, which mapping root needs: "+message, "docker run --cap-add SETFCAP, or run as a plain user")
	case f.seccomp == 2:
		return impossible("the seccomp filter of an outer container forbids it: "+message, seccompFix)
	}
	return impossible(message, "see user_namespaces(7); an outer container or a security module refuses")
}

// rootCause returns the innermost error's text, without the path of the missing program.
func rootCause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// isWSL1 reports whether release is the kernel of WSL 1; that of WSL 2 has "microsoft-standard".
func isWSL1(release string) bool {
	return strings.Contains(release, "Microsoft")
}

func (f facts) judgeProc(message string) verdict {
	switch {
	case message == "":
		return enforced("a /proc of the sandbox's own processes")
	case len(f.masked) > 0:
		return impossible(
			fmt.Sprintf("the outer container masks parts of /proc (%s), so the kernel mounts no fresh one: %s", strings.Join(f.masked[:min(3, len(f.masked))], ", "), message),
			"docker run --security-opt systempaths=unconfined (podman: --security-opt unmask=ALL)")
	case f.seccomp == 2:
		return impossible("the seccomp filter of an outer container forbids it: "+message, seccompFix)
	}
	return impossible(message, "let the outer container mount proc")
}

func verdictOfTry(message, detail, fix string) verdict {
	if message == "" {
		return enforced(detail)
	}
	return impossible(message, fix)
}

func (f facts) judgeGuard() verdict {
	switch {
	case f.notify != nil:
		return impossible(f.notify.Error(), sandbox.HintOf(f.notify))
	case errors.Is(f.listen, unix.EBUSY):
		return impossible("an outer sandbox already listens to the system calls of this process, and the kernel allows one listener", "start outside of that sandbox")
	case f.listen != nil:
		return impossible("a seccomp listener cannot be installed: "+f.listen.Error(), "let the outer container allow seccomp(2) and prctl(2)")
	}
	return verdict{sandbox.Emulated, "seccomp user notification, answered by agent-sandbox; a file that a race creates is found and removed", ""}
}

func (f facts) judgeLandlock() verdict {
	if f.landlock == 0 {
		return impossible("the kernel offers no Landlock to this process, so a call that got past the guard would make its entry",
			"Linux 5.13 or newer with landlock in lsm= of its command line, and an outer container that allows landlock_create_ruleset(2); or decide about changes afterwards: --stage")
	}
	return enforced(fmt.Sprintf("Landlock, version %d: commands can make no directory entry themselves; not with --userns", f.landlock))
}

func (f facts) judgeSockets() verdict {
	switch {
	case errors.Is(f.getfd, unix.ENOSYS):
		return impossible("the kernel has no pidfd_getfd(2): "+f.release, "Linux 5.6 or newer")
	case f.getfd != nil:
		return impossible("pidfd_getfd(2) is refused: "+f.getfd.Error(), "let the outer container allow pidfd_getfd(2)")
	case f.yama == 3 || f.yama == 2 && f.caps&capSysPtrace == 0:
		return impossible(fmt.Sprintf("sysctl kernel.yama.ptrace_scope is %d, which forbids access to the sandbox's own processes", f.yama),
			"sudo sysctl -w kernel.yama.ptrace_scope=1 (3 can only be left by a reboot)")
	}
	return enforced("agent-sandbox connects on the command's behalf")
}

func (f facts) judgeNet() verdict {
	message, tried := f.tries[tryNet]
	switch {
	case !tried:
		return impossible("not tried: the isolation before it failed", "")
	case message == "":
		return enforced("a network namespace with a loopback of its own")
	case f.appArmor == 1 && f.caps&capSysAdmin == 0:
		return impossible("AppArmor restricts unprivileged user namespaces: "+message, appArmorFix)
	}
	return impossible(message, "let the outer container make network namespaces")
}

func (f facts) judgeNested() verdict {
	if message, tried := f.tries[tryDisableUserns]; tried && message == "" {
		return enforced("--disable-userns and seccomp")
	}
	return enforced("seccomp")
}

func (f facts) judgeBindFD() verdict {
	message, tried := f.tries[tryBindFD]
	switch {
	case tried && message == "":
		return enforced("mounted by descriptor")
	case tried:
		return verdict{sandbox.Emulated, "mounted by name: " + message, ""}
	}
	return verdict{sandbox.Emulated, "mounted by name", "a bubblewrap with --bind-fd"}
}

func (f facts) judgeTerminal() verdict {
	if f.tiocsti == 0 {
		return enforced("seccomp and sysctl dev.tty.legacy_tiocsti=0")
	}
	return enforced("seccomp refuses TIOCSTI and TIOCLINUX")
}

func (f facts) judgeLimit(c string) verdict {
	if why, known := f.controllers[c]; !known || why != "" {
		return impossible(why, limits.DelegateFix)
	}
	if c == "pids" && !slices.Contains(f.cgroups, c) {
		return enforced("RLIMIT_NPROC of the sandbox's own user namespace")
	}
	return enforced("a cgroup of its own")
}
