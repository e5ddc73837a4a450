package job

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
)

func Test_A_Build_Context_Follows_No_Link(t *testing.T) {
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
	if err := packContext(io.Discard, root.FS(), nil); err == nil || !strings.Contains(err.Error(), "pipe is not a file") {
		t.Errorf("a pipe: %v", err)
	}
}
