package proxy

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const value = "the-real-value-1"

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// openPlanned opens a gateway without a network, which still fetches the values.
func openPlanned(t *testing.T, env []string, planned []string, secrets ...policy.Secret) (*Gateway, error) {
	t.Helper()
	plan := &policy.Plan{Network: sandbox.Network{Mode: sandbox.NetworkNone}, Env: planned, Secrets: secrets}
	for i := range plan.Secrets {
		plan.Secrets[i].Source = "test.json:1"
	}
	return Open(t.Context(), plan, Options{HostEnv: env})
}

// wantError checks that an error is one line with a text and a code, and does not contain
// the value.
func wantError(t *testing.T, err error, code sandbox.Code, text string) {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	if got := sandbox.CodeOf(err); got != code || !strings.Contains(err.Error(), text) {
		t.Errorf("got %s: %v, want %s: ...%s", got, err, code, text)
	}
	if strings.Contains(err.Error()+sandbox.HintOf(err), value) {
		t.Errorf("%v (%s) holds the value", err, sandbox.HintOf(err))
	}
	if strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("%q is more than one line", err)
	}
}

func Test_Values_Of_Secrets_Are_Checked(t *testing.T) {
	for _, row := range []struct {
		name, value string
		code        sandbox.Code // empty: the value is accepted
		text        string
	}{
		{"a value is taken", value, "", ""},
		{"white space around it is not part of it", " \t" + value + "\r\n\n", "", ""},
		{"a tab and bytes that are not ASCII may be in it", "a\tbü\xff", "", ""},
		{"nothing is none", "", sandbox.Invalid, "the value is empty"},
		{"white space is none", " \n", sandbox.Invalid, "the value is empty"},
		{"a line end would begin another field", value + "\nX-Other: 1", sandbox.Invalid, "more than one line"},
		{"so would a CR", value + "\rX", sandbox.Invalid, "more than one line"},
		{"a NUL cannot be sent", value + "\x00x", sandbox.Invalid, "a control character"},
		{"an escape sequence cannot be sent", value + "\x1b[0m", sandbox.Invalid, "a control character"},
		{"64 KiB are enough", strings.Repeat("x", maxSecret), "", ""},
		{"more is another thing", strings.Repeat("x", maxSecret+1), sandbox.Unavailable, "is larger than 64KiB"},
	} {
		t.Run(row.name, func(t *testing.T) {
			file := write(t, filepath.Join(t.TempDir(), "value"), row.value)
			g, err := openPlanned(t, nil, nil, policy.Secret{Name: "A", FromFile: file, Env: "A"})
			if row.code != "" {
				wantError(t, err, row.code, row.text)
				if !strings.Contains(err.Error(), "the secret A (test.json:1)") {
					t.Errorf("%v does not say which secret", err)
				}
				return
			}
			if err != nil || len(g.Env) != 1 || !strings.HasPrefix(g.Env[0], "A=") || strings.Contains(g.Env[0], "real") {
				t.Errorf("got %v, %v", g, err)
			}
		})
	}
}

func Test_Files_Are_Opened_Without_Following_Links_Or_Waiting(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "real", "value"), value)
	for from, to := range map[string]string{"link": "real/value", "dir": "real"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, path, text string }{
		{"a link that commands planted", "link", "too many levels of symbolic links"},
		{"a link on the way", "dir/value", "too many levels of symbolic links"},
		{"a FIFO without a writer", "fifo", "is not a regular file"},
		{"a directory", "real", "is not a regular file"},
		{"a device", "/dev/zero", "is not a regular file"},
		{"nothing", "missing", "no such file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := row.path
			if !filepath.IsAbs(path) {
				path = filepath.Join(dir, path)
			}
			_, err := openPlanned(t, nil, nil, policy.Secret{Name: "A", FromFile: path, Env: "A"})
			wantError(t, err, sandbox.Unavailable, row.text)
			_, err = openPlanned(t, []string{"A=" + value}, nil, policy.Secret{Name: "A", FromEnv: "A", File: path})
			wantError(t, err, sandbox.Unavailable, row.text)
		})
	}
}

func Test_Masked_Files_Have_Placeholders(t *testing.T) {
	const other = "another-value-2"
	env := []string{"A=" + value, "B=" + other, "SHORT=1", "LONG=" + value + "-and-more"}
	for _, row := range []struct {
		name, text string
		secrets    []policy.Secret // their File is set below when it is "x"
		want       string          // with <A> for a placeholder
		error      string
	}{
		{"one value", "token=" + value + "\n", []policy.Secret{{Name: "A", FromEnv: "A", File: "x"}}, "token=<A>\n", ""},
		{"two secrets in one file", value + ":" + other, []policy.Secret{{Name: "A", FromEnv: "A", File: "x"}, {Name: "B", FromEnv: "B", File: "x"}}, "<A>:<B>", ""},
		{
			"a value that is the beginning of another one", value + "-and-more:" + value,
			[]policy.Secret{{Name: "A", FromEnv: "A", File: "x"}, {Name: "L", FromEnv: "LONG", File: "x"}},
			"<L>:<A>", "",
		},
		{"a secret that is not bound to the file", value + ":" + other, []policy.Secret{{Name: "A", FromEnv: "A", File: "x"}, {Name: "B", FromEnv: "B", Env: "B"}}, "<A>:<B>", ""},
		{"the whole file", "\n" + value + "\n", []policy.Secret{{Name: "A", FromFile: "x", File: "x"}}, "\n<A>\n", ""},
		{"the whole file, short", "1\n", []policy.Secret{{Name: "A", FromFile: "x", File: "x"}}, "<A>\n", ""},
		{"the whole file has lines", "a\nb", []policy.Secret{{Name: "A", FromFile: "x", File: "x"}}, "", "more than one line"},
		{"a short value", "port=1", []policy.Secret{{Name: "A", FromEnv: "SHORT", File: "x"}}, "", "shorter than 8 bytes"},
		{"no value in it", "token=\n", []policy.Secret{{Name: "A", FromEnv: "A", File: "x"}}, "", "does not hold the value"},
		{
			"one form is masked and another cannot be", value + "\n" + "dGhlLXJlYWw\ntdmFsdWUtMQ==",
			[]policy.Secret{{Name: "A", FromEnv: "A", File: "x"}},
			"", "an encoding that cannot be masked",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			file := write(t, filepath.Join(t.TempDir(), "file"), row.text)
			for i := range row.secrets {
				for _, p := range []*string{&row.secrets[i].File, &row.secrets[i].FromFile} {
					if *p == "x" {
						*p = file
					}
				}
			}
			plan := &policy.Plan{Secrets: row.secrets}
			found, err := fetchSecrets(t.Context(), plan, env)
			g := &Gateway{plan: plan}
			if err == nil {
				err = g.mask(found)
			}
			if row.error != "" {
				wantError(t, err, sandbox.Invalid, row.error)
				return
			}
			if err != nil || len(g.Files) != 1 || g.Files[0].Path != file || g.Files[0].Mode != 0o400 {
				t.Fatalf("got %+v, %v", g.Files, err)
			}
			want := row.want
			for _, s := range found {
				want = strings.ReplaceAll(want, "<"+s.Name+">", s.Placeholder)
			}
			if got := string(g.Files[0].Data); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func Test_Variables_That_Hold_A_Value_Are_Dropped(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "value"), value)
	planned := []string{
		"A=own", "COPY=" + value, "URL=https://me:" + value + "@host", "DOCKER_AUTH_CONFIG=bWU6dGhlLXJlYWwtdmFsdWUtMQ==",
		"HOME=/home/me", "PATH=/usr/bin",
	}
	g, err := openPlanned(t, nil, planned, policy.Secret{Name: "S", FromFile: file, Env: "A"})
	if err != nil {
		t.Fatal(err)
	}
	env := g.Environ(planned)
	if len(env) != 3 || env[0] != "HOME=/home/me" || env[1] != "PATH=/usr/bin" || !strings.HasPrefix(env[2], "A=") || env[2] == "A=own" {
		t.Errorf("the environment is %q", env)
	}
	var names []string
	for _, d := range g.Dropped {
		names = append(names, d.Name)
		if d.Why != "it holds the value of the secret S" {
			t.Errorf("%s is dropped because %s", d.Name, d.Why)
		}
	}
	if got := strings.Join(names, " "); got != "COPY URL DOCKER_AUTH_CONFIG" {
		t.Errorf("dropped are %s", got)
	}
}

func Test_A_Secret_That_Is_Missing_Is_Left_Out(t *testing.T) {
	g, err := openPlanned(t, nil, nil, policy.Secret{Name: "A", FromEnv: "A", Env: "A", Missing: "the host has no variable A"})
	if err != nil || len(g.Env) != 0 || g.IsProxied() {
		t.Errorf("got %+v, %v", g, err)
	}
}

func Test_An_Ended_Context_Is_Reported_As_Canceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	plan := &policy.Plan{Secrets: []policy.Secret{{Name: "A", FromCommand: []string{"/bin/echo", "x"}, Env: "A"}}}
	_, err := Open(ctx, plan, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
