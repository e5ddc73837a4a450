//go:build linux

package escape_test

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// pods returns the attempts that are possible only in pods. Their controls run on the node itself, or in a pod with the
// cluster's defaults.
func pods() []escape {
	out := append(clusters(), guests()...)
	for i := range out {
		setup := out[i].Setup
		out[i].Setup = func(h *host) {
			testCluster.addVariables(h)
			if setup != nil {
				setup(h)
			}
		}
	}
	return append(out, spent()...)
}

// scan connects to the ports of a pod on which a service may listen.
const scan = `{attacker} connect $(for p in 22 80 443 3128 8080 8443 10250 49983; do echo tcp {target}:$p; done)`

// clusters returns attempts to reach the cluster and its node.
func clusters() []escape {
	apart := control{Pod: true}
	near := []string{
		"connect", "tcp", "{api}", "tcp", "127.0.0.1:10248", "tcp", "127.0.0.1:10250", "tcp", "[::1]:10250", "tcp", "127.0.0.1:10255", "tcp", "127.0.0.1:10257",
		"tcp", "127.0.0.1:12379", "tcp", "127.0.0.1:{port}",
	}
	far := []string{
		"tcp", "{node}:10250", "tcp", "{node}:10255", "tcp", "{node}:10259", "tcp", "10.96.0.1:443", "tcp", "kubernetes.default.svc:443", "tcp", "{victim}:" + plainPort,
		"tcp", "{service}:" + plainPort, "tcp", "{neighbour}:22", "tcp", "169.254.169.254:80", "tcp", "[fd00:ec2::254]:80", "udp", "10.96.0.10:53", "udp", "{node}:53",
	}
	port := func(h *host) { h.vars["port"] = h.listenTCP() }
	return []escape{
		{
			ID: "H50.1", Name: "no token of a service account, and nothing else of the cluster's, is mounted",
			Sh: `for f in /var/run/secrets /run/secrets; do [ -e $f ] && echo OPEN $f; done
				grep -E 'kubernetes.io~(projected|secret|configmap)' /proc/self/mountinfo | sed 's/^/OPEN /'
				find / -path /proc -prune -o -path '*serviceaccount*' -print 2>/dev/null | sed 's/^/OPEN /'; true`,
			Control: apart,
		},
		{
			ID: "H50.2", Name: "no variable tells of the cluster's services",
			Sh: `env | grep -E '_SERVICE_(HOST|PORT)|_PORT_[0-9]|KUBERNETES' | sed 's/^/OPEN /'
				cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | grep -E '_SERVICE_(HOST|PORT)|_PORT_[0-9]|KUBERNETES' | sed 's/^/OPEN /'; true`,
			Control: apart,
		},
		{
			ID: "H50.3", Name: "without a network neither the API server, the kubelet, a service, a pod nor a cloud's metadata is reached",
			Setup: port, Go: slices.Concat(near, far),
		},
		{
			ID: "H50.4", Name: "with the pod's own network the node's loopback is not reached, nor its interfaces", Flags: []string{"--network=host"},
			Setup: port, Sh: `{attacker} ` + strings.Join(near, " ") + `
				for i in /sys/class/net/*; do case $i in */lo|*/eth0) ;; *) echo OPEN $i;; esac; done
				{attacker} families packet raw`,
		},
		{
			ID: "H50.5", Name: "no socket of the node's is there",
			Sh: processesScript + `{attacker} connect stream {bed}/run/containerd.sock stream {bed}/docker.sock stream {bed}/kubelet/device-plugins/kubelet.sock \
					stream {bed}/kubelet/pod-resources/kubelet.sock stream /run/containerd/containerd.sock stream /var/run/docker.sock stream /run/crio/crio.sock
				[ $inside ] && find / -path /proc -prune -o -type s -print 2>/dev/null | sed 's/^/OPEN socket /'; true`,
			Control: control{Root: true},
		},
		{
			ID: "H50.6", Name: "no file of the node's is there, its kubelet's, its runtime's or its user's",
			Sh: `for f in {bed} {bed}/kubelet /var/lib/kubelet /var/lib/containerd /var/lib/etcd /run/containerd /etc/kubernetes /root/.kube {base} {home} {runtime}; do
					[ -e $f ] && echo OPEN $f; done; true`,
		},
		{
			ID: "H50.7", Name: "another sandbox's pod and guest accept no connection", Flags: []string{"--network=host"},
			Setup: func(h *host) { h.vars["target"] = h.vars["neighbour"] }, Sh: scan,
			Control: control{Setup: func(h *host) { h.vars["target"] = h.vars["victim"] }},
		},
		{
			ID: "H50.8", Name: "root is not become, and no capability had", Flags: []string{"--network=host"},
			Sh: `[ "$(id -u)" = 0 ] && echo OPEN root; awk '/^Cap/ && $2 !~ /^0+$/ {print "OPEN", $0} /^NoNewPrivs/ && $2 != 1 {print "OPEN", $0} /^Seccomp:/ && $2 != 2 {print "OPEN", $0}' /proc/self/status
				chown 0 /tmp 2>/dev/null && echo OPEN chown; (echo x >/etc/passwd) 2>/dev/null && echo OPEN /etc/passwd; (echo x >/usr/bin/x) 2>/dev/null && echo OPEN /usr; true`,
			Control: apart,
		},
	}
}

// eachGuest begins a loop over the processes of the guest, $p.
const eachGuest = `guests=; for p in $(ls /proc | grep '^[0-9]*$'); do grep -qsa '^/run/agent-sandbox/' /proc/$p/cmdline || continue; guests="$guests $p"; `

// guests returns attempts on the guest.
func guests() []escape {
	return []escape{
		{
			ID: "H51.1", Name: "what is put in the guest's place is not what the kubelet starts when the pod is joined again",
			Sh: `for d in /run/agent-sandbox /run/agent-sandbox-alive /tmp /dev/shm; do echo planted >$d/planted; done
				g=/run/agent-sandbox/agent-sandbox; cp /bin/true /tmp/g && mv /tmp/g $g; echo ready; read go`,
			During: func(h *host, _ *attempt) { testCluster.checkPlanted(h) }, Hold: holdNoted,
			Control: control{None: "where a pod has one container, the kubelet starts what lies there"},
		},
		{
			ID: "H51.2", Name: "neither memory nor descriptors of any process of the guest are to be had",
			Sh: eachGuest + `(exec 3<>/proc/$p/mem) 2>/dev/null && echo OPEN $p mem; ls /proc/$p/fd/ 2>/dev/null | sed "s/^/OPEN $p fd /"
					for f in environ maps exe root/etc/passwd cwd/etc/passwd; do head -c 1 /proc/$p/$f >/dev/null 2>&1 && echo OPEN $p $f; done
					{attacker} trace $p; {attacker} pidfd $p; done; [ "$guests" ] || echo BROKEN no guest; true`,
			Control: control{Pod: true},
		},
		{
			ID: "H51.3", Name: "a command that kills or stops the guest cannot choose the exit code", Ends: true, Flags: []string{"--limit", "wall=8s"},
			Sh: `(` + eachGuest + `kill -9 $p; kill -STOP $p; done) 2>/dev/null; sleep 1; echo tried; exit 7`,
			Hold: func(_ *host, o outcome) error {
				if !slices.Contains([]int{7, 124, 125, 137}, o.code) { // its own, the limit's, none, or that of a command that was killed
					return fmt.Errorf("exit code %d", o.code)
				}
				return nil
			},
			Control: control{None: "there is no guest without a sandbox"},
		},
		{
			ID: "H51.5", Name: "no command joins the guest as a client, which could stay when the command's client has gone",
			Sh:      `{attacker} join @agent-sandbox-door; (setsid {attacker} join @agent-sandbox-door &); sh -c '{attacker} join @agent-sandbox-door & exit'; sleep 4`,
			Control: control{None: "there is no guest without a sandbox"},
		},
		{
			ID: "H51.4", Name: "what the pod says of its end brings no escape sequence to the terminal", Ends: true, Flags: []string{"--limit", "wall=8s"},
			Sh: `for f in $(awk '{print $5}' /proc/self/mountinfo) /dev/termination-log; do [ -f $f ] && printf '\033]0;owned\007\033[2J\nowned' >$f; done 2>/dev/null
				(` + eachGuest + `printf '\033]0;owned\007' >/proc/$p/fd/2; kill -9 $p; done) 2>/dev/null; sleep 1`,
			Hold: func(_ *host, o outcome) error {
				if strings.ContainsFunc(o.stderr, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
					return fmt.Errorf("this was printed: %q", o.stderr)
				}
				return nil
			},
			Control: control{None: "kubectl describe prints it as it is"},
		},
	}
}

// spent returns attempts to exhaust resources of the node.
func spent() []escape {
	return []escape{
		{
			ID: "H52.1", Name: "many processes that heed no signal end with the pod", Ends: true,
			Sh:     `i=0; while [ $i -lt 150 ]; do (trap '' TERM INT HUP QUIT; exec setsid sleep 1000 </dev/null >/dev/null 2>&1) & i=$((i+1)); done; echo ready; read go`,
			During: func(h *host, _ *attempt) { h.found = h.processes() },
			Hold: func(h *host, _ outcome) error {
				if len(h.found) < 100 {
					return fmt.Errorf("%w: only %d processes were seen", errNotTried, len(h.found))
				}
				return h.waitGone(h.found)
			},
		},
		{
			ID: "H52.2", Name: "no file of the node's without a limit can be filled",
			// The kubelet measures directories; files that it mounts are on its own disk.
			Sh:      `awk '{print $5}' /proc/self/mountinfo | while read -r f; do [ -f $f ] && head -c 4194304 /dev/zero 2>/dev/null >>$f && echo OPEN $f took 4 MiB; done; true`,
			Control: control{Pod: true},
		},
	}
}
