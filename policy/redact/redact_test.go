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
		return []byte("[registries.corp]\nindex = \"sparse+https://cargo.example.com/index/\"\n")
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
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text := strings.ReplaceAll(strings.ReplaceAll(c.text, "CANARY", canary), "\\u0043ANARY", "\\u0068unter2-CANARY-9")
			f, err := Parse(c.format, []byte(text), source)
			if err != nil {
				t.Fatal(err)
			}
			shown, bound := render(f)
			shown = strings.TrimPrefix(shown, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<settings xmlns=\"http://maven.apache.org/SETTINGS/1.2.0\">")
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

func Test_The_Files_That_Git_Includes_Are_Named(t *testing.T) {
	t.Parallel()
	f, err := Parse(Git, []byte("[include]\n\tpath = ~/.gitconfig-work\n[includeIf \"gitdir:~/x/\"]\n\tpath = other\n"), source)
	if err != nil || !slices.Equal(f.Includes, []string{"~/.gitconfig-work", "other"}) {
		t.Errorf("got %q, %v", f.Includes, err)
	}
}

// FuzzParse looks for panics, and for tokens of a known kind that are shown.
func FuzzParse(f *testing.F) {
	formats := []Format{Npm, Pip, Cargo, CargoCredentials, Maven, Docker, Git}
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
	for i, text := range []string{
		"//h.example.com/:_authToken=" + token, "[global]\nindex-url=https://" + token + "@h/", "[registry]\ntoken=\"" + token + "\"",
		"[registries.a]\ntoken='" + token + "'", "<settings><servers><server><password>" + token + "</password></server></servers></settings>",
		`{"auths":{"h":{"auth":"` + b64("a:"+token) + `"}}}`, "[url \"https://" + token + "@h/\"]\n\tinsteadOf = https://h/",
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
