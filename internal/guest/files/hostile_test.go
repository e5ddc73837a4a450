package files

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/guesttest"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// hostile returns a client that talks to a shell script instead of the guest.
func hostile(t *testing.T, script string) sandbox.Files {
	t.Helper()
	return New(startHere([]string{"/bin/bash", "-c", script, "guest"}, t.TempDir()))
}

func Test_Files_Treat_Answers_As_Hostile(t *testing.T) {
	entry := func(name64 string) string {
		return fmt.Sprintf(`{"name":%q,"size":1,"mode":420,"time":"2020-01-02T03:04:05Z"}`+"\n", name64)
	}
	for _, row := range []struct{ name, script string }{
		{"a name with a slash", "cat <<'E'\n" + entry("Li4vZXZpbA==") + "E"},
		{"the name ..", "cat <<'E'\n" + entry("Li4=") + "E"},
		{"the name .", "cat <<'E'\n" + entry("Lg==") + "E"},
		{"an empty name", "cat <<'E'\n" + entry("") + "E"},
		{"a name with a NUL", "cat <<'E'\n" + entry("YQBi") + "E"},
		{"the same name twice", "cat <<'E'\n" + entry("YQ==") + entry("YQ==") + "E"},
		{"a negative size", "cat <<'E'\n" + strings.Replace(entry("YQ=="), `"size":1`, `"size":-1`, 1) + "E"},
		{"no JSON", "echo hello"},
		{"half an entry", `printf '{"name":"YQ=='`},
		{"a huge name", `printf '{"name":"'; head -c 200000 /dev/zero | tr '\0' A; printf '"}'`},
		{"success is not claimed", "cat <<'E'\n" + entry("YQ==") + "E\nexit 1"},
		{"an unknown code", `echo '{"code":"canceled","error":"x"}' >&2; exit 3`},
		{"an error that is none", `echo nonsense >&2; exit 3`},
		{"two errors", `printf '{"code":"denied","error":"x"}\n{"code":"denied","error":"x"}\n' >&2; exit 3`},
		{"an error without end", `printf '{"code":"denied","error":"' >&2; head -c 3000000 /dev/zero | tr '\0' x >&2; exit 3`},
		{"killed by a signal", `kill -9 $$`},
	} {
		t.Run(row.name, func(t *testing.T) {
			infos, err := hostile(t, row.script).List(t.Context(), "x")
			if sandbox.CodeOf(err) != sandbox.Internal || infos != nil {
				t.Errorf("%v, %v", infos, err)
			}
			if len(err.Error()) > 2000 || strings.ContainsAny(err.Error(), "\x00\x1b\n") {
				t.Errorf("the error repeats too much: %.300q", err.Error())
			}
		})
	}
}

func Test_Files_Endless_Listings_End(t *testing.T) {
	if _, err := hostile(t, "yes '{}'").List(t.Context(), "x"); err == nil {
		t.Error("an endless listing was taken")
	}
	_, err := hostile(t, "cat /dev/zero").List(t.Context(), "x")
	if sandbox.CodeOf(err) != sandbox.Exhausted {
		t.Errorf("%v", err)
	}
}

func Test_Files_Error_Texts_Are_Made_Printable(t *testing.T) {
	err := hostile(t, `printf '{"code":"denied","error":"a\\u001b[2J\\nb'; head -c 9000 /dev/zero | tr '\0' x; printf '"}\n'`).Remove(t.Context(), "x")
	if sandbox.CodeOf(err) == sandbox.Denied {
		t.Fatal("the line came on stdout and was taken for an error")
	}
	err = hostile(t, `{ printf '{"code":"denied","error":"a\\u001b[2J\\nb'; head -c 9000 /dev/zero | tr '\0' x; printf '"}\n'; } >&2; exit 3`).Remove(t.Context(), "x")
	if sandbox.CodeOf(err) != sandbox.Denied || !strings.HasPrefix(err.Error(), "a?[2J?bx") || len(err.Error()) > maxErrorText {
		t.Errorf("%.100q", err.Error())
	}
}

func Test_Files_Open_Reports_A_Failure_In_The_Middle(t *testing.T) {
	r, err := hostile(t, `printf some; echo '{"code":"internal","error":"input/output error"}' >&2; exit 3`).Open(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if string(data) != "some" || err == nil || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("%q, %v", data, err)
	}
	if closeErr := r.Close(); !errors.Is(closeErr, err) {
		t.Errorf("Close says %v", closeErr)
	}
}

func Test_Files_Server_Leaves_Nothing_Of_An_Incomplete_File(t *testing.T) {
	for name, input := range map[string]string{
		"no input at all":       "",
		"half a length":         "\x00\x00",
		"half a chunk":          "\x00\x00\x00\x09half",
		"no end":                "\x00\x00\x00\x04some",
		"a chunk that is large": "\xff\xff\xff\xff",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			guesttest.WriteFile(t, dir, "file", "old")
			var errs strings.Builder
			code := Serve([]string{opCreate, dir + "/file", "644"}, strings.NewReader(input), io.Discard, &errs)
			if code != exitFiles || !strings.HasPrefix(errs.String(), `{"code":"invalid"`) || strings.Count(errs.String(), "\n") != 1 {
				t.Errorf("status %d, %q", code, errs.String())
			}
			if got := guesttest.Entries(t, dir); got != "file" {
				t.Errorf("left are %q", got)
			}
		})
	}
}

func Test_Files_Server_Checks_Its_Arguments(t *testing.T) {
	for _, args := range [][]string{nil, {"open"}, {"open", ""}, {"open", "a", "b"}, {"no", "a"}, {"create", "a"}, {"create", "a", "rw"}, {"create", "a", "7777"}, {"rename", "a"}} {
		var errs strings.Builder
		if code := Serve(args, strings.NewReader(""), io.Discard, &errs); code != exitFiles || !strings.HasPrefix(errs.String(), `{"code":"invalid"`) {
			t.Errorf("%q: status %d, %q", args, code, errs.String())
		}
	}
}
