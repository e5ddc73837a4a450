package engine

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func TestWhatABuildSays(t *testing.T) {
	for _, c := range []struct {
		name, stream string
		id           string
		code         sandbox.Code
		text         []string // in the error
		lines        int      // that were told
	}{
		{"a build that succeeds", `{"stream":"Step 1/1 : FROM x\n"}{"aux":{"ID":"sha256:1"}}`, "sha256:1", "", nil, 1},
		{
			"a step that fails",
			`{"stream":"Step 1/2 : FROM x\n"}{"stream":"of one\n"}{"stream":"Step 2/2 : RUN make\n"}` +
				`{"stream":"\u001b[91mno "}{"stream":"rule\n\u001b[0m"}{"stream":"Removing intermediate container 1\n"}{"error":"code: 2"}`,
			"", sandbox.Invalid,
			[]string{"step 2/2 : RUN make failed: code: 2", "it said: no rule"},
			5,
		},
		{"a base that is not there", `{"stream":"Step 1/1 : FROM y\n"}{"error":"pull access denied for y"}`, "", sandbox.NotFound, []string{"FROM y"}, 1},
		{"a full disk", `{"stream":"Step 1/1 : RUN dd\n"}{"error":"write /x: no space left on device"}`, "", sandbox.Exhausted, []string{"RUN dd"}, 1},
		{"a Dockerfile that is none", `{"error":"unknown instruction: FRO"}`, "", sandbox.Invalid, []string{"cannot be built: unknown instruction"}, 0},
		{"an engine that goes away", `{"stream":"Step 1/1 : RUN x\n"}{"str`, "", sandbox.Unavailable, []string{"lost the engine"}, 1},
		{"a line without end", `{"stream":"` + strings.Repeat("x", 3*maxLine) + `"}{"aux":{"ID":"sha256:1"}}`, "sha256:1", "", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			told := 0
			l := buildLog{progress: func(line string) {
				told++
				if len(line) > maxLine {
					t.Errorf("a line of %d bytes", len(line))
				}
			}}
			err := l.read(strings.NewReader(c.stream))
			if l.id != c.id || sandbox.CodeOf(err) != c.code || told != c.lines {
				t.Errorf("id %q, error %v (%s), %d lines", l.id, err, sandbox.CodeOf(err), told)
			}
			for _, text := range c.text {
				if !strings.Contains(err.Error(), text) || strings.ContainsAny(err.Error(), "\n\x1b") {
					t.Errorf("%q does not say %q on one line", err, text)
				}
			}
		})
	}
}

func TestABuildContextFollowsNoLink(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	err := errors.Join(
		os.WriteFile(outside, []byte("secret"), 0o600),
		os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte("FROM x"), 0o755),
		os.Mkdir(filepath.Join(dir, "sub"), 0o755),
		os.Symlink(outside, filepath.Join(dir, "sub/link")),
	)
	root, rerr := os.OpenRoot(dir)
	if err = errors.Join(err, rerr); err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var b bytes.Buffer
	if err := packContext(&b, root.FS(), map[string][]byte{"extra": []byte("more")}); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for r := tar.NewReader(&b); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[h.Name] = string(h.Typeflag) + h.Linkname + string(data)
	}
	want := map[string]string{"Dockerfile": "0FROM x", "sub/": "5", "sub/link": "2" + outside, "extra": "0more"}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s is %q, want %q", name, got[name], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files: %v", len(got), got)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := packContext(io.Discard, root.FS(), nil); err == nil || !strings.Contains(err.Error(), "pipe is no file") {
		t.Errorf("a pipe: %v", err)
	}
}
