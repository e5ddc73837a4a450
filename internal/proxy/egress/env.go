package egress

import (
	"net"
	"net/url"
)

// Environ returns the variables, as "K=V", with which programs use the proxy at addr ("127.0.0.1:3128", the address
// inside). token is that of [Options], empty for none. caFile is a bundle inside that holds the system's authorities
// and the policy's CA, since most of the variables replace the system's; empty when nothing is inspected. keyStore is
// the same as a [KeyStore], for Java; empty without one.
//
// ALL_PROXY names the HTTP side of the proxy: Python's httpx refuses to start when it finds a SOCKS proxy there and
// no SOCKS library. Java does not authenticate to a proxy, so it works without a token only. Programs that ignore
// these variables have no network.
func Environ(addr, token, caFile, keyStore string) []string {
	u := url.URL{Scheme: "http", Host: addr}
	if token != "" {
		u.User = url.UserPassword("sandbox", token)
	}
	proxy := u.String()
	const direct = "localhost,127.0.0.1,::1"
	env := []string{
		"HTTP_PROXY=" + proxy, "http_proxy=" + proxy,
		"HTTPS_PROXY=" + proxy, "https_proxy=" + proxy,
		"ALL_PROXY=" + proxy, "all_proxy=" + proxy,
		"NO_PROXY=" + direct, "no_proxy=" + direct,
		"NODE_USE_ENV_PROXY=1",
		"npm_config_proxy=" + proxy, "npm_config_https_proxy=" + proxy, "npm_config_noproxy=" + direct,
		"YARN_HTTP_PROXY=" + proxy, "YARN_HTTPS_PROXY=" + proxy,
		"PIP_PROXY=" + proxy,
		"GIT_SSH_COMMAND=ssh -o ProxyCommand='agent-sandbox connect %h %p'",
	}
	if host, port, err := net.SplitHostPort(addr); err == nil {
		java := "JAVA_TOOL_OPTIONS=-Dhttp.proxyHost=" + host + " -Dhttp.proxyPort=" + port +
			" -Dhttps.proxyHost=" + host + " -Dhttps.proxyPort=" + port + " -Dhttp.nonProxyHosts=localhost|127.*|[::1]"
		if keyStore != "" {
			java += " -Djavax.net.ssl.trustStore=" + keyStore + " -Djavax.net.ssl.trustStoreType=JKS -Djavax.net.ssl.trustStorePassword=" + storePassword
		}
		env = append(env, java)
	}
	if caFile != "" {
		for _, name := range []string{
			"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT",
			"CARGO_HTTP_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT", "NIX_SSL_CERT_FILE",
			// These variables override configuration files.
			"npm_config_cafile", "YARN_HTTPS_CA_FILE_PATH", "HTTPLIB2_CA_CERTS", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
		} {
			env = append(env, name+"="+caFile)
		}
	}
	return env
}
