package egress

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

func Test_Environ_Names_The_Proxy(t *testing.T) {
	t.Parallel()
	const token = "a/b:c@d"
	env := map[string]string{}
	for _, kv := range Environ("127.0.0.1:3128", token, "/run/ca.pem", "/run/ca.jks") {
		k, v, ok := strings.Cut(kv, "=")
		if _, twice := env[k]; !ok || twice || strings.ContainsAny(kv, "\n\x00") {
			t.Fatalf("%q", kv)
		}
		env[k] = v
	}
	for _, k := range []string{"HTTP_PROXY", "https_proxy", "ALL_PROXY", "npm_config_https_proxy", "PIP_PROXY"} {
		u, err := url.Parse(env[k])
		if err != nil || u.Host != "127.0.0.1:3128" {
			t.Fatalf("%s=%s: %v", k, env[k], err)
		}
		if p, _ := u.User.Password(); p != token {
			t.Fatalf("%s=%s has the token %q", k, env[k], p)
		}
	}
	if env["NODE_USE_ENV_PROXY"] != "1" || env["NO_PROXY"] != "localhost,127.0.0.1,::1" || env["SSL_CERT_FILE"] != "/run/ca.pem" ||
		!strings.Contains(env["JAVA_TOOL_OPTIONS"], "-Dhttps.proxyPort=3128") || strings.Contains(env["JAVA_TOOL_OPTIONS"], token) ||
		!strings.Contains(env["JAVA_TOOL_OPTIONS"], "-Djavax.net.ssl.trustStore=/run/ca.jks ") {
		t.Fatalf("%v", env)
	}
	plain := Environ("127.0.0.1:3128", "", "", "")
	if !slices.Contains(plain, "HTTPS_PROXY=http://127.0.0.1:3128") || slices.ContainsFunc(plain, func(s string) bool { return strings.HasPrefix(s, "SSL_CERT") }) {
		t.Fatalf("%v", plain)
	}
}
