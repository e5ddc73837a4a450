//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/attacker"
)

func namespaces() []escape {
	return []escape{
		{
			ID: "C17.1", Name: "no user namespace is made", Matrix: "nested userns",
			Go:      []string{"userns", "/proc/self/ns/user", "/proc/1/ns/mnt", "/proc/1/ns/net"},
			Control: control{Flags: []string{"--userns"}},
		},
		{
			ID: "C17.2", Name: "the calls that mount are refused before they are looked at",
			Go: []string{
				"calls", "mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "fsconfig", "fsmount",
				"fspick", "mount_setattr", "setns", "clone3",
			},
			Control: control{Root: true},
		},
		{
			ID: "C17.3", Name: "a mount that protects cannot be taken away",
			Sh: `umount .git/hooks; umount -l .git/hooks; umount -l .git; umount -l {work}; umount -l {home}/.ssh
				unshare -rm sh -c 'umount -l {work}/.git/hooks; umount -l {home}/.ssh; cat {home}/.ssh/id_ed25519; mount -o remount,rw,bind {home}; echo x >{home}/planted'
				mount -o remount,rw,bind {home}; mount -o remount,rw,bind {work}/.git/hooks; cat {home}/.ssh/id_ed25519
				` + hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
			Hold: holdGitSafe(),
		},
		{
			ID: "C17.4", Name: "with user namespaces allowed the protected files stay protected",
			Flags: []string{"--userns"},
			Sh: `unshare -Um --keep-caps sh -c 'umount -l {work}/.git/hooks; umount -l {home}/.ssh; umount -l {work}/.git; umount -l {home}
					cat {home}/.ssh/id_ed25519; mount -o remount,rw,bind {home}; echo x >{home}/planted; mount -t tmpfs t /mnt
					printf "#!/bin/sh\ntouch {home}/pwned\n" >{work}/.git/hooks/pre-commit; chmod +x {work}/.git/hooks/pre-commit; mv {work}/.git {work}/g'
				unshare -Ump --keep-caps --fork sh -c 'echo x >{work}/.mcp.json; mkdir -p {scratch}; mount --rbind {work} {scratch} && echo mounted; cd {scratch}; echo x >.mcp.json; echo x >.envrc; mkdir .claude; echo x >.claude/settings.json'`,
			Hold: holdMounted(1, holdAll(holdGitSafe(), holdAbsent("{work}/.mcp.json", "{work}/.envrc", "{work}/.claude"))),
		},
		{
			ID: "C17.5", Name: "with user namespaces allowed a changed root does not hide where a file comes into being",
			Flags: []string{"--userns"},
			Sh: `unshare -Um --keep-caps sh -c 'mkdir -p {scratch}; mount --rbind / {scratch} && mount --rbind {work} {scratch}/mnt && echo mounted
					chroot {scratch} /bin/sh -c "cd /mnt && echo x >.mcp.json; echo x >.envrc; mkdir .claude; echo x >.claude/settings.json"'
				unshare -Um --keep-caps sh -c 'cd {work}; chroot . {attacker} create open .mcp.json'
				unshare -U --keep-caps chroot {work} /bin/true; unshare -Um --keep-caps sh -c 'mount --rbind {work} /mnt && echo mounted && cd /mnt && echo x >.mcp.json && mkdir .husky && echo x >.husky/pre-commit'`,
			Hold: holdMounted(2, holdAbsent("{work}/.mcp.json", "{work}/.envrc", "{work}/.claude", "{work}/.husky")),
		},
		{
			ID: "C17.6", Name: "with user namespaces allowed a mount of one's own gives a protected name no second path",
			Flags: []string{"--userns"},
			Sh: `mkdir -p {scratch}/m; unshare -Um --keep-caps sh -c '
					mount --rbind {work} {scratch}/m; echo x >{scratch}/m/.mcp.json; cd {scratch}/m; echo x >.envrc; mkdir .claude
					echo x >.claude/settings.json; mv src .husky; mkdir new; mkdir new/.git
					mkdir {work}/other; mount --rbind {work} {work}/other; echo x >{work}/other/.mcp.json'`,
			Hold: holdAbsent("{work}/.mcp.json", "{work}/.envrc", "{work}/.claude/settings.json", "{work}/.husky", "{work}/new/.git"),
		},
		{
			ID: "C17.7", Name: "with user namespaces allowed a mount of one's own leads to no process and no socket of the host",
			Flags: []string{"--userns"},
			Setup: func(h *host) { h.services = append(h.services, h.listen("stream", h.expand("{work}/service.sock"))) },
			Sh: `mkdir -p {scratch}/m {scratch}/p; unshare -Um --keep-caps sh -c '
					mount --rbind {work} {scratch}/m; {attacker} connect stream {scratch}/m/service.sock
					touch {scratch}/s; mount --bind {work}/service.sock {scratch}/s; {attacker} connect stream {scratch}/s
					mount --rbind /proc/1 {scratch}/p; (: <>{scratch}/p/mem) && echo OPEN the memory of process 1
					mount --rbind /proc/1 /proc/$$; exec 3<>/proc/$$/mem && echo OPEN the memory of process 1'`,
			Hold: unreached,
		},
		{
			ID: "C17.8", Name: "with user namespaces allowed a command that leaves the sandbox's mounts removes no protected file",
			Flags: []string{"--userns"},
			Setup: func(h *host) {
				h.write("home/project/.mcp.json", "{}\n")
				h.runScript("mkdir .husky")
			},
			Sh: `mkdir -p {scratch}; unshare -Umr --propagation unchanged {attacker} leave {work} {scratch} .mcp.json .git/config .git/hooks .husky/
				echo x >.mcp.json; printf '[core]\n fsmonitor = "touch {home}/pwned; false"\n' >>.git/config; mkdir -p .husky; echo x >.husky/pre-commit`,
			Hold: holdAll(holdUnchanged(".mcp.json", ".husky", ".git/config", ".git/hooks"), holdGitSafe()),
		},
	}
}

// holdMounted is the check after an attempt whose script must report each of its mounts. Without the mounts nothing was
// tried, inside or in the control.
func holdMounted(mounts int, hold func(*host, outcome) error) func(*host, outcome) error {
	return func(h *host, o outcome) error {
		if made := strings.Count(o.stdout, "mounted\n"); made != mounts {
			if h.bare {
				return nil
			}
			return fmt.Errorf("%d mounts were made, want %d\n%s", made, mounts, o)
		}
		return hold(h, o)
	}
}

func syscalls() []escape {
	const row = "ptrace / keyctl / bpf / userfaultfd"
	other := func(script string) string {
		return `{attacker} sleep & sleep 0.2; ` + script + `; kill $!`
	}
	kinds := []string{"i386", "i386-elf", "x32"}
	foreign := func() string {
		if runtime.GOARCH != "amd64" {
			return "this architecture has no second one"
		}
		dir, err := os.MkdirTemp("", "foreign")
		if err != nil {
			return err.Error()
		}
		defer func() { _ = os.RemoveAll(dir) }()
		for _, kind := range kinds {
			if attacker.RunForeign(dir, kind) == nil {
				return ""
			}
		}
		return "this machine runs neither programs of i386 nor of x32"
	}
	return []escape{
		{ID: "C18.1", Name: "io_uring is refused", Matrix: "io_uring", Go: []string{"calls", "io_uring_setup", "io_uring_enter", "io_uring_register"}},
		{ID: "C18.2", Name: "bpf is refused", Matrix: row, Go: []string{"calls", "bpf"}, Control: control{Root: true}},
		{ID: "C18.3", Name: "perf_event_open is refused", Matrix: row, Go: []string{"calls", "perf_event_open"}, Control: control{Root: true}},
		{ID: "C18.4", Name: "userfaultfd is refused", Matrix: row, Go: []string{"calls", "userfaultfd"}},
		{ID: "C18.5", Name: "keyrings are refused", Matrix: row, Go: []string{"calls", "keyctl", "add_key", "request_key"}},
		{
			ID: "C18.6", Name: "kernels and modules are refused before they are looked at",
			Go:      []string{"calls", "kexec_load", "init_module", "finit_module", "delete_module"},
			Control: control{Root: true, If: func() string { return missingCalls("init_module", "kexec_load") }},
		},
		{
			ID: "C18.7", Name: "what belongs to the machine is refused before it is looked at",
			Go:      []string{"calls", "open_by_handle_at", "swapon", "acct", "syslog", "fanotify_init"},
			Control: control{Root: true},
		},
		{
			ID: "C18.8", Name: "no process gets at the memory of another", Matrix: row,
			Sh: other(`{attacker} trace $!`),
		},
		{ID: "C18.9", Name: "no process takes a descriptor out of another", Matrix: row, Sh: other(`{attacker} pidfd $!`)},
		{
			ID: "C18.10", Name: "system calls of another architecture are refused", Matrix: row,
			Go: append([]string{"foreign"}, kinds...), Control: control{If: foreign},
		},
		{
			ID: "C18.11", Name: "the kernel says that filter, privileges and capabilities are as promised",
			Go: []string{"status"},
		},
		{
			ID: "C18.12", Name: "a program that exists only in memory is in the same isolation", Matrix: "memfd exec",
			Go: []string{"memfd", "create", "open", "{home}/planted", ".mcp.json", "{home}/.config/autostart/x"},
		},
		{
			ID: "C18.13", Name: "the filter holds with user namespaces and debuggers allowed", Flags: []string{"--userns", "--debuggers"},
			Go: []string{"calls", "io_uring_setup", "keyctl", "userfaultfd"},
		},
		{
			ID: "C18.14", Name: "with debuggers allowed a tracer cannot change what the guard has looked at",
			Flags:   []string{"--debuggers"},
			Sh:      `strace -f -o /dev/null sh -c 'echo x >.mcp.json'; strace -f -e inject=seccomp:retval=0 -o /dev/null sh -c 'echo x >.envrc'`,
			Hold:    holdAbsent("{work}/.mcp.json", "{work}/.envrc"),
			Control: control{None: "the same calls are made without a tracer in A2.1"},
		},
		{
			ID: "C18.15", Name: "no lease on a file makes the host wait",
			Go: []string{"lease", "{home}/.bashrc", "{home}/.profile", "{work}/src/main.go"},
		},
		{
			ID: "C18.16", Name: "the sandbox's first process can neither be read nor changed, with debuggers allowed either", Flags: []string{"--debuggers"},
			Sh: `for f in environ maps auxv; do head -c 1 /proc/1/$f >/dev/null 2>&1 && echo OPEN read /proc/1/$f; done
				(: >>/proc/1/mem) 2>/dev/null && echo OPEN open /proc/1/mem
				ls /proc/1/root/ >/dev/null 2>&1 && echo OPEN its root
				for f in /proc/1/fd/*; do readlink "$f" >/dev/null 2>&1 && echo OPEN descriptor "$f"; done; true`,
			Control: control{Root: true, If: func() string {
				if _, err := os.Readlink("/proc/1/exe"); err != nil {
					return "this machine shows nothing of its first process: " + err.Error()
				}
				return ""
			}},
		},
	}
}

// missingCalls returns a reason if this kernel has none of the calls, so that a refusal would not prove that the filter
// refused.
func missingCalls(names ...string) string {
	bad := ^uintptr(0)
	for _, name := range names {
		// Invalid arguments: if the call exists, the error is another one.
		if _, _, errno := unix.Syscall6(attacker.CallNumbers[name], bad, bad, bad, bad, bad, bad); errno != unix.ENOSYS {
			return ""
		}
	}
	return "this kernel has none of these calls"
}

// fakeBwrap is a program called bwrap that leaves a file on the host when it runs.
const fakeBwrap = "#!/bin/sh\ntouch {home}/pwned\nwhile [ $# -gt 0 ] && [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n"

func planted() []escape {
	plant := func(path string) func(h *host) {
		return func(h *host) { h.write(path, h.expand(fakeBwrap)) }
	}
	const touch = "echo x >{home}/planted"
	bare := func(path string) []string {
		return []string{"/usr/bin/env", path, "bwrap", "--", "/bin/sh", "-c", touch + "; echo tried"}
	}
	refuse := func(_ *host, o outcome) error {
		if o.tried() || o.code == 125 { // the checks of every case cover what a real sandbox did
			return nil
		}
		return errors.New("neither refused with 125 nor run in a sandbox")
	}
	path := func(id, name, path string, setup func(h *host)) escape {
		return escape{ID: id, Name: name, Ends: true, Hold: refuse, Setup: setup, Env: []string{path}, Sh: touch, Bare: bare(path)}
	}
	linked := func(h *host) {
		plant("home/project/x/bwrap")(h)
		h.must(os.Symlink(filepath.Join(h.work, "x"), filepath.Join(h.home, "path")))
	}
	return []escape{
		path("C19.1", "a program called bwrap in the working directory is not run", "PATH=.:/usr/bin:/bin", plant("home/project/bwrap")),
		path("C19.2", "a program called bwrap is not found through an empty PATH entry", "PATH=:/usr/bin:/bin", plant("home/project/bwrap")),
		path("C19.3", "a program called bwrap in the work tree's own bin is not run", "PATH={work}/node_modules/.bin:/usr/bin:/bin", plant("home/project/node_modules/.bin/bwrap")),
		path("C19.4", "a program called bwrap that a link leads to in the work tree is not run", "PATH={home}/path:/usr/bin:/bin", linked),
		{
			ID: "C19.5", Name: "without bubblewrap nothing is run", Ends: true,
			Launch: []string{"/usr/bin/unshare", "-rm", "/bin/sh", "-c", "for b in /usr/bin/bwrap /usr/local/bin/bwrap /bin/bwrap; do mount --bind /dev/null $b; done 2>/dev/null\n" +
				"{start} /bin/sh -c 'echo x >{home}/planted; echo tried'"},
			Args: []string{"/bin/sh", "-c", touch + "; echo tried"},
			Hold: func(_ *host, o outcome) error {
				if o.tried() || o.code != 125 {
					return errors.New("want exit code 125, and nothing run")
				}
				return nil
			},
		},
		{
			ID: "C19.6", Name: "a bubblewrap that does not isolate is not trusted", Ends: true,
			Setup: func(h *host) {
				h.write("tools/bwrap", "#!/bin/sh\n[ \"$1\" = --version ] && { echo bubblewrap 0.11.0; exit; }\n"+
					"while [ $# -gt 0 ] && [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n")
			},
			Env: []string{"PATH={base}/tools:/usr/bin:/bin"}, Sh: touch, Hold: refuse,
		},
		{
			ID: "C19.7", Name: "a library of the caller's is not loaded into the programs that isolate", Ends: true,
			Env: []string{"LD_PRELOAD={home}/" + canary + ".so", "LD_LIBRARY_PATH={home}/" + canary, "LD_AUDIT={home}/" + canary},
			Sh:  `env; [ -e /run/agent-sandbox/agent-sandbox ] && tr '\0' '\n' </proc/1/environ; true`,
		},
	}
}
