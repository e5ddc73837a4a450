package configimport

import "testing"

func Test_Settings_Of_SRT_Become_A_Policy(t *testing.T) {
	t.Parallel()
	runRows(t, SRT, []importRow{
		{"nothing is allowed", `{"network":{"allowedDomains":[],"deniedDomains":[]},"filesystem":{"denyRead":[],"allowWrite":[],"denyWrite":[]}}`, `{"network":"none","filesystem":{"ro":["."]}}`, ""},
		{"a missing section means the same", `{}`, `{"network":"none","filesystem":{"ro":["."]}}`, ""},
		{"null is a key that is not there", `{"network":null}`, `{"network":"none","filesystem":{"ro":["."]}}`, ""},
		{"a domain", `{"network":{"allowedDomains":["Example.COM"]}}`, `{"network":{"allow":["example.com"]},"filesystem":{"ro":["."]}}`, "stricter network.allowedDomains[0]"},
		{"a domain with port", `{"network":{"allowedDomains":["*.example.com:22"]}}`, `{"network":{"allow":["*.example.com:22"]},"filesystem":{"ro":["."]}}`, ""},
		{"every host is refused by srt, too", `{"network":{"allowedDomains":["*","*.com"]}}`, `{"network":"none","filesystem":{"ro":["."]}}`, "grant network.allowedDomains[0], grant network.allowedDomains[1]"},
		{"localhost leads nowhere", `{"network":{"allowedDomains":["localhost"]}}`, `{"network":"none","filesystem":{"ro":["."]}}`, "grant network.allowedDomains[0]"},
		{"deny-all on a port", `{"network":{"allowedDomains":["a.b:1"],"deniedDomains":["*:22"]}}`, `{"network":{"allow":["a.b:1"],"deny":["*:22"]},"filesystem":{"ro":["."]}}`, ""},
		{"a denied name that is not a host", `{"network":{"allowedDomains":["a.b:1"],"deniedDomains":["a*b"]}}`, `{"network":{"allow":["a.b:1"]},"filesystem":{"ro":["."]}}`, "restriction network.deniedDomains[0]"},
		{"where nothing is allowed it does not matter", `{"network":{"deniedDomains":["a*b"]}}`, `{"network":"none","filesystem":{"ro":["."]}}`, "moot network.deniedDomains[0]"},
		{"an address in disguise", `{"network":{"allowedDomains":["a.b:1"],"deniedDomains":["0177.0.0.1"]}}`, `{"network":{"allow":["a.b:1"]},"filesystem":{"ro":["."]}}`, "restriction network.deniedDomains[0]"},
		{"addresses that names may not lead to", `{"network":{"allowedDomains":["a.b:1"],"deniedResolvedAddresses":["10.1.2.3/8","fc00::/7","::ffff:1.2.3.4"]}}`, `{"network":{"allow":["a.b:1"],"deny":["10.0.0.0/8","fc00::/7","1.2.3.4/32"]},"filesystem":{"ro":["."]}}`, ""},
		{"an outer proxy", `{"network":{"allowedDomains":["a.b:1"],"httpProxyPort":3128,"socksProxyPort":1080}}`, `{"network":{"allow":["a.b:1"],"upstream":"http://127.0.0.1:3128"},"filesystem":{"ro":["."]}}`, ""},
		{"an outer SOCKS proxy alone", `{"network":{"allowedDomains":["a.b:1"],"socksProxyPort":1080}}`, `{"network":{"allow":["a.b:1"]},"filesystem":{"ro":["."]}}`, "restriction network.socksProxyPort"},
		{"a proxy over TLS", `{"network":{"allowedDomains":["a.b:1"],"parentProxy":{"https":"https://p:1"}}}`, `{"network":{"allow":["a.b:1"]},"filesystem":{"ro":["."]}}`, "restriction network.parentProxy.https"},
		{"a proxy that inspects", `{"network":{"allowedDomains":["a.b:1"],"mitmProxy":{"socketPath":"/s","domains":["a.b"]}}}`, `{"network":{"allow":["a.b:1"]},"filesystem":{"ro":["."]}}`, "restriction network.mitmProxy"},
		{"the Docker socket", `{"network":{"allowUnixSockets":["/var/run/docker.sock"]}}`, `{"network":"none","filesystem":{"ro":["."]}}`, "grant network.allowUnixSockets[0]"},
		{"all sockets", `{"network":{"allowAllUnixSockets":true}}`, `{"network":"none","filesystem":{"ro":["."]}}`, "grant network.allowAllUnixSockets"},

		{"the working directory", `{"filesystem":{"allowWrite":["./"]}}`, `{"network":"none","filesystem":{"rw":["."]}}`, ""},
		{"a part of it", `{"filesystem":{"allowWrite":["src/**","./test/"]}}`, `{"network":"none","filesystem":{"ro":["."],"rw":["src","test"]}}`, ""},
		{"the working directory by its name", `{"filesystem":{"allowWrite":["~/project"]}}`, `{"network":"none","filesystem":{"ro":["."],"rw":["~/project"]}}`, "stricter filesystem.allowWrite[0]"},
		{"/tmp is the sandbox's own", `{"filesystem":{"allowWrite":[".","/tmp"]}}`, `{"network":"none","filesystem":{"rw":["."]}}`, "stricter filesystem.allowWrite[1]"},
		{"the root directory", `{"filesystem":{"allowWrite":["/"]}}`, `{"network":"none","filesystem":{"ro":["."]}}`, "grant filesystem.allowWrite[0], stricter filesystem.allowWrite[0]"},
		{"a denial wins over what is more specific", `{"filesystem":{"allowWrite":[".","a/b/c"],"denyWrite":["a/b"]}}`, `{"network":"none","filesystem":{"ro":["a/b"],"rw":["."]}}`, "moot filesystem.allowWrite[1]"},
		{"and a glob over a path", `{"filesystem":{"allowWrite":[".","x/.env"],"denyWrite":["**/.env"]}}`, `{"network":"none","filesystem":{"ro":["**/.env"],"rw":["."]}}`, "moot filesystem.allowWrite[1]"},
		{"a glob that may reach what is denied", `{"filesystem":{"allowWrite":[".","*/gen"],"denyWrite":["src"]}}`, `{"network":"none","filesystem":{"ro":["src"],"rw":["."]}}`, "grant filesystem.allowWrite[1]"},
		{"a glob that cannot", `{"filesystem":{"allowWrite":[".","gen*/x"],"denyWrite":["src"]}}`, `{"network":"none","filesystem":{"ro":["src"],"rw":[".","gen*/x"]}}`, ""},
		{"everything is denied", `{"filesystem":{"allowWrite":[".","~/x"],"denyWrite":["/"]}}`, `{"network":"none","filesystem":{"ro":["/","."]}}`, "moot filesystem.allowWrite[0], moot filesystem.allowWrite[1]"},

		{"a hidden home opens the working directory again", `{"filesystem":{"denyRead":["~"],"allowRead":["."],"allowWrite":["."]}}`, `{"network":"none","filesystem":{"rw":["."],"exclude":["~"]}}`, ""},
		{"what is above home hides home", `{"filesystem":{"denyRead":["/no-such-home"],"allowRead":["."],"allowWrite":["."]}}`, `{"network":"none","filesystem":{"rw":["."],"exclude":["/no-such-home","~"]}}`, ""},
		{"a hidden working directory", `{"filesystem":{"denyRead":["~"],"allowWrite":["src"]}}`, `{"network":"none","filesystem":{"presets":["!@git","!@lint/ts","!@lint/go","!@lint/python"],"rw":["src"],"exclude":["~","."]}}`, "stricter filesystem.denyRead[0]"},
		{"a glob over home is exact", `{"filesystem":{"allowWrite":["."],"denyRead":["/no-such-home/*"]}}`, `{"network":"none","filesystem":{"rw":["."],"exclude":["/no-such-home/*","~"]}}`, ""},
		{"the root cannot be hidden", `{"filesystem":{"allowWrite":["."],"denyRead":["/"]}}`, `{"network":"none","filesystem":{"rw":["."],"exclude":["~"]}}`, "restriction filesystem.denyRead[0]"},
		{"/proc cannot be hidden", `{"filesystem":{"allowWrite":["."],"denyRead":["/proc/1"]}}`, `{"network":"none","filesystem":{"rw":["."]}}`, "restriction filesystem.denyRead[0]"},
		{"lint files are read-only by a preset", `{"filesystem":{"allowWrite":["."],"denyRead":["*.toml"]}}`, `{"network":"none","filesystem":{"presets":["!@lint/go","!@lint/python"],"rw":["."],"exclude":["*.toml"]}}`, ""},
		{"reading again inside a directory", `{"filesystem":{"allowWrite":["."],"denyRead":["~/a"],"allowRead":["~/a/b"]}}`, `{"network":"none","filesystem":{"ro":["~/a/b"],"rw":["."],"exclude":["~/a"]}}`, ""},
		{"but not where a pattern means each file", `{"filesystem":{"allowWrite":["."],"denyRead":["~/a/**"],"allowRead":["~/a/b"]}}`, `{"network":"none","filesystem":{"rw":["."],"exclude":["~/a"]}}`, "moot filesystem.allowRead[0]"},
		{"a read grant does not remove a write grant", `{"filesystem":{"allowWrite":["."],"allowRead":["src"]}}`, `{"network":"none","filesystem":{"rw":["."]}}`, ""},
		{"braces are names", `{"filesystem":{"allowWrite":["."],"denyRead":["a{b}*"]}}`, `{"network":"none","filesystem":{"rw":["."],"exclude":["a\\{b\\}*"]}}`, ""},
		{"stars before a name", `{"filesystem":{"allowWrite":["."],"denyRead":["**.pem"]}}`, `{"network":"none","filesystem":{"rw":["."],"exclude":["**/*.pem"]}}`, ""},
		{"stars inside a name", `{"filesystem":{"allowWrite":["."],"denyRead":["a**b/c"]}}`, `{"network":"none","filesystem":{"rw":["."]}}`, "restriction filesystem.denyRead[0]"},
		{"a broken glob", `{"filesystem":{"allowWrite":["."],"denyRead":["a[b"]}}`, `{"network":"none","filesystem":{"rw":["."]}}`, "restriction filesystem.denyRead[0]"},
		{"no file system rules at all", `{"filesystem":{"disabled":true}}`, `{"network":"none","filesystem":{"ro":["."]}}`, "grant filesystem.disabled"},

		{"a variable that stays outside", `{"credentials":{"envVars":[{"name":"A","mode":"deny"}]}}`, `{"network":"none","filesystem":{"ro":["."]},"env":{"deny":["A"]}}`, ""},
		{"a masked variable", `{"network":{"allowedDomains":["api.x.com"]},"credentials":{"envVars":[{"name":"A","mode":"mask"}]}}`, `{"network":{"allow":["api.x.com"],"ca":"ephemeral"},"filesystem":{"ro":["."]},"secrets":{"A":{"hosts":["api.x.com"]}}}`, "stricter network.allowedDomains[0]"},
		{"a masked variable without hosts stays outside", `{"credentials":{"envVars":[{"name":"A","mode":"mask"}]}}`, `{"network":"none","filesystem":{"ro":["."]},"env":{"deny":["A"]}}`, ""},
		{"a masked variable that is ours", `{"network":{"allowedDomains":["x.com:443"]},"credentials":{"envVars":[{"name":"PATH","mode":"mask"}]}}`, `{"network":{"allow":["x.com:443"]},"filesystem":{"ro":["."]},"env":{"deny":["PATH"]}}`, "stricter credentials.envVars[0].name"},
		{"masked files of one name", `{"network":{"allowedDomains":["x.com:443"]},"credentials":{"files":[{"path":"~/a.b","mode":"mask"},{"path":"~/a_b","mode":"mask"}]}}`, `{"network":{"allow":["x.com:443"],"ca":"ephemeral"},"filesystem":{"ro":["."]},"secrets":{"FILE_A_B":{"from_file":"~/a.b","file":"~/a.b","hosts":["x.com"]},"FILE_A_B_2":{"from_file":"~/a_b","file":"~/a_b","hosts":["x.com"]}}}`, ""},
		{"an unknown mode hides", `{"credentials":{"files":[{"path":"~/a","mode":"hide"}]}}`, `{"network":"none","filesystem":{"ro":["."],"exclude":["~/a"]}}`, ""},
		{"unknown keys", `{"netwrk":1,"network":{"x":2}}`, `{"network":"none","filesystem":{"ro":["."]}}`, "unknown network.x, unknown netwrk"},
	})
}
