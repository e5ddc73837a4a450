package vfs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

var root = vfs.Cred{}

func put(t *testing.T, f *vfs.FS, path, text string) {
	t.Helper()
	if err := f.WriteFile(t.Context(), root, path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, f *vfs.FS, path string) string {
	t.Helper()
	data, err := f.ReadFile(t.Context(), root, path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func want(t *testing.T, err error, e syscall.Errno) {
	t.Helper()
	if e == 0 && err != nil || e != 0 && !errors.Is(err, e) {
		t.Fatalf("got %v, want %v", err, e)
	}
}

func Test_Forks_And_Snapshots_Go_Their_Own_Way(t *testing.T) {
	f := vfs.New(vfs.Options{})
	put(t, f, "/a", "one")
	want(t, f.Mkdir(root, "/d", 0o755), 0)
	put(t, f, "/d/x", "x")
	s := f.Snapshot()
	g := f.Fork()
	put(t, f, "/a", "two")
	put(t, g, "/a", "three")
	want(t, f.Unlink(root, "/d/x"), 0)
	if a, b, x := text(t, f, "/a"), text(t, g, "/a"), text(t, g, "/d/x"); a != "two" || b != "three" || x != "x" {
		t.Fatal(a, b, x)
	}
	var got []string
	for _, c := range vfs.Diff(s, f.Snapshot()) {
		got = append(got, fmt.Sprint(c.Kind, " ", c.Path))
	}
	if fmt.Sprint(got) != "[modified /a deleted /d/x]" {
		t.Fatal(got)
	}
	f.Restore(s)
	if a, x := text(t, f, "/a"), text(t, f, "/d/x"); a != "one" || x != "x" {
		t.Fatal(a, x)
	}
	if d := vfs.Diff(s, f.Snapshot()); len(d) != 0 {
		t.Fatal(d)
	}
	if u := f.Usage(); u.Bytes != 4 || u.Nodes != 4 {
		t.Fatal(u)
	}
}

func Test_A_Pipe_Carries_And_Ends(t *testing.T) {
	r, w := vfs.Pipe()
	go func() {
		for range 100 {
			_, _ = w.Write(make([]byte, 10000))
		}
		_ = w.Close()
	}()
	n, err := io.Copy(io.Discard, r)
	if n != 1000000 || err != nil {
		t.Fatal(n, err)
	}
	r2, w2 := vfs.Pipe()
	_ = r2.Close()
	_, err = w2.Write([]byte("x"))
	want(t, err, syscall.EPIPE)
	r3, _ := vfs.Pipe()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := r3.WithContext(ctx).Read(make([]byte, 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func Test_A_Fifo_Waits_For_The_Other_Side(t *testing.T) {
	f := vfs.New(vfs.Options{})
	want(t, f.Mkfifo(root, "/p", 0o644), 0)
	go func() { _ = f.WriteFile(t.Context(), root, "/p", []byte("hello"), 0o644) }()
	if s := text(t, f, "/p"); s != "hello" {
		t.Fatal(s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := f.OpenFile(ctx, root, "/p", os.O_WRONLY, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func Test_Limits_Hold(t *testing.T) {
	f := vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: 1000, FileBytes: 600, Nodes: 4}})
	want(t, f.WriteFile(t.Context(), root, "/a", make([]byte, 601), 0o644), syscall.EFBIG)
	want(t, f.WriteFile(t.Context(), root, "/b", make([]byte, 600), 0o644), syscall.ENOSPC)
	if u := f.Usage(); u.Bytes != 1000 {
		t.Fatal(u)
	}
	want(t, f.Mkdir(root, "/c", 0o755), 0)
	want(t, f.Mkdir(root, "/d", 0o755), syscall.ENOSPC)
	want(t, f.Unlink(root, "/a"), 0)
	want(t, f.Mkdir(root, "/d", 0o755), 0)
}

func Test_An_Unlinked_Open_File_Lives_On(t *testing.T) {
	f := vfs.New(vfs.Options{})
	put(t, f, "/a", "text")
	file, err := f.OpenFile(t.Context(), root, "/a", os.O_RDWR, 0)
	want(t, err, 0)
	want(t, f.Unlink(root, "/a"), 0)
	if _, err := file.WriteAt([]byte("T"), 0); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(file)
	if string(got) != "Text" || err != nil {
		t.Fatal(string(got), err)
	}
	if u := f.Usage(); u.Bytes != 4 || u.Nodes != 2 {
		t.Fatal(u)
	}
	want(t, file.Close(), 0)
	if u := f.Usage(); u.Bytes != 0 || u.Nodes != 1 {
		t.Fatal(u)
	}
}
