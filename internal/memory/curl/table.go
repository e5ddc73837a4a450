package curl

import "crypto/tls"

// options is curl's table of options. It is made when a command starts, so that a machine that never runs curl does not build it.
func options() []option {
	return append(append(requestOptions(), outputOptions()...), append(connectionOptions(), missingOptions()...)...)
}

// requestOptions are the options about the request.
func requestOptions() []option {
	return []option{
		{name: "url", set: func(p *parser, v string) error { p.c.addURL(v); return nil }},
		{letter: 'X', name: "request", text: func(p *parser) *string { return &p.c.method }},
		{letter: 'I', name: "head", do: (*parser).head},
		{letter: 'G', name: "get", flag: func(p *parser) *bool { return &p.c.get }},
		{letter: 'd', name: "data", set: func(p *parser, v string) error { return p.data(v, dataText) }},
		{name: "data-ascii", set: func(p *parser, v string) error { return p.data(v, dataText) }},
		{name: "data-binary", set: func(p *parser, v string) error { return p.data(v, dataBinary) }},
		{name: "data-raw", set: func(p *parser, v string) error { return p.data(v, dataRaw) }},
		{name: "data-urlencode", set: (*parser).dataURLEncode},
		{name: "json", set: (*parser).jsonData},
		{name: "url-query", set: (*parser).query},
		{letter: 'F', name: "form", set: func(p *parser, v string) error { return p.form(v, false) }},
		{name: "form-string", set: func(p *parser, v string) error { return p.form(v, true) }},
		{letter: 'T', name: "upload-file", set: func(p *parser, v string) error { p.c.addUpload(v); return nil }},
		{letter: 'H', name: "header", set: func(p *parser, v string) error { return p.header(v, &p.c.headers) }},
		{name: "proxy-header", set: func(p *parser, v string) error { return p.header(v, &p.c.proxyHeaders) }},
		{letter: 'A', name: "user-agent", set: func(p *parser, v string) error { p.c.agent = &v; return nil }},
		{letter: 'e', name: "referer", set: (*parser).referer},
		{letter: 'u', name: "user", text: func(p *parser) *string { return &p.c.user }},
		{name: "oauth2-bearer", text: func(p *parser) *string { return &p.c.bearer }},
		{name: "basic", do: func(p *parser) error { p.c.digest = false; return nil }},
		{name: "digest", flag: func(p *parser) *bool { return &p.c.digest }},
		{name: "anyauth", flag: func(p *parser) *bool { return &p.c.digest }},
		{letter: 'n', name: "netrc", flag: func(p *parser) *bool { return &p.c.netrc }},
		{name: "netrc-optional", flag: func(p *parser) *bool { return &p.c.netrcMay }},
		{name: "netrc-file", set: func(p *parser, v string) error { p.c.netrcFile, p.c.netrc = v, true; return nil }},
		{letter: 'b', name: "cookie", set: (*parser).cookie},
		{letter: 'c', name: "cookie-jar", text: func(p *parser) *string { return &p.c.cookieJar }},
		{letter: 'j', name: "junk-session-cookies", flag: func(p *parser) *bool { return &p.c.newSession }},
		{letter: 'r', name: "range", set: (*parser).byteRange},
		{letter: 'C', name: "continue-at", set: (*parser).continueAt},
		{name: "compressed", flag: func(p *parser) *bool { return &p.c.compressed }},
		{name: "raw", flag: func(p *parser) *bool { return &p.c.raw }},
		{name: "request-target", text: func(p *parser) *string { return &p.c.target }},
		{name: "etag-save", text: func(p *parser) *string { return &p.c.etagSave }},
		{name: "etag-compare", text: func(p *parser) *string { return &p.c.etagCompare }},
		{letter: 'L', name: "location", flag: func(p *parser) *bool { return &p.c.location }},
		{name: "location-trusted", flag: func(p *parser) *bool { p.c.location = true; return &p.c.locationTrusted }},
		{name: "max-redirs", set: func(p *parser, v string) error { return signed(&p.c.maxRedirects, v) }},
		{name: "post301", flag: func(p *parser) *bool { return &p.c.post301 }},
		{name: "post302", flag: func(p *parser) *bool { return &p.c.post302 }},
		{name: "post303", flag: func(p *parser) *bool { return &p.c.post303 }},
		{name: "proto", set: func(p *parser, v string) error { return p.protocols(v, &p.c.protocols) }},
		{name: "proto-redir", set: func(p *parser, v string) error { return p.protocols(v, &p.c.redirProtocols) }},
		{name: "proto-default", set: (*parser).defaultProtocol},
		{letter: 'g', name: "globoff", flag: func(p *parser) *bool { return &p.c.globOff }},
		{name: "path-as-is", flag: func(p *parser) *bool { return &p.c.pathAsIs }},
		{name: "disallow-username-in-url", flag: func(p *parser) *bool { return &p.c.noUserInURL }},
		{letter: '0', name: "http1.0", do: func(p *parser) error { p.c.http10 = true; return nil }},
		{name: "http1.1", do: func(p *parser) error { p.c.http10 = false; return nil }},
		{name: "http2", do: func(p *parser) error { p.c.http10 = false; return nil }},
		{letter: ':', name: "next", do: (*parser).next},
		{letter: 'K', name: "config", set: (*parser).config},
		{letter: 'q', name: "disable", do: func(*parser) error { return nil }},
		{letter: 'h', name: "help", do: (*parser).help},
		{letter: 'V', name: "version", do: (*parser).version},
		{letter: 'M', name: "manual", do: (*parser).help},
	}
}

// outputOptions are the options about the destination of responses, and about reports.
func outputOptions() []option {
	return []option{
		{letter: 'o', name: "output", set: (*parser).output},
		{letter: 'O', name: "remote-name", do: func(p *parser) error { p.c.addOutput("", true, true); return nil }},
		{name: "remote-name-all", flag: func(p *parser) *bool { return &p.c.remoteAll }},
		{letter: 'J', name: "remote-header-name", do: (*parser).remoteName},
		{name: "output-dir", text: func(p *parser) *string { return &p.c.outputDir }},
		{name: "create-dirs", flag: func(p *parser) *bool { return &p.c.createDirs }},
		{name: "create-file-mode", set: (*parser).createMode},
		{name: "no-clobber", flag: func(p *parser) *bool { return &p.c.noClobber }},
		{name: "clobber", do: func(p *parser) error { p.c.noClobber = false; return nil }},
		{name: "remove-on-error", flag: func(p *parser) *bool { return &p.c.removeOnError }},
		{letter: 'R', name: "remote-time", flag: func(p *parser) *bool { return &p.c.remoteTime }},
		{letter: 'i', name: "include", do: (*parser).include},
		{letter: 'D', name: "dump-header", text: func(p *parser) *string { return &p.c.dumpHeader }},
		{letter: 'w', name: "write-out", set: (*parser).writeOut},
		{letter: 'f', name: "fail", do: func(p *parser) error { return p.failing(&p.c.fail, &p.c.failWithBody) }},
		{name: "fail-with-body", do: func(p *parser) error { return p.failing(&p.c.failWithBody, &p.c.fail) }},
		{name: "fail-early", flag: func(p *parser) *bool { return &p.tool.failEarly }},
		{name: "max-filesize", set: func(p *parser, v string) error { return p.size(&p.c.maxFile, v, "max-filesize") }},
		{letter: 's', name: "silent", flag: func(p *parser) *bool { return &p.tool.silent }},
		{letter: 'S', name: "show-error", flag: func(p *parser) *bool { return &p.tool.showError }},
		{letter: 'v', name: "verbose", flag: func(p *parser) *bool { return &p.tool.verbose }},
		{letter: '#', name: "progress-bar", flag: func(p *parser) *bool { return &p.tool.bar }},
		{name: "no-progress-meter", flag: func(p *parser) *bool { return &p.tool.noMeter }},
		{name: "progress-meter", do: func(p *parser) error { p.tool.noMeter = false; return nil }},
		{name: "stderr", set: (*parser).stderr},
		{letter: 'N', name: "no-buffer", do: doNothing},
		{name: "buffer", do: doNothing},
		{name: "styled-output", flag: unused},
		{letter: 'Z', name: "parallel", flag: unused},
		{name: "parallel-max", set: number},
		{name: "parallel-immediate", flag: unused},
		{name: "suppress-connect-headers", flag: func(p *parser) *bool { return &p.c.suppressConnect }},
	}
}

// connectionOptions are the options about connections to servers.
func connectionOptions() []option {
	version := func(lowest uint16) func(*parser) error {
		return func(p *parser) error { p.c.tlsMin = lowest; return nil }
	}
	return []option{
		{letter: 'k', name: "insecure", flag: func(p *parser) *bool { return &p.c.insecure }},
		{name: "cacert", text: func(p *parser) *string { return &p.c.caFile }},
		{letter: 'E', name: "cert", text: func(p *parser) *string { return &p.c.certFile }},
		{name: "key", text: func(p *parser) *string { return &p.c.keyFile }},
		{letter: '1', name: "tlsv1", do: version(tls.VersionTLS10)},
		{name: "tlsv1.0", do: version(tls.VersionTLS10)},
		{name: "tlsv1.1", do: version(tls.VersionTLS11)},
		{name: "tlsv1.2", do: version(tls.VersionTLS12)},
		{name: "tlsv1.3", do: version(tls.VersionTLS13)},
		{name: "tls-max", set: (*parser).tlsMax},
		{name: "ssl", flag: unused},
		{name: "ssl-reqd", flag: unused},
		{name: "no-alpn", do: func(p *parser) error { p.c.noALPN = true; return nil }},
		{name: "alpn", do: func(p *parser) error { p.c.noALPN = false; return nil }},
		{name: "no-sessionid", do: doNothing},
		{letter: 'm', name: "max-time", set: func(p *parser, v string) error { return seconds(&p.c.maxTime, v) }},
		{name: "connect-timeout", set: func(p *parser, v string) error { return seconds(&p.c.connectTimeout, v) }},
		{name: "expect100-timeout", set: func(p *parser, v string) error { return seconds(&p.c.expectTimeout, v) }},
		{letter: 'Y', name: "speed-limit", set: func(p *parser, v string) error { return p.size(&p.c.speedLimit, v, "rate") }},
		{letter: 'y', name: "speed-time", set: func(p *parser, v string) error { return wholeSeconds(&p.c.speedTime, v) }},
		{name: "retry", set: func(p *parser, v string) error { return unsigned(&p.c.retry, v) }},
		{name: "retry-delay", set: func(p *parser, v string) error { return wholeSeconds(&p.c.retryDelay, v) }},
		{name: "retry-max-time", set: func(p *parser, v string) error { return wholeSeconds(&p.c.retryMaxTime, v) }},
		{name: "retry-connrefused", flag: func(p *parser) *bool { return &p.c.retryRefused }},
		{name: "retry-all-errors", flag: func(p *parser) *bool { return &p.c.retryAll }},
		{letter: 'p', name: "proxytunnel", flag: func(p *parser) *bool { return &p.c.proxyTunnel }},
		{name: "noproxy", set: func(*parser, string) error { return nil }},
		{letter: '4', name: "ipv4", do: doNothing},
		{letter: '6', name: "ipv6", do: doNothing},
		{name: "tcp-nodelay", flag: unused},
		{name: "tcp-fastopen", flag: unused},
		{name: "keepalive", flag: unused},
		{name: "no-keepalive", do: doNothing},
		{name: "keepalive-time", set: number},
		{name: "happy-eyeballs-timeout-ms", set: number},
	}
}

// unused is a switch that changes nothing here.
func unused(*parser) *bool { return new(bool) }

func doNothing(*parser) error { return nil }

// number checks a number that changes nothing here.
func number(_ *parser, v string) error {
	var n int
	return unsigned(&n, v)
}

// missingOptions are refused: those of other protocols, and those that would choose another way out.
func missingOptions() []option {
	list := []option{
		{letter: 'x', name: "proxy", refuse: ourChoice, arg: true},
		{letter: 'U', name: "proxy-user", refuse: ourChoice, arg: true},
		{letter: 'a', name: "append", refuse: notBuilt},
		{letter: 'B', name: "use-ascii", refuse: notBuilt},
		{letter: 'l', name: "list-only", refuse: notBuilt},
		{letter: 'P', name: "ftp-port", refuse: notBuilt, arg: true},
		{letter: 'Q', name: "quote", refuse: notBuilt, arg: true},
		{letter: 't', name: "telnet-option", refuse: notBuilt, arg: true},
		{letter: 'z', name: "time-cond", refuse: notBuilt, arg: true},
		{letter: '2', name: "sslv2", refuse: notBuilt},
		{letter: '3', name: "sslv3", refuse: notBuilt},
	}
	for _, name := range []string{
		"proxy1.0", "preproxy", "socks4", "socks4a", "socks5", "socks5-hostname", "resolve", "connect-to", "interface", "local-port",
		"dns-servers", "dns-interface", "dns-ipv4-addr", "dns-ipv6-addr", "doh-url", "unix-socket", "abstract-unix-socket",
	} {
		list = append(list, option{name: name, refuse: ourChoice, arg: true})
	}
	for _, name := range []string{
		"alt-svc", "aws-sigv4", "capath", "cert-type", "ciphers", "crlfile", "curves", "delegation", "egd-file", "engine", "hsts", "key-type",
		"krb", "libcurl", "limit-rate", "login-options", "pass", "pinnedpubkey", "pubkey", "random-file", "rate", "service-name",
		"tls13-ciphers", "tlsauthtype", "tlspassword", "tlsuser", "trace", "trace-ascii", "mail-from", "mail-rcpt", "mail-auth", "proxy-cacert",
		"proxy-capath", "proxy-cert", "proxy-cert-type", "proxy-ciphers", "proxy-crlfile", "proxy-key", "proxy-key-type", "proxy-pass",
		"hostpubmd5", "hostpubsha256", "tftp-blksize", "sasl-authzid",
	} {
		list = append(list, option{name: name, refuse: notBuilt, arg: true})
	}
	for _, name := range []string{
		"cert-status", "compressed-ssh", "crlf", "disable-eprt", "disable-epsv", "false-start", "form-escape", "ftp-pasv", "haproxy-protocol",
		"http0.9", "http2-prior-knowledge", "http3", "http3-only", "ignore-content-length", "metalink", "negotiate", "ntlm", "ntlm-wb",
		"proxy-anyauth", "proxy-basic", "proxy-digest", "proxy-insecure", "proxy-negotiate", "proxy-ntlm", "sasl-ir", "ssl-allow-beast",
		"ssl-auto-client-cert", "ssl-no-revoke", "ssl-revoke-best-effort", "trace-time", "tr-encoding", "xattr",
	} {
		list = append(list, option{name: name, refuse: notBuilt})
	}
	return list
}
