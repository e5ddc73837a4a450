package images

import (
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
)

func Test_Invalid_Versions_Are_Rejected(t *testing.T) {
	for v, want := range map[string]bool{
		"latest": true, "1.2.3": true, "^2": true, "2.1": true, "next": true, "1.2.3-rc.1+b": true,
		"": false, "-g": false, "1 2": false, "$(id)": false, "x;y": false, `1"`: false, "../x": false, "a/b": false,
	} {
		if err := checkVersion("codex", v); (err == nil) != want {
			t.Errorf("%q: %v", v, err)
		}
	}
}

func Test_Exact_Versions_Are_Recognized(t *testing.T) {
	for v, want := range map[string]bool{
		"1.2.3": true, "1.2.3-rc.1": true, "10.0.0+x": true, "1.2": false, "latest": false, "^1.2.3": false, "1.2.3\n": false, "": false,
	} {
		if isExactVersion(v) != want {
			t.Errorf("%q: %v", v, !want)
		}
	}
}

func Test_Newest_Is_The_Last_Printed_Version(t *testing.T) {
	for printed, want := range map[string]string{
		`"1.2.3"`: "1.2.3", `["1.0.0","1.2.0"]`: "1.2.0", `{"error":{"code":"E404"}}`: "", ``: "", `[]`: "", `"latest"`: "", `"1.2.3; id"`: "",
	} {
		if got, ok := newest([]byte(printed)); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v", printed, got, ok)
		}
	}
}

func Test_Npm_Error_Is_Its_Message_On_One_Line(t *testing.T) {
	got := npmError(job.Output{Stdout: []byte(`{"error":{"code":"E404","summary":"No match found\nmore"}}`)})
	if got != "E404 No match found" {
		t.Errorf("%q", got)
	}
	if got := npmError(job.Output{Stderr: []byte("npm ERR!\n  code X\n")}); got != "npm ERR! code X" {
		t.Errorf("%q", got)
	}
}

func Test_Settings_Of_Npm_Are_Read(t *testing.T) {
	const npmrc = "; a comment\nregistry = \"https://one.example/\"\n//one.example/:_authToken=x\nregistry=https://two.example/\ncafile=/etc/ca.pem\n"
	for _, c := range []struct {
		name string
		env  []string
		file string
		key  string
		want string
	}{
		{"of the environment first", []string{"NPM_CONFIG_REGISTRY=https://env.example/"}, npmrc, "registry", "https://env.example/"},
		{"in lower case, too", []string{"npm_config_registry=https://env.example/"}, "", "registry", "https://env.example/"},
		{"the last line counts", nil, npmrc, "registry", "https://two.example/"},
		{"other keys", nil, npmrc, "cafile", "/etc/ca.pem"},
		{"none", []string{"NPM_CONFIG_REGISTRY="}, "", "registry", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Setting(c.env, c.file, c.key); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func Test_Tags_Of_Images_Are_Checked(t *testing.T) {
	for tag, want := range map[string]bool{"": true, "latest": true, "2026-11": true, "_x": true, "-x": false, ".x": false, "a b": false, "a:b": false, "a/b": false} {
		if err := CheckTag(tag); (err == nil) != want {
			t.Errorf("%q: %v", tag, err)
		}
	}
}

func Test_Each_Image_Is_Built_On_The_One_Before(t *testing.T) {
	for _, name := range Names() {
		chain := Chain(name)
		if chain[0] != Base || chain[len(chain)-1] != name {
			t.Errorf("%s: %v", name, chain)
		}
		if _, err := Context(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := Context("other"); err == nil {
		t.Error("an image that there is not was found")
	}
}
