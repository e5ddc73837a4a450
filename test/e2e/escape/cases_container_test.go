//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// contained returns the attempts that are possible only in containers. They attack the container itself, so they cannot be made
// without one; the controls of the other cases show that the programs can succeed.
func contained() []escape {
	out := []escape{
		{
			ID: "G40.1", Name: "nothing of the guest, which is the first process, is to be had",
			Sh: `for f in environ maps mem io root/etc/passwd cwd/etc/passwd exe fd/0 fd/1; do
					head -c 1 /proc/1/$f >/dev/null 2>&1 && echo OPEN read /proc/1/$f; done
				ls /proc/1/root/ >/dev/null 2>&1 && echo OPEN its root
				(: >>/proc/1/mem) 2>/dev/null && echo OPEN open /proc/1/mem; (echo x >/proc/1/comm) 2>/dev/null && echo OPEN write /proc/1/comm
				for f in /proc/1/fd/0 /proc/1/fd/1 /proc/1/task/1/fd/0; do (echo x >$f) 2>/dev/null && echo OPEN write $f; done
				{attacker} trace 1; {attacker} pidfd 1; kill -9 1; kill -STOP 1; for s in $(seq 64); do kill -$s 1 2>/dev/null; done
				{attacker} sigqueue 1; sleep 0.2; echo survived`,
			Hold: func(h *host, o outcome) error {
				if !h.target.pod && !strings.Contains(o.stdout, "survived") { // H51.3 attacks the guest of a pod
					return errors.New("a signal ended the guest")
				}
				return nil
			},
		},
		{
			ID: "G40.2", Name: "the kernel's files of the whole machine are not written",
			Sh: `for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/fs/binfmt_misc/register /proc/sysrq-trigger /proc/kcore /proc/kmem \
					/proc/sys/kernel/hotplug /proc/sys/vm/overcommit_memory /proc/irq/0/smp_affinity /sys/kernel/uevent_helper; do
					(: >>$f) 2>/dev/null && echo OPEN $f; done
				for f in /proc/kcore /proc/timer_list /proc/keys; do [ "$(head -c 1 $f 2>/dev/null | wc -c)" = 0 ] || echo OPEN read $f; done
				for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $d/escape 2>/dev/null && echo OPEN $d; (echo 0 >$d/release_agent) 2>/dev/null && echo OPEN $d/release_agent
					(echo $$ >$d/cgroup.procs) 2>/dev/null && echo OPEN $d/cgroup.procs; (echo max >$d/memory.max) 2>/dev/null && echo OPEN $d/memory.max; done; true`,
		},
		{
			ID: "G40.3", Name: "no namespace is made, entered or mounted in",
			Sh: `for n in mnt net pid user uts ipc cgroup; do nsenter --$n=/proc/1/ns/$n true 2>/dev/null && echo OPEN enter $n; done
				for f in -m -n -p -u -i -C -U -r; do unshare $f true 2>/dev/null && echo OPEN unshare $f; done
				mkdir -p /tmp/m; for t in proc sysfs tmpfs cgroup cgroup2 overlay devtmpfs; do mount -t $t x /tmp/m 2>/dev/null && echo OPEN mount $t; done
				mount --bind / /tmp/m 2>/dev/null && echo OPEN bind; mount -o remount,rw /proc/sys 2>/dev/null && echo OPEN remount
				for m in /proc/sys /proc/kcore {work}/.git/hooks {work} /run/agent-sandbox; do umount $m 2>/dev/null && echo OPEN umount $m; done
				chroot / true 2>/dev/null && echo OPEN chroot; pivot_root / /tmp 2>/dev/null && echo OPEN pivot_root; true`,
		},
		{
			ID: "G40.4", Name: "no device node is made or opened",
			Sh: `for d in 'b 254 0' 'b 8 0' 'b 7 0' 'c 1 1' 'c 1 11' 'c 10 200' 'c 10 232'; do rm -f n /tmp/n; mknod n $d 2>/dev/null && echo OPEN mknod $d; mknod /tmp/n $d 2>/dev/null && echo OPEN mknod /tmp $d; done
				for d in /dev/vda /dev/sda /dev/mem /dev/kmsg /dev/kvm /dev/fuse /dev/net/tun /dev/loop0 /dev/mapper/control; do [ -e $d ] && echo OPEN $d; done; true`,
		},
		{
			ID: "G40.5", Name: "no engine's socket is there",
			Setup: func(h *host) { h.vars["engine"] = h.target.engine },
			Sh: `{attacker} connect stream {engine} stream /var/run/docker.sock stream /run/docker.sock stream /run/containerd/containerd.sock stream @containerd-shim tcp 127.0.0.1:2375
				for f in {engine} /run/docker.sock /run/containerd /var/lib/docker; do [ -e $f ] && echo OPEN $f; done; env | grep DOCKER && echo OPEN DOCKER_HOST; true`,
		},
		{
			ID: "G40.6", Name: "what runs the commands cannot be changed",
			Sh: `rm -rf /run/agent-sandbox; mv /run/agent-sandbox /run/x; for f in /run/agent-sandbox/*; do (echo x >>$f) && echo OPEN $f; rm -f $f && echo OPEN rm $f; chmod 777 $f && echo OPEN chmod $f; done
				(: >/run/agent-sandbox/new) && echo OPEN made; ln /run/agent-sandbox/agent-sandbox {work}/guest && echo OPEN linked; [ -x /run/agent-sandbox/agent-sandbox ] || echo OPEN gone; true`,
			Hold: func(h *host, _ outcome) error {
				changed, err := h.changes(filepath.Join(h.home, ".local/share/agent-sandbox/docker"))
				for _, c := range changed {
					if strings.Contains(c, "agent-sandbox/docker/") && h.before[filepath.Join(h.base, c)] != "" {
						return fmt.Errorf("changed: %s (%w)", c, err)
					}
				}
				return err
			},
		},
		{
			ID: "G40.7", Name: "our own files of the host and our keepers' sockets are not there",
			Sh: `for f in {home}/.local/share/agent-sandbox {home}/.config {home}/.ssh {home}/outside {runtime} {base}/tmp /run/user; do [ -e $f ] && echo OPEN $f; done
				find / -xdev -type s 2>/dev/null | sed 's/^/OPEN socket /'; true`,
		},
		{
			ID: "G40.8", Name: "without a network there is none, neither the engine's nor a cloud's",
			Setup: func(h *host) { h.vars["port"] = h.listenTCP() },
			Sh: `{attacker} connect tcp 169.254.169.254:80 tcp 172.17.0.1:{port} tcp 172.17.0.1:22 tcp 127.0.0.1:{port} tcp '[fe80::1]:80' udp 172.17.0.1:53 udp 1.1.1.1:53
				[ "$(ls /sys/class/net)" = lo ] || echo OPEN "$(ls /sys/class/net)"; {attacker} families raw packet; true`,
		},
		{
			ID: "G40.9", Name: "links in the work tree lead to no protected file",
			Setup: func(h *host) {
				h.runScript("ln -s .git/config c; ln -s .git/hooks hk; ln -s .vscode/tasks.json tasks; ln -s .mcp.json missing")
			},
			Sh: `for f in c hk/pre-push hk/pre-commit tasks missing; do (echo x >>$f); (echo x >$f); cp src/main.go $f; sed -i s/a/b/ hk/pre-push; done
				ln .git/config hard && echo x >>hard; ln .vscode/tasks.json t2 && echo x >>t2; ln -L missing m2; cp --link -r .git g2; echo x >>g2/config`,
			Hold: holdAll(holdUnchanged(".git/config", ".git/hooks", ".vscode", ".mcp.json"), holdGitSafe()),
		},
		{
			ID: "G40.10", Name: "programs of the image with the setuid bit give no rights",
			Sh: `[ "$(id -u)" = 0 ] || { mkfifo /tmp/q; sleep 1000 >/tmp/q & s=$!; for p in passwd chsh chfn gpasswd newgrp su mount umount; do
					p=$(command -v $p) || continue; [ -u $p ] && seen=1; $p </tmp/q >/dev/null 2>&1 & q=$!; sleep 0.05
					awk -v p=$p '/^(Uid|Gid)/ && ($2 == 0 || $3 == 0 || $4 == 0) {print "OPEN", p, $0} /^Cap(Prm|Eff)/ && $2 !~ /^0+$/ {print "OPEN", p, $0}' /proc/$q/status 2>/dev/null; kill $q 2>/dev/null; done
					kill $s; [ "$seen" ] || echo BROKEN no such program in the image; }
				su -c 'echo OPEN' </dev/null; cp /bin/sh s; chmod u+s s && echo OPEN chmod; cp /bin/sh /tmp/s; chmod 4755 /tmp/s && echo OPEN chmod in /tmp; true`,
		},
		{
			ID: "G40.11", Name: "what exists and what does not is protected alike, through every mount of the tree",
			Sh: `for d in {work} /proc/self/cwd /proc/self/root{work} {home}/tools/../project; do
					for f in .mcp.json .envrc .git/hooks/pre-commit .git/config .vscode/tasks.json .claude/settings.json .github/workflows/x.yml; do
					mkdir -p $d/${f%/*}; (echo x >>$d/$f); mv src/main.go $d/$f; done; done
				mv .git g; mv .vscode v; mv .git/hooks h; rmdir .git/hooks; mv ../project ../p2`,
			Hold: holdAll(holdUnchanged(".git/hooks", ".git/config", ".vscode", ".mcp.json", ".envrc", ".claude"), holdGitSafe(), holdAbsent("{home}/p2", "{work}/.github/workflows")),
		},
		{
			ID: "G40.12", Name: "the filter holds with debuggers allowed", Flags: []string{"--debuggers"},
			Go: []string{"calls", "io_uring_setup", "keyctl", "userfaultfd", "bpf"},
		},
		{
			ID: "G40.13", Name: "the limits and the scheduling of the guard are not changed",
			Sh: `prlimit --pid $$ --nofile=512 || echo BROKEN prlimit; chrt -b -p 0 $$ || echo BROKEN chrt; renice -n 19 -p $$ || echo BROKEN renice
				for t in /proc/1/task/*; do t=${t##*/}; prlimit --pid $t --nofile=3 && echo OPEN limits; chrt -i -p 0 $t && echo OPEN scheduling
					renice -n 19 -p $t && echo OPEN priority; ionice -c 3 -p $t && echo OPEN I/O; taskset -p 1 $t && echo OPEN processors; done
				renice -n 19 -u $(id -u) && echo OPEN all of the user; renice -n 19 -g 1 && echo OPEN group; mkdir .husky && echo OPEN name; true`,
			Hold: holdAbsent("{work}/.husky"),
		},
	}
	for i := range out {
		out[i].Control = control{None: "the container is its own host"}
	}
	return append(out, raced()...)
}

// raced returns attempts to make the engine mount another path: it mounts by path and as root while a second sandbox starts.
func raced() []escape {
	second := func(flags ...string) func(h *host, p *attempt) {
		return func(h *host, _ *attempt) {
			for range 6 {
				args := append(append([]string{}, flags...), "--", "/bin/sh", "-c",
					"for f in d .git/hooks .vscode; do echo x >$f/planted; cat $f/canary; done")
				out, _ := h.command(h.work, h.exec(args...)...).CombinedOutput()
				h.vars["said"] += string(out)
			}
		}
	}
	hold := func(h *host, _ outcome) error {
		err := h.checkAbsent("{home}/outside/planted", "{home}/.ssh/planted", "{work}/.git/hooks/planted", "{work}/.vscode/planted")
		if strings.Contains(h.vars["said"], canary) {
			err = fmt.Errorf("a secret was read: %s (%w)", h.vars["said"], err)
		}
		return err
	}
	leads := func(h *host) {
		h.runScript("mkdir d; ln -s {home}/outside l; ln -s {home}/.ssh s")
		h.write("home/outside/canary", canary+"\n")
	}
	return []escape{
		{
			ID: "G41.1", Name: "a directory that is swapped for a link does not make the engine mount what it leads to",
			Setup: leads, Go: []string{"swap", "d", "l"}, During: second("--rw", "d"), Hold: hold, Control: control{None: "A3.10 has it"},
		},
		{
			ID: "G41.2", Name: "a read-only directory that is swapped for a link shows nothing else",
			Setup: leads, Go: []string{"swap", "d", "l"}, During: second("--ro", "d"), Hold: hold, Control: control{None: "A3.10 has it"},
		},
	}
}
