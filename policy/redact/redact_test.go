package redact

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// canary is the credential that no shown text may contain.
const canary = "hunter2-CANARY-9"

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// source has variables and a file of the host.
var source = Source{
	Env: func(name string) (string, bool) {
		v, ok := map[string]string{"NPM_TOKEN": canary, "CARGO_REGISTRIES_ENVREG_INDEX": "sparse+https://env.example.com/index/"}[name]
		return v, ok
	},
	Beside: func(name string) []byte {
		if name != "config.toml" {
			return nil
		}
		return []byte("[registries.corp]\nindex = \"sparse+https://cargo.example.com/index/\"\n[repositories.corp]\nurl = \"https://poetry.example.com/legacy/\"\n")
	},
}

func Test_Credentials_Leave_Files_And_Are_Bound_To_Their_Hosts(t *testing.T) {
	t.Parallel()
	const npm, pip, cargo, maven, docker, git = Npm, Pip, Cargo, Maven, Docker, Git
	for _, c := range []struct {
		name   string
		format Format
		text   string   // CANARY stands for the credential
		shown  string   // with P0, P1 ... for placeholders
		bound  []string // "P0 HOST ..."
	}{
		{"a token of a registry", npm, "registry=https://npm.example.com/\n//npm.example.com/:_authToken=CANARY\n", "registry=https://npm.example.com/\n//npm.example.com/:_authToken=P0\n", []string{"https://npm.example.com"}},
		{"a token behind a path and a port", npm, "//npm.example.com:8443/a/b/:_authToken = CANARY", "//npm.example.com:8443/a/b/:_authToken=P0\n", []string{"https://npm.example.com:8443"}},
		{"a registry without a name", npm, "//127.0.0.2:4873/:_authToken=CANARY=", "//127.0.0.2:4873/:_authToken=P0\n", []string{"https://127.0.0.2:4873"}},
		{"a token in quotes with a comment", npm, `//npm.example.com/:_authToken = "CANARY"`, "//npm.example.com/:_authToken=P0\n", []string{"https://npm.example.com"}},
		{"single quotes", npm, `'//npm.example.com/:_authToken' = 'CANARY'`, "//npm.example.com/:_authToken=P0\n", []string{"https://npm.example.com"}},
		{"an escape and a comment", npm, `//npm.example.com/:_authToken=CANARY ; the old one was CANARY`, "//npm.example.com/:_authToken=P0\n", []string{"https://npm.example.com"}},
		{"comments", npm, "# CANARY\n; CANARY\nregistry=https://npm.example.com # CANARY", "registry=https://npm.example.com\n", nil},
		{"carriage returns", npm, "//a.example.com/:_authToken=CANARY\r\nregistry=https://a.example.com\r\n", "//a.example.com/:_authToken=P0\nregistry=https://a.example.com\n", []string{"https://a.example.com"}},
		{"a variable", npm, "//npm.example.com/:_authToken=${NPM_TOKEN}", "//npm.example.com/:_authToken=P0\n", []string{"https://npm.example.com"}},
		{"a variable with a question mark", npm, "//npm.example.com/:_authToken=${NPM_TOKEN?}", "//npm.example.com/:_authToken=P0\n", []string{"https://npm.example.com"}},
		{"a variable that is not set", npm, "//npm.example.com/:_authToken=${GONE}", "//npm.example.com/:_authToken=${GONE}\n", nil},
		{"a variable that is not set, beside text", npm, "//npm.example.com/:_authToken=CANARY${GONE}", "//npm.example.com/:_authToken=P0\n", []string{""}},
		{"a login in Base64", npm, "//npm.example.com/:_auth=" + b64("joe:"+canary), "//npm.example.com/:_auth=B(joe:P0)\n", []string{"https://npm.example.com"}},
		{"a login that is not Base64", npm, "//npm.example.com/:_auth=CANARY!", "//npm.example.com/:_auth=P0\n", []string{"https://npm.example.com"}},
		{"a password in Base64", npm, "//npm.example.com/:username=joe\n//npm.example.com/:_password=" + b64(canary), "//npm.example.com/:username=joe\n//npm.example.com/:_password=B(P0)\n", []string{"https://npm.example.com"}},
		{"a token without a host", npm, "registry=https://npm.example.com/x/\n_authToken=CANARY", "registry=https://npm.example.com/x/\n_authToken=P0\n", []string{"https://npm.example.com"}},
		{"a token without a host or registry", npm, "_authToken=CANARY", "_authToken=P0\n", []string{""}},
		{"a registry without TLS", npm, "@corp:registry=http://npm.example.com:4873\n//npm.example.com:4873/:_authToken=CANARY", "@corp:registry=http://npm.example.com:4873\n//npm.example.com:4873/:_authToken=P0\n", []string{"https://npm.example.com:4873 http://npm.example.com:4873"}},
		{"a login in an address", npm, "registry=https://joe:CANARY@npm.example.com/", "registry=https://joe:P0@npm.example.com/\n", []string{"https://npm.example.com"}},
		{"a token in an address", npm, "registry=https://CANARY@npm.example.com/", "registry=https://P0@npm.example.com/\n", []string{"https://npm.example.com"}},
		{"a variable in an address", npm, "registry=https://joe:${NPM_TOKEN}@npm.example.com/", "registry=https://joe:P0@npm.example.com/\n", []string{"https://npm.example.com"}},
		{"a proxy with a login", npm, "https-proxy=http://joe:CANARY@proxy.example.com:3128", "https-proxy=http://joe:P0@proxy.example.com:3128\n", []string{"http://proxy.example.com:3128"}},
		{"keys that are not known", npm, "zz=CANARY\nmy-token=CANARY\ninit-author-name=CANARY\n//npm.example.com/:tokenHelper=CANARY\nfund=false\nca[]=CANARY", "fund=false\n", nil},
		{"a line that is a token", npm, "CANARY\nignore-scripts\nCANARY=true", "ignore-scripts=true\n", nil},
		{"sections", npm, "fund=false\n[x]\n//npm.example.com/:_authToken=CANARY\nregistry=https://evil.example.com", "fund=false\n", nil},
		{"usual options", npm, "save-exact=true\nprefix=${HOME}/.npm-global\nloglevel = warn\nfetch-retries=3", "save-exact=true\nprefix=${HOME}/.npm-global\nloglevel=warn\nfetch-retries=3\n", nil},

		{"an index with a login", pip, "[global]\nindex-url = https://joe:CANARY@pypi.example.com/simple\n", "[global]\nindex-url = https://joe:P0@pypi.example.com/simple\n", []string{"https://pypi.example.com"}},
		{"several indexes", pip, "[global]\nextra-index-url =\n    https://a.example.com/simple\n    # CANARY\n    https://__token__:CANARY@b.example.com/simple\n", "[global]\nextra-index-url =\n    https://a.example.com/simple\n    https://__token__:P0@b.example.com/simple\n", []string{"https://b.example.com"}},
		{"a colon and upper case", pip, "[install]\nIndex_URL: https://CANARY@pypi.example.com/\ntimeout: 60\n", "[install]\nindex-url = https://P0@pypi.example.com/\ntimeout = 60\n", []string{"https://pypi.example.com"}},
		{"an escaped password", pip, "[global]\nindex-url = https://joe:a%40CANARY@pypi.example.com/\n", "[global]\nindex-url = https://joe:P0@pypi.example.com/\n", []string{"https://pypi.example.com"}},
		{"unknown keys of pip", pip, "[global]\nzz = CANARY\n    CANARY\nretries = 2\n", "[global]\nretries = 2\n", nil},

		{"a token of a registry of Cargo", CargoCredentials, "[registries.corp]\ntoken = \"CANARY\" # CANARY\n", "\"registries\".\"corp\".\"token\" = \"P0\"\n", []string{"https://cargo.example.com"}},
		{"the token of the default registry", CargoCredentials, "[registry]\ntoken = 'CANARY'\n", "\"registry\".\"token\" = \"P0\"\n", []string{""}},
		{"a registry of a variable", CargoCredentials, "registries.envreg.token = \"CANARY\"\n", "\"registries\".\"envreg\".\"token\" = \"P0\"\n", []string{"https://env.example.com"}},
		{"an inline table", cargo, "registries = { corp = { index = \"sparse+https://c.example.com/\", token = \"CANARY\" } }\n", "\"registries\".\"corp\".\"index\" = \"sparse+https://c.example.com/\"\n\"registries\".\"corp\".\"token\" = \"P0\"\n", []string{"https://c.example.com"}},
		{"an escape in a key and a value", cargo, "[registries.x]\n\"tok\\u0065n\" = \"\\u0043ANARY\"\n", "\"registries\".\"x\".\"token\" = \"P0\"\n", []string{""}},
		{"variables of Cargo", cargo, "[env]\nMY_TOKEN = \"CANARY\"\nCC = \"clang\"\n[build]\nrustflags = [\"-C\", \"link-arg=-fuse-ld=lld\"]\njobs = 4\n", "\"env\".\"CC\" = \"clang\"\n\"build\".\"rustflags\" = [\"-C\", \"link-arg=-fuse-ld=lld\"]\n\"build\".\"jobs\" = 4\n", nil},
		{"a proxy of Cargo", cargo, "[http]\nproxy = \"http://joe:CANARY@proxy.example.com:3128\"\n", "\"http\".\"proxy\" = \"http://joe:P0@proxy.example.com:3128\"\n", []string{"http://proxy.example.com:3128"}},

		{
			"a server of Maven", maven,
			"<settings><!-- CANARY --><servers><server><id>corp</id><username>joe</username><password>CANARY</password></server></servers><mirrors><mirror><id>corp</id><mirrorOf>*</mirrorOf><url>https://m2.example.com/maven</url></mirror></mirrors></settings>",
			"<servers><server><id>corp</id><username>joe</username><password>P0</password></server></servers><mirrors><mirror><id>corp</id><mirrorOf>*</mirrorOf><url>https://m2.example.com/maven</url></mirror></mirrors>",
			[]string{"https://m2.example.com"},
		},
		{"a server without a repository", maven, "<settings><servers><server><id>x</id><password><![CDATA[CANARY]]></password></server></servers></settings>", "<servers><server><id>x</id><password>P0</password></server></servers>", []string{""}},
		{"a header of Maven", maven, "<settings><servers><server><id>x</id><configuration><httpHeaders><property><name>Private-Token</name><value>CANARY</value></property></httpHeaders><zz>CANARY</zz></configuration></server></servers></settings>", "<servers><server><id>x</id><configuration><httpHeaders><property><name>Private-Token</name><value>P0</value></property></httpHeaders></configuration></server></servers>", []string{""}},
		{"properties of Maven", maven, "<settings><profiles><profile><id>p</id><properties><deploy.key>CANARY</deploy.key></properties></profile></profiles></settings>", "<profiles><profile><id>p</id></profile></profiles>", nil},

		{"a login of Docker", docker, `{"auths": {"ghcr.io": {"auth": "` + b64("joe:"+canary) + `", "email": "CANARY"}}, "HttpHeaders": {"X": "CANARY"}}`, "{\n\t\"auths\": {\n\t\t\"ghcr.io\": {\"auth\": \"B(joe:P0)\"}\n\t}\n}\n", []string{"https://ghcr.io"}},
		{"the login of Docker Hub", docker, `{"auths": {"https://index.docker.io/v1/": {"identitytoken": "CANARY"}}, "credsStore": "desktop", "currentContext": "default"}`, "{\n\t\"currentContext\": \"default\",\n\t\"auths\": {\n\t\t\"https://index.docker.io/v1/\": {\"identitytoken\": \"P0\"}\n\t}\n}\n", []string{strings.Join(dockerHub, " ")}},

		{"a token in a replaced address of git", git, "[user]\n\tname = Joe\n[url \"https://CANARY@github.com/\"]\n\tinsteadOf = https://github.com/\n", "[user]\n\tname = \"Joe\"\n[url \"https://P0@github.com/\"]\n\tinsteadof = \"https://github.com/\"\n", []string{"https://github.com"}},
		{"a header of git", git, "[http \"https://git.example.com/\"]\n\textraHeader = \"Authorization: Bearer CANARY\"\n", "[http \"https://git.example.com/\"]\n\textraheader = \"Authorization: Bearer P0\"\n", []string{"https://git.example.com"}},
		{"a header of git in Base64", git, "[http \"https://git.example.com/\"]\n\textraHeader = Authorization: basic " + b64("x:"+canary), "[http \"https://git.example.com/\"]\n\textraheader = \"Authorization: basic B(x:P0)\"\n", []string{"https://git.example.com"}},
		{"a token of git", git, "[github]\n\tuser = joe\n\ttoken = CANARY\n[sendemail]\n\tsmtpPass = CANARY\n", "[github]\n\tuser = \"joe\"\n\ttoken = \"P0\"\n[sendemail]\n\tsmtppass = \"P1\"\n", []string{"", ""}},
		{"a helper that prints a password", git, "[credential]\n\thelper = \"!f() { echo password=CANARY; }; f\"\n\thelper = cache\n", "[credential]\n\thelper = \"cache\"\n", nil},
		{"an alias with quotes", git, "[alias]\n\tl = \"!git log --format=\\\"%h\\\" | head\" ; CANARY\n", "[alias]\n\tl = \"!git log --format=\\\"%h\\\" | head\"\n", nil},

		{
			"a registry of Yarn", Yarn, "# CANARY\nnpmRegistryServer: \"https://yarn.example.com/npm\" # CANARY\nnpmAuthToken: CANARY\nenableTelemetry: false\nzzToken: CANARY\n",
			"\"npmRegistryServer\": \"https://yarn.example.com/npm\"\n\"npmAuthToken\": \"P0\"\n\"enableTelemetry\": \"false\"\n",
			[]string{"https://yarn.example.com"},
		},
		{
			"scopes of Yarn", Yarn, "npmScopes:\n  corp:\n    npmRegistryServer: https://c.example.com/\n    npmAuthToken: '${NPM_TOKEN}'\n  other:\n    npmAuthIdent: \"joe:CANARY\"\nnodeLinker: node-modules\n",
			"\"npmScopes\":\n  \"corp\":\n    \"npmRegistryServer\": \"https://c.example.com/\"\n    \"npmAuthToken\": \"P0\"\n  \"other\":\n    \"npmAuthIdent\": \"joe:P1\"\n\"nodeLinker\": \"node-modules\"\n",
			[]string{"https://c.example.com", ""},
		},
		{
			"registries of Yarn", Yarn, "npmRegistries:\n  \"//r.example.com/npm\":\n    npmAlwaysAuth: true\n    npmAuthIdent: " + b64("joe:"+canary) + "\n  'http://p.example.com:4873':\n    npmAuthToken: CANARY\n",
			"\"npmRegistries\":\n  \"//r.example.com/npm\":\n    \"npmAlwaysAuth\": \"true\"\n    \"npmAuthIdent\": \"B(joe:P0)\"\n  \"http://p.example.com:4873\":\n    \"npmAuthToken\": \"P1\"\n",
			[]string{"https://r.example.com", "http://p.example.com:4873"},
		},
		{
			"lists of Yarn", Yarn, "plugins:\n- path: .yarn/plugins/p.cjs\n  checksum: " + strings.Repeat("0a", 32) + "\n- .yarn/q.cjs\nunsafeHttpWhitelist:\n  - \"*.example.com\"\nlogFilters:\n  - secret: CANARY\nhttpProxy: http://joe:CANARY@proxy.example.com:3128\n",
			"\"plugins\":\n  -\n    \"path\": \".yarn/plugins/p.cjs\"\n  - \".yarn/q.cjs\"\n\"unsafeHttpWhitelist\":\n  - \"*.example.com\"\n\"logFilters\":\n  - {}\n\"httpProxy\": \"http://joe:P0@proxy.example.com:3128\"\n",
			[]string{"http://proxy.example.com:3128"},
		},
		{
			"a registry of Yarn 1", YarnClassic, "# THIS IS AN AUTOGENERATED FILE. CANARY\n\nregistry \"https://yarn.example.com/npm/\"\n\"@corp:registry\" \"https://joe:CANARY@corp.example.com/\"\n\"//yarn.example.com/npm/:_authToken\" \"CANARY\"\nlastUpdateCheck 1690000000000\nstrict-ssl false\nyarn-path \".yarn/releases/yarn-1.22.22.cjs\"\nyarn-offline-mirror ./offline\n--install.frozen-lockfile true\n--add.token CANARY\nzz-token CANARY\nusername joe\n",
			"\"registry\" \"https://yarn.example.com/npm/\"\n\"@corp:registry\" \"https://joe:P0@corp.example.com/\"\n\"//yarn.example.com/npm/:_authToken\" \"P1\"\n\"lastUpdateCheck\" \"1690000000000\"\n\"strict-ssl\" false\n\"yarn-path\" \".yarn/releases/yarn-1.22.22.cjs\"\n\"yarn-offline-mirror\" \"./offline\"\n\"--install.frozen-lockfile\" true\n\"username\" \"joe\"\n",
			[]string{"https://corp.example.com", "https://yarn.example.com"},
		},
		{"variables of Yarn", Yarn, "npmAuthToken: ${GONE:-CANARY}\nnpmRegistryServer: ${GONE}\n", "\"npmAuthToken\": \"P0\"\n\"npmRegistryServer\": \"${GONE}\"\n", []string{""}},

		{
			"a source of NuGet", NuGet, `<configuration><packageSources><clear/><add key="my corp" value="https://nuget.example.com/v3/index.json" protocolVersion="3" /></packageSources><packageSourceCredentials><my_x0020_corp><add key="Username" value="joe" /><add key="ClearTextPassword" value="CANARY" /><add key="zz" value="CANARY" /></my_x0020_corp></packageSourceCredentials><packageSourceMapping><packageSource key="my corp"><package pattern="Corp.*" /></packageSource></packageSourceMapping><apikeys><add key="https://x" value="CANARY" /></apikeys></configuration>`,
			"<packageSources>\n<clear></clear>\n<add key=\"my corp\" value=\"https://nuget.example.com/v3/index.json\" protocolVersion=\"3\"></add>\n</packageSources>\n<packageSourceCredentials>\n<my_x0020_corp>\n<add key=\"Username\" value=\"joe\"></add>\n<add key=\"ClearTextPassword\" value=\"P0\"></add>\n</my_x0020_corp>\n</packageSourceCredentials>\n<packageSourceMapping>\n<packageSource key=\"my corp\"><package pattern=\"Corp.*\"></package>\n</packageSource>\n</packageSourceMapping>\n",
			[]string{"https://nuget.example.com"},
		},
		{
			"a variable and a proxy of NuGet", NuGet, `<configuration><config><add key="http_proxy" value="http://proxy.example.com:3128" /><add key="http_proxy.password" value="CANARY" /></config><packageSourceCredentials><x><add key="ClearTextPassword" value="%NPM_TOKEN%" /><add key="Password" value="CANARY" /></x></packageSourceCredentials></configuration>`,
			"<config>\n<add key=\"http_proxy\" value=\"http://proxy.example.com:3128\"></add>\n<add key=\"http_proxy.password\" value=\"P0\"></add>\n</config>\n<packageSourceCredentials>\n<x>\n<add key=\"ClearTextPassword\" value=\"P1\"></add>\n<add key=\"Password\" value=\"P2\"></add>\n</x>\n</packageSourceCredentials>\n",
			[]string{"", "", ""},
		},

		{
			"a mirror and logins of Bundler", Bundler, "---\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://joe:CANARY@gems.example.com/\"\nBUNDLE_GEMS___X__EXAMPLE__COM: \"joe:CANARY\"\nBUNDLE_HTTPS://G__EXAMPLE__COM:8443/: 'CANARY'\nBUNDLE_PATH: \"vendor/bundle\"\nBUNDLE_ZZ: \"CANARY\"\n",
			"BUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://joe:P0@gems.example.com/\"\nBUNDLE_GEMS___X__EXAMPLE__COM: \"joe:P1\"\nBUNDLE_HTTPS://G__EXAMPLE__COM:8443/: \"P2\"\nBUNDLE_PATH: \"vendor/bundle\"\nBUNDLE_ZZ: \"P3\"\n",
			[]string{"https://gems.example.com", "https://gems-x.example.com", "https://g.example.com:8443", ""},
		},

		{
			"indexes of uv", Uv, "native-tls = true # CANARY\nindex-url = \"https://joe:CANARY@pypi.example.com/simple\"\n[[index]]\nname = \"corp\"\nurl = \"https://CANARY@corp.example.com/simple\"\ndefault = true\n[[index]]\nurl = \"https://open.example.com/simple\"\n[pip]\nextra-index-url = [\"https://a:CANARY@e.example.com/\"]\n",
			"\"native-tls\" = true\n\"index-url\" = \"https://joe:P0@pypi.example.com/simple\"\n\"pip\".\"extra-index-url\" = [\"https://a:P1@e.example.com/\"]\n[[\"index\"]]\n\"name\" = \"corp\"\n\"url\" = \"https://P2@corp.example.com/simple\"\n\"default\" = true\n[[\"index\"]]\n\"url\" = \"https://open.example.com/simple\"\n",
			[]string{"https://pypi.example.com", "https://e.example.com", "https://corp.example.com"},
		},
		{
			"registries of Bun", Bun, "[install]\nregistry = { url = \"https://bun.example.com/\", token = \"$NPM_TOKEN\" }\n[install.scopes]\ncorp = \"https://joe:CANARY@c.example.com/\"\n\"@x\" = { token = \"$GONE\", url = \"https://x.example.com/\" }\n",
			"\"install\".\"registry\".\"url\" = \"https://bun.example.com/\"\n\"install\".\"registry\".\"token\" = \"P0\"\n\"install\".\"scopes\".\"corp\" = \"https://joe:P1@c.example.com/\"\n\"install\".\"scopes\".\"@x\".\"token\" = \"$GONE\"\n\"install\".\"scopes\".\"@x\".\"url\" = \"https://x.example.com/\"\n",
			[]string{"https://bun.example.com", "https://c.example.com"},
		},
		{
			"logins of Composer", Composer, `{"http-basic": {"repo.example.com": {"username": "joe", "password": "CANARY"}}, "github-oauth": {"github.com": "CANARY"}, "gitlab-token": {"gitlab.example.com": {"username": "u", "token": "CANARY"}}, "bearer": [], "zz": "CANARY"}`,
			"{\n\t\"github-oauth\": {\n\t\t\"github.com\": \"P0\"\n\t},\n\t\"gitlab-token\": {\n\t\t\"gitlab.example.com\": {\"token\": \"P1\", \"username\": \"u\"}\n\t},\n\t\"http-basic\": {\n\t\t\"repo.example.com\": {\"password\": \"P2\", \"username\": \"joe\"}\n\t}\n}\n",
			[]string{"https://github.com https://api.github.com https://codeload.github.com", "https://gitlab.example.com", "https://repo.example.com"},
		},
		{
			"properties of Gradle", Gradle, "# CANARY\norg.gradle.jvmargs=-Xmx2g -Dfile.encoding=UTF-8\nrepoPassword = CANARY\nrepoApiKey: CANARY\nrepoUrl=https://joe:CANARY@maven.example.com/r\nother=a\"CANARY\nsigning.pass CANARY\norg.gradle.caching=true\n",
			"org.gradle.jvmargs=-Xmx2g -Dfile.encoding=UTF-8\nrepoPassword=P0\nrepoApiKey=P1\nrepoUrl=https://joe:P2@maven.example.com/r\nother=P3\nsigning.pass=P4\norg.gradle.caching=true\n",
			[]string{"", "", "https://maven.example.com", "", ""},
		},
		{
			"logins of Poetry", Poetry, "[http-basic.corp]\nusername = \"joe\"\npassword = \"CANARY\"\n[pypi-token]\nelse = \"CANARY\"\n",
			"\"http-basic\".\"corp\".\"username\" = \"joe\"\n\"http-basic\".\"corp\".\"password\" = \"P0\"\n\"pypi-token\".\"else\" = \"P1\"\n",
			[]string{"https://poetry.example.com", ""},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := strings.ReplaceAll(strings.ReplaceAll(c.text, "CANARY", canary), "\\u0043ANARY", "\\u0068unter2-CANARY-9")
			f, err := Parse(c.format, []byte(text), source)
			if err != nil {
				t.Fatal(err)
			}
			shown, bound := render(f)
			shown = strings.TrimSuffix(strings.TrimPrefix(shown, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<configuration>\n"), "</configuration>\n")
			shown = strings.TrimPrefix(strings.TrimPrefix(shown, "---\n"), "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<settings xmlns=\"http://maven.apache.org/SETTINGS/1.2.0\">")
			if shown = strings.TrimSuffix(shown, "</settings>\n"); shown != c.shown {
				t.Errorf("got  %q\nwant %q", shown, c.shown)
			}
			if !slices.Equal(bound, c.bound) {
				t.Errorf("bound to %q, want %q", bound, c.bound)
			}
			for _, cred := range f.Credentials {
				if !strings.Contains(cred.Value, canary) {
					t.Errorf("the credential %q is not the one of the file", cred.Value)
				}
			}
			if strings.Contains(string(f.Text(placeholders(f))), canary) || strings.Contains(string(f.Text(placeholders(f))), b64(canary)[:12]) {
				t.Error("the credential is shown")
			}
		})
	}
}

func placeholders(f *File) []string {
	var out []string
	for i := range f.Credentials {
		out = append(out, fmt.Sprintf("P%d", i))
	}
	return out
}

// render returns the text of a file, with B(...) for Base64 that holds a placeholder, and the hosts of each credential.
func render(f *File) (text string, bound []string) {
	text = string(f.Text(placeholders(f)))
	for _, p := range f.text {
		if p.encoded {
			plain := fmt.Sprintf("%sP%d", p.text, p.credential-1)
			text = strings.ReplaceAll(text, b64(plain), "B("+plain+")")
		}
	}
	for _, c := range f.Credentials {
		bound = append(bound, strings.Join(c.Hosts, " "))
	}
	return text, bound
}

func Test_Files_That_Are_Not_Understood_Are_Errors_Without_Their_Text(t *testing.T) {
	t.Parallel()
	long := "a1b2c3d4e5f6g7h8i9j0k1l2"
	for _, c := range []struct {
		name   string
		format Format
		text   string
	}{
		{"a token in the path of a registry", Npm, "registry=https://npm.example.com/" + long + "/"},
		{"a token in a query", Npm, "registry=https://npm.example.com/?token=" + canary},
		{"a token in a key", Npm, "//npm.example.com/" + long + "/:_authToken=x"},
		{"a UUID in a path", Npm, "registry=https://npm.example.com/0f8fad5b-d9cb-469f-a165-70867728950e/"},
		{"an open quote", Npm, `//npm.example.com/:_authToken="` + canary},
		{"a proxy without a scheme", Npm, "proxy=joe:" + canary + "@proxy:80"},
		{"a credential in a second place", Npm, "//npm.example.com/:_authToken=" + canary + "\nscope=" + canary},
		{"a variable in the host", Npm, "registry=https://${HOST}/"},
		{"a key without a host", Npm, "//:_authToken=" + canary},
		{"a NUL", Npm, "fund=false\x00" + canary},
		{"a section that is no command", Pip, "[" + canary + "]"},
		{"a line outside a section", Pip, "index-url = https://" + canary + "@x"},
		{"a line without a value", Pip, "[global]\n" + canary},
		{"an address with a fragment", Pip, "[global]\nindex-url = https://x.example.com/#" + canary},
		{"a proxy of pip without a scheme", Pip, "[global]\nproxy = joe:" + canary + "@proxy:80"},
		{"a string of several lines", Cargo, "[registry]\ntoken = \"\"\"\n" + canary + "\"\"\""},
		{"a list of tables", Cargo, "[[x]]\ny = \"" + canary + "\""},
		{"an unfinished string", CargoCredentials, "[registry]\ntoken = \"" + canary},
		{"two values on a line", Cargo, "a = 1 b = \"" + canary + "\""},
		{"an unclosed element", Maven, "<settings><servers>" + canary},
		{"an entity", Maven, `<!DOCTYPE x [<!ENTITY a "` + canary + `">]><settings><offline>&a;</offline></settings>`},
		{"another document", Maven, "<project><password>" + canary + "</password></project>"},
		{"no JSON", Docker, `{"auths": {"x": {"auth": "` + canary + `"}`},
		{"a list of logins", Docker, `{"auths": ["` + canary + `"]}`},
		{"a registry with a token", Docker, `{"auths": {"` + long + `": {}}}`},
		{"a list of Yarn on one line", Yarn, "plugins: [\"" + canary + "\"]"},
		{"a nested value of Yarn 1", YarnClassic, "env:\n  TOKEN \"" + canary + "\""},
		{"a third word of Yarn 1", YarnClassic, "registry https://x.example.com " + canary},
		{"an unfinished string of Yarn 1", YarnClassic, "registry \"https://x.example.com/" + canary},
		{"a registry of Yarn 1 with a query", YarnClassic, "registry \"https://x.example.com/?t=" + canary + "\""},
		{"a text of several lines", Yarn, "npmAuthToken: |\n  " + canary},
		{"an anchor", Yarn, "npmAuthToken: &a " + canary + "\nx: *a"},
		{"a tag", Yarn, "npmAuthToken: !!str " + canary},
		{"a text that goes on", Yarn, "npmAuthToken: " + canary + "\n  x"},
		{"a key twice", Yarn, "npmAuthToken: " + canary + "\nnpmAuthToken: x"},
		{"a second document", Yarn, "a: b\n---\nnpmAuthToken: " + canary},
		{"a tab", Yarn, "a:\n\tnpmAuthToken: " + canary},
		{"deep nesting", Yarn, deepYAML(40) + canary},
		{"a registry with a query", Yarn, "npmRegistryServer: https://x.example.com/?t=" + canary},
		{"a registry with a variable in its host", Yarn, "npmRegistryServer: https://${X}/"},
		{"a registry that is no host", Yarn, "npmRegistries:\n  \"//joe:" + canary + "@x.example.com\":\n    npmAlwaysAuth: true"},
		{"a source with a token", NuGet, `<configuration><packageSources><add key="x" value="https://x.example.com/` + long + `/index.json"/></packageSources></configuration>`},
		{"a source with a query", NuGet, `<configuration><packageSources><add key="x" value="https://x.example.com/?k=` + canary + `"/></packageSources></configuration>`},
		{"another document than a NuGet.Config", NuGet, "<settings>" + canary + "</settings>"},
		{"a list of Bundler", Bundler, "BUNDLE_WITHOUT:\n- " + canary},
		{"a mirror that is no address", Bundler, "BUNDLE_MIRROR__ALL: \"https://x/?" + canary + "\""},
		{"a login of Composer without a host", Composer, `{"http-basic": {"https://x/": {"password": "` + canary + `"}}}`},
		{"a list of logins of Composer", Composer, `{"bearer": ["` + canary + `"]}`},
		{"a property that goes on", Gradle, "a=x\\\n" + canary},
		{"an escape in the name of a property", Gradle, "p\\u0061ssword=" + canary},
		{"an index with a query", Uv, "[[index]]\nurl = \"https://x.example.com/?k=" + canary + "\""},
		{"a table in a list of tables", Uv, "[[index]]\nurl = \"https://x.example.com\"\n[index.y]\nz = \"" + canary + "\""},
		{"a list of tables after its table", Uv, "[[index]]\n[index]\nurl = \"" + canary + "\""},
		{"a token as the address of a registry", Bun, "[install]\nregistry = \"" + long + "\""},
		{"too large a file", Npm, strings.Repeat("a=1\n", 1<<19)},
		{"an unknown format", "zz", canary},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, err := Parse(c.format, []byte(c.text), source)
			if err == nil {
				shown, _ := render(f)
				t.Fatalf("got %q, want an error", shown)
			}
			if strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), long) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("the error %q repeats the file", err)
			}
		})
	}
}

func deepYAML(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String() + strings.Repeat(" ", n) + "npmAuthToken: "
}

func Test_The_Files_That_Git_Includes_Are_Named(t *testing.T) {
	t.Parallel()
	f, err := Parse(Git, []byte("[include]\n\tpath = ~/.gitconfig-work\n[includeIf \"gitdir:~/x/\"]\n\tpath = other\n"), source)
	if err != nil || !slices.Equal(f.Includes, []string{"~/.gitconfig-work", "other"}) {
		t.Errorf("got %q, %v", f.Includes, err)
	}
}

// FuzzParse looks for panics, and for tokens of a known kind that are shown.
func FuzzParse(f *testing.F) {
	formats := []Format{Npm, Pip, Cargo, CargoCredentials, Maven, Docker, Git, Yarn, YarnClassic, NuGet, Bundler, Uv, Bun, Poetry, Composer, Gradle}
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
	for i, text := range []string{
		"//h.example.com/:_authToken=" + token, "[global]\nindex-url=https://" + token + "@h/", "[registry]\ntoken=\"" + token + "\"",
		"[registries.a]\ntoken='" + token + "'", "<settings><servers><server><password>" + token + "</password></server></servers></settings>",
		`{"auths":{"h":{"auth":"` + b64("a:"+token) + `"}}}`, "[url \"https://" + token + "@h/\"]\n\tinsteadOf = https://h/",
		"npmScopes:\n  a:\n    npmAuthToken: \"" + token + "\"\nplugins:\n  - x: y\n", "<configuration><packageSourceCredentials><x><add key=\"ClearTextPassword\" value=\"" + token + "\"/></x></packageSourceCredentials></configuration>",
		"BUNDLE_GEMS__EXAMPLE__COM: \"x:" + token + "\"\n", "[[index]]\nurl = \"https://x:" + token + "@h/\"\n", "[install.scopes]\na = { url = \"https://h/\", token = \"" + token + "\" }\n", "[http-basic.a]\npassword = \"" + token + "\"\n",
		`{"http-basic":{"h":{"password":"` + token + `"}}}`, "a.password=" + token + "\n",
	} {
		f.Add(i, text)
	}
	f.Fuzz(func(t *testing.T, n int, text string) {
		file, err := Parse(formats[uint(n)%uint(len(formats))], []byte(text), source)
		if err != nil {
			return
		}
		var placeholders []string
		for range file.Credentials {
			placeholders = append(placeholders, "PLACEHOLDER")
		}
		if shown := string(file.Text(placeholders)); strings.Contains(shown, token) {
			t.Errorf("%q shows a token: %q", text, shown)
		}
	})
}
