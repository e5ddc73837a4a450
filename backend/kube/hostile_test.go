package kube_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/internal/transfer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Commands made a tree with links out of the destination.
func Test_Files_From_A_Pod_Stay_Below_Their_Destination(t *testing.T) {
	t.Parallel()
	_, d := newPersistentBed(t)
	box := create(t, d, persistentSpec("hostile", workspace(t)))
	prints(t, box, `mkdir -p tree/d && cd tree && ln -s ../../outside up && ln -s /etc etc && ln -s . self && ln -s up/planted through &&
		mkfifo fifo && echo x >d/f && { chmod 6777 d/f 2>/dev/null || :; } && printf '' >"$(printf 'a\nb')" && ln d/f hard`, "")
	dir := t.TempDir()
	outside, dest := filepath.Join(dir, "outside"), filepath.Join(dir, "in", "dest")
	if err := errors.Join(os.Mkdir(outside, 0o755), os.MkdirAll(dest, 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := transfer.Out(t.Context(), box, "tree", dest, transfer.OutOptions{}); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside of its place: %v, %v", left, err)
	}
	info, err := os.Stat(filepath.Join(dest, "tree", "d", "f"))
	if err != nil || info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
		t.Errorf("a file that has rights of its own: %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dest, "tree", "a\nb")); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(dest, "tree", "fifo")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a FIFO: %v", err)
	}
	many, err := transfer.Out(t.Context(), box, "tree", filepath.Join(dir, "few"), transfer.OutOptions{Limits: transfer.Limits{Entries: 3}})
	if !errors.Is(err, transfer.ErrTooBig) {
		t.Errorf("more than is taken: %q, %v", many, err)
	}
}

func Test_A_Persistent_Sandbox_Has_The_Guest_From_Its_Image(t *testing.T) {
	t.Parallel()
	b, _ := newPersistentBed(t)
	b.options.GuestImage = guestImage(t)
	d := &kube.PersistentDriver{Inner: kube.New(b.options), Env: os.Environ()}
	box := create(t, d, persistentSpec("mounted", workspace(t)))
	prints(t, box, "echo more >>f; cat f", "host\nmore\n")
	if err := errors.Join(d.Stop(t.Context(), "mounted"), d.Start(t.Context(), "mounted", nil), box.Detach()); err != nil {
		t.Fatal(err)
	}
	other := &kube.PersistentDriver{Inner: kube.New(b.options), Env: os.Environ()}
	prints(t, opened(t, other, "mounted"), "cat f", "host\nmore\n")
	infos, err := other.List(t.Context())
	if err != nil || !slices.ContainsFunc(infos, func(i sandbox.Info) bool { return i.ID == "mounted" }) {
		t.Errorf("%+v, %v", infos, err)
	}
}
