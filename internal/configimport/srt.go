package configimport

import (
	"net/netip"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

// readSRT reads a file of sandbox-runtime.
func (d *draft) readSRT(f File) {
	n, err := parse(f.Name, f.Data)
	if err != nil {
		d.err = err
		return
	}
	o := d.top(d.host.short(f.Name), n)
	o.text("$schema")
	from := source{file: o.file, line: n.Line(), key: "filesystem.allowWrite"}
	d.closed = &from
	d.filtered = &source{file: o.file, line: n.Line(), key: "network.allowedDomains"}
	net := o.object("network")
	allow := net.list("allowedDomains")
	d.domains(allow, net.list("deniedDomains"), false)
	d.srtNetwork(net)
	d.srtFilesystem(o.object("filesystem"))
	credentials := o.object("credentials")
	d.credentials(credentials, syntax{}, allow)
	credentials.done()
	o.note(Moot, "reports of refusals are not filtered", "", "ignoreViolations")
	o.note(Moot, "the isolation is the same inside containers", "", "enableWeakerNestedSandbox")
	o.note(Moot, macOnly, "", "enableWeakerNetworkIsolation", "allowAppleEvents")
	o.note(Moot, "commands can use terminals", "", "allowPty")
	o.note(Moot, "agent-sandbox finds the protected paths without it", "", "mandatoryDenySearchDepth", "ripgrep")
	o.note(Moot, "agent-sandbox does not use this program, or finds it without a setting", "", "seccomp", "bwrapPath", "socatPath", "javaAgentJarPath")
	o.note(Moot, "it applies to Windows only", "", "windows")
	o.note(Grant, "git's configuration is the host's", `"env": {"set": {"GIT_CONFIG_COUNT": ...}}`, "git")
	o.done()
}

func (d *draft) srtNetwork(o *object) {
	if o == nil {
		return
	}
	d.unixSockets(o)
	o.note(Moot, "agent-sandbox writes its own text for a refusal", "", "deniedDomainReasons")
	o.note(Moot, alwaysSo, "", "strictAllowlist")
	for _, it := range o.list("deniedResolvedAddresses") {
		d.deniedAddress(it)
	}
	d.proxyPorts(o.number("httpProxyPort"), o.number("socksProxyPort"))
	d.parentProxy(o.object("parentProxy"))
	if n := o.find("mitmProxy", "an object", jsonc.Object); n != nil {
		it := item{from: o.source(n, "mitmProxy")}
		d.say(it.lack(Restriction, "requests cannot be handed to a proxy on a Unix socket", `"network": {"inspect": [...], "ca": ...}`))
	}
	d.terminate(o.object("tlsTerminate"))
	o.done()
}

func (d *draft) srtFilesystem(o *object) {
	if o == nil {
		return
	}
	if it := o.bool("disabled"); it.is("true") {
		d.say(it.lack(Grant, "the file system always has rules", "filesystem.rw"))
	}
	for _, it := range o.list("allowWrite") {
		d.add(&d.allowWrite, it, syntax{}, false, Grant)
	}
	for _, it := range o.list("denyWrite") {
		d.add(&d.denyWrite, it, syntax{}, false, Restriction)
	}
	for _, it := range o.list("denyRead") {
		d.add(&d.denyRead, it, syntax{}, false, Restriction)
	}
	for _, it := range o.list("allowRead") {
		d.add(&d.allowRead, it, syntax{}, false, Grant)
	}
	o.note(Grant, "git's configuration stays protected", `filesystem.rw with ".git/config"`, "allowGitConfig")
	o.done()
}

// unixSockets reads the settings of Unix sockets, which Claude Code, srt and fence share.
func (d *draft) unixSockets(o *object) {
	for _, it := range o.list("allowUnixSockets") {
		if strings.HasSuffix(it.value, "docker.sock") {
			d.say(it.lack(Grant, "access to the Docker socket is root access to the host", `"docker": true if that is meant`))
			continue
		}
		patterns, why := d.patterns(it.value, syntax{})
		if why != "" {
			d.say(it.lack(Grant, why, "filesystem.sockets"))
			continue
		}
		for _, p := range patterns {
			d.sockets = append(d.sockets, item{p.text, it.from})
		}
	}
	o.note(Grant, "sockets are allowed by name", "filesystem.sockets", "allowAllUnixSockets")
	o.note(Moot, "a sandbox has a loopback of its own", "network.publish", "allowLocalBinding")
	o.note(Moot, macOnly, "", "allowMachLookup")
}

// deniedAddress reads an address or range that allowed names must not resolve to. A policy's
// rule that denies an address has this meaning.
func (d *draft) deniedAddress(it item) {
	prefix, err := netip.ParsePrefix(it.value)
	if addr, aerr := netip.ParseAddr(it.value); aerr == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	if err != nil || prefix.Addr().Is4In6() {
		d.denied(it, "it is not an address or range")
		return
	}
	d.deny = append(d.deny, item{prefix.Masked().String(), it.from})
}

// proxyPorts reads the ports of proxies that filter instead of the tool. The gateway
// filters, too, and forwards to the first of them.
func (d *draft) proxyPorts(http, socks *item) {
	if http != nil {
		d.proxy(http, "http://127.0.0.1:"+http.value)
		return
	}
	if socks != nil {
		d.say(socks.lack(Restriction, "connections cannot be handed to a SOCKS proxy, which may filter them", "network.upstream with an HTTP proxy"))
	}
}

func (d *draft) parentProxy(o *object) {
	if o == nil {
		return
	}
	http, https := o.text("http"), o.text("https")
	if https == nil {
		https = http
	}
	if https != nil {
		d.proxy(https, https.value)
	}
	if http != nil && http.value != https.value {
		d.say(http.lack(Stricter, "plain HTTP goes through the proxy for HTTPS, too", "network.upstream"))
	}
	o.note(Grant, "all connections go through the proxy", "", "noProxy")
	o.done()
}

// terminate reads the settings for the inspection of TLS.
func (d *draft) terminate(o *object) {
	if o == nil {
		return
	}
	from := source{file: o.file, line: o.value.Line(), key: o.path}
	cert, key := o.text("caCertPath"), o.text("caKeyPath")
	d.ca = &item{"ephemeral", from}
	switch {
	case cert != nil && key != nil && cert.value == key.value:
		d.ca = cert
	case cert != nil || key != nil:
		it := item{from: from}
		d.say(it.lack(Stricter, "certificate and key must be in one file; an ephemeral authority replaces them", "network.ca"))
	}
	it := item{from: from}
	d.say(it.lack(Moot, "TLS is opened only for hosts that a secret or a rule needs it for", "network.inspect"))
	o.note(Grant, "the sandbox trusts the host's authorities", "", "extraCaCertPaths")
	o.note(Moot, "TLS is opened only for hosts that a secret or a rule needs it for", "", "excludeDomains")
	o.done()
}
