//go:build linux

package host

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/plainuser"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// goodFacts returns the facts of a plain user on a current Debian.
func goodFacts() facts {
	return facts{
		uid: 1000, release: "6.12.0-amd64", bwrap: "/usr/bin/bwrap", version: "0.11.0",
		features: Features{DisableUserns: true, BindFD: true},
		tries: map[string]string{
			tryBase: "", tryProc: "", tryNet: "", tryDisableUserns: "", tryBindFD: "", trySeccomp: "",
		},
		cloneSysctl: 1, maxUserns: 63000, appArmor: -1, yama: 1, tiocsti: 0, landlock: 7,
		controllers: map[string]string{"cpu": "", "memory": "", "pids": ""}, cgroups: []string{"cpu", "memory", "pids"},
	}
}

// baseFails sets the message of a bubblewrap that cannot create the namespaces; nothing else is tried then.
func baseFails(f *facts, message string) { f.tries = map[string]string{tryBase: message} }

func Test_Diagnose_Names_The_Layer(t *testing.T) {
	clone := &os.PathError{Op: "fork/exec", Path: "/proc/self/no such program", Err: unix.EPERM}
	tests := []struct {
		name   string
		change func(*facts)
		rule   string
		detail string
		fix    string
	}{
		{"AppArmor of Ubuntu 24.04", func(f *facts) {
			f.appArmor = 1
			baseFails(f, "bwrap: setting up uid map: Permission denied")
		}, "user namespaces", "AppArmor", "apparmor_restrict_unprivileged_userns=0"},
		{"AppArmor that takes rights only over the network", func(f *facts) {
			f.appArmor = 1
			f.tries[tryNet] = "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted"
		}, "network none", "AppArmor", "apparmor_restrict_unprivileged_userns=0"},
		{"the sysctl of old Debian", func(f *facts) {
			f.cloneSysctl, f.userns = 0, clone
			baseFails(f, "bwrap: No permissions to create new namespace")
		}, "user namespaces", "kernel.unprivileged_userns_clone is 0", "unprivileged_userns_clone=1"},
		{"no user namespaces left", func(f *facts) {
			f.maxUserns, f.userns = 0, &os.PathError{Op: "fork/exec", Err: unix.ENOSPC}
			baseFails(f, "bwrap: Creating new namespace failed: No space left on device")
		}, "user namespaces", "user.max_user_namespaces is 0", "user.max_user_namespaces=15000"},
		{"an outer sandbox without nested ones", func(f *facts) {
			f.userns = &os.PathError{Op: "fork/exec", Err: unix.ENOSPC}
			baseFails(f, "bwrap: Creating new namespace failed")
		}, "user namespaces", "used up", "outer sandbox"},
		{"Docker's default seccomp filter", func(f *facts) {
			f.uid, f.seccomp, f.userns, f.caps = 0, 2, clone, 0xa80425fb
			baseFails(f, "bwrap: No permissions to create new namespace")
		}, "user namespaces", "seccomp filter of an outer container", "seccomp=unconfined"},
		{"a seccomp filter against mounts only", func(f *facts) {
			f.seccomp = 2
			baseFails(f, "bwrap: Failed to make / slave: Operation not permitted")
		}, "user namespaces", "Failed to make / slave", "seccomp=unconfined"},
		{"root without CAP_SETFCAP", func(f *facts) {
			f.uid, f.caps = 0, 0x25fb
			baseFails(f, "bwrap: setting up uid map: Operation not permitted")
		}, "user namespaces", "CAP_SETFCAP", "--cap-add SETFCAP"},
		{"a chroot", func(f *facts) {
			f.chrooted, f.userns = true, clone
			baseFails(f, "bwrap: No permissions to create new namespace")
		}, "user namespaces", "chroot", "pivot_root"},
		{"a kernel without user namespaces", func(f *facts) {
			f.userns, f.maxUserns = &os.PathError{Op: "fork/exec", Err: unix.EINVAL}, -1
			baseFails(f, "bwrap: Creating new namespace failed")
		}, "user namespaces", "built without", "CONFIG_USER_NS"},
		{"WSL 1", func(f *facts) {
			f.release, f.userns, f.maxUserns = "4.4.0-19041-Microsoft", &os.PathError{Op: "fork/exec", Err: unix.EINVAL}, -1
			baseFails(f, "bwrap: Creating new namespace failed")
		}, "user namespaces", "WSL 1", "wsl --set-version"},
		{"something else", func(f *facts) {
			baseFails(f, "bwrap: Can't mkdir newroot: Read-only file system")
		}, "user namespaces", "Can't mkdir newroot", "user_namespaces(7)"},
		{"no bubblewrap, and no namespaces either", func(f *facts) {
			f.bwrapErr, f.tries, f.userns, f.cloneSysctl = sandbox.Errorf(sandbox.Unavailable, "bubblewrap (bwrap) is not installed"), nil, clone, 0
		}, "user namespaces", "clone(CLONE_NEWUSER): operation not permitted", "unprivileged_userns_clone=1"},
		{"masked /proc", func(f *facts) {
			f.tries[tryProc] = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"
			f.masked = []string{"/proc/asound", "/proc/kcore", "/proc/keys", "/proc/sys"}
		}, "private /proc", "masks parts of /proc (/proc/asound, /proc/kcore, /proc/keys)", "systempaths=unconfined"},
		{"a filter against mounting proc", func(f *facts) {
			f.tries[tryProc], f.seccomp = "bwrap: Can't mount proc", 2
		}, "private /proc", "seccomp filter of an outer container", "seccomp=unconfined"},
		{"no bubblewrap", func(f *facts) {
			f.bwrapErr, f.tries = sandbox.Errorf(sandbox.Unavailable, "bubblewrap (bwrap) is not installed").WithHint(installFix), nil
		}, "bubblewrap", "not installed", "apt install bubblewrap"},
		{"bubblewrap 0.4", func(f *facts) {
			f.version, f.features = "0.4.0", featuresOf([]string{"--bind", "--dev", "--proc"})
		}, "bubblewrap", "too old: it lacks --block-fd", "0.8.0 or newer"},
		{"set-user-ID bubblewrap", func(f *facts) { f.features.setuid = true }, "bubblewrap", "set-user-ID", "chmod u-s /usr/bin/bwrap"},
		{"seccomp that bubblewrap cannot install", func(f *facts) {
			f.tries[trySeccomp] = "bwrap: prctl(PR_SET_SECCOMP): Invalid argument"
		}, "system call filter", "PR_SET_SECCOMP", "outer container"},
		{"no user notification", func(f *facts) {
			f.notify = sandbox.Errorf(sandbox.Unavailable, "this kernel has none").WithHint("Linux 5.6")
		}, "guard of missing names", "this kernel has none", "Linux 5.6"},
		{"another listener", func(f *facts) { f.listen = unix.EBUSY }, "guard of missing names", "outer sandbox already listens", "outside"},
		{"a filter against filters", func(f *facts) { f.listen = unix.EPERM }, "guard of missing names", "cannot be installed", "seccomp(2)"},
		{"no Landlock", func(f *facts) { f.landlock = 0 }, "second line behind the guard", "no Landlock", "--stage"},
		{"no pidfd_getfd", func(f *facts) { f.getfd, f.release = unix.ENOSYS, "5.4.0" }, "guard of sockets", "5.4.0", "Linux 5.6"},
		{"pidfd_getfd refused", func(f *facts) { f.getfd = unix.EPERM }, "guard of sockets", "refused", "pidfd_getfd(2)"},
		{"yama that trusts administrators only", func(f *facts) { f.yama = 2 }, "guard of sockets", "ptrace_scope is 2", "ptrace_scope=1"},
		{"yama without any tracer", func(f *facts) { f.yama, f.caps = 3, 1<<41-1 }, "guard of sockets", "ptrace_scope is 3", "reboot"},
		{"a memory limit without cgroups", func(f *facts) { f.controllers["memory"] = "no memory cgroup here can be written" }, "limits.memory", "no memory cgroup", "systemd-run"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := goodFacts()
			tt.change(&f)
			r := diagnose(f)
			got := findingOf(t, r, tt.rule)
			if got.State != sandbox.Impossible || !strings.Contains(got.Detail, tt.detail) || !strings.Contains(got.Fix, tt.fix) {
				t.Errorf("got %+v", got)
			}
			if strings.Contains(got.Fix, "\n") || got.Fix == "" {
				t.Errorf("the fix is not one line: %q", got.Fix)
			}
			if got.Needed == r.OK() {
				t.Errorf("needed is %v, OK is %v", got.Needed, r.OK())
			}
		})
	}
}

func findingOf(t *testing.T, r sandbox.Report, rule string) sandbox.Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Rule == rule {
			return f
		}
	}
	t.Fatalf("no finding %q in %+v", rule, r)
	return sandbox.Finding{}
}

func Test_Diagnose_Accepts_Working_Hosts(t *testing.T) {
	tests := []struct {
		name   string
		change func(*facts)
	}{
		{"Debian", func(*facts) {}},
		{"root in a container without seccomp", func(f *facts) { f.uid, f.caps = 0, 1<<41-1 }},
		{"AppArmor with a profile for bubblewrap", func(f *facts) { f.appArmor = 1 }},
		{"an outer filter that allows enough", func(f *facts) { f.seccomp = 2 }},
		{"WSL 2", func(f *facts) { f.release = "5.15.153.1-microsoft-standard-WSL2" }},
		{"yama 2 as root", func(f *facts) { f.yama, f.uid, f.caps = 2, 0, 1<<41-1 }},
		{"masks that do not hinder", func(f *facts) { f.masked = []string{"/proc/kcore"} }},
		{"a bubblewrap without --bind-fd", func(f *facts) { f.features.BindFD = false; delete(f.tries, tryBindFD) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := goodFacts()
			tt.change(&f)
			r := diagnose(f)
			for _, finding := range r.Findings {
				// On no host does bubblewrap have a limit on the files of a disk.
				counts := finding.Rule == "limits.disk" || finding.Rule == "limits.nodes"
				if finding.State == sandbox.Impossible && !counts {
					t.Errorf("got %+v", finding)
				}
			}
			if !r.OK() || r.Version != "0.11.0" || r.Backend != "bwrap" {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func Test_This_Host_Can_Do_All(t *testing.T) {
	require.Command(t, "bwrap", "bwrap")
	r, err := Check(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Logf("%-32s %-10s %s", f.Rule, f.State, f.Detail)
		if f.Needed && f.State != sandbox.Enforced && f.State != sandbox.Emulated {
			t.Errorf("%+v", f)
		}
	}
	if net := findingOf(t, r, "network none"); net.State != sandbox.Enforced {
		t.Errorf("%+v", net)
	}
}

func Test_This_Host_Can_Do_All_For_A_Plain_User(t *testing.T) {
	require.Command(t, "bwrap", "bwrap")
	if plainuser.Repeat(t) {
		return
	}
	Test_This_Host_Can_Do_All(t)
}

func Test_Check_Leaves_No_Filter_Behind(t *testing.T) {
	if err := tryListen(); err != nil {
		t.Fatal(err)
	}
	// A thread of this process with a filter would pass it to the processes that it starts.
	for range 20 {
		out, err := exec.CommandContext(t.Context(), "grep", "^Seccomp:", "/proc/self/status").Output()
		if err != nil || strings.TrimSpace(string(out)) != "Seccomp:\t0" {
			t.Fatalf("got %q, %v", out, err)
		}
	}
}

// Test_Facts_Are_Read_Inside_A_Sandbox collects facts in a sandbox, where a layer really forbids namespaces.
func Test_Facts_Are_Read_Inside_A_Sandbox(t *testing.T) {
	if want := os.Getenv("SANDBOX_TEST_INSIDE"); want != "" {
		rule, detail, _ := strings.Cut(want, ": ")
		f := collectFacts(t.Context(), "")
		if got := findingOf(t, diagnose(f), rule); got.State != sandbox.Impossible || !strings.Contains(got.Detail, detail) {
			t.Errorf("got %+v from %+v", got, f)
		}
		return
	}
	require.Command(t, "bwrap", "bwrap")
	plain := []string{"--uid", "1000", "--gid", "1000"}
	tests := []struct {
		name string
		args []string
		root bool
		want string
	}{
		{"under a seccomp filter", []string{"--seccomp", "3"}, false, "user namespaces: seccomp filter of an outer container"},
		{"without nested namespaces", append([]string{"--disable-userns"}, plain...), false, "user namespaces: user.max_user_namespaces"},
		{"with a masked /proc", append([]string{"--ro-bind", "/dev/null", "/proc/uptime"}, plain...), false, "private /proc: masks parts of /proc"},
		{"as root without rights", nil, true, "user namespaces: CAP_SETFCAP"},
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.root {
				needRoot(t)
			}
			_, file, err := partArgs(trySeccomp, 3)
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			args := []string{"--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--cap-drop", "ALL"}
			args = append(append(args, tt.args...), "--", exe, "-test.run", "^Test_Facts_Are_Read_Inside_A_Sandbox$")
			cmd := exec.CommandContext(t.Context(), "bwrap", args...)
			cmd.ExtraFiles = []*os.File{file}
			cmd.Env = append(os.Environ(), "SANDBOX_TEST_INSIDE="+tt.want)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func Test_The_Root_Cause_Is_The_Errno(t *testing.T) {
	err := error(&os.PathError{Op: "fork/exec", Path: "/secret", Err: syscall.EPERM})
	if got := rootCause(errors.Join(err)); !strings.Contains(got, "operation not permitted") {
		t.Errorf("got %q", got)
	}
	if got := rootCause(err); got != "operation not permitted" {
		t.Errorf("got %q", got)
	}
}
