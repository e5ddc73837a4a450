package vfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func pack(t *testing.T, s *vfs.Snapshot) ([]byte, vfs.Hash) {
	t.Helper()
	var b bytes.Buffer
	h, err := s.WritePack(&b)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), h
}

func Test_A_Tree_Comes_Back_From_A_Pack(t *testing.T) {
	f := zoo(t)
	for i := range 300 {
		put(t, f, fmt.Sprint("/d/e/many", i), "the same content in many files, long enough for a chunk of its own: "+strings.Repeat("-", 100))
	}
	data, h := pack(t, f.Snapshot())
	if len(data) > 250<<10 {
		t.Errorf("the pack has %d bytes: what is there many times is there more than once", len(data))
	}
	s, again, err := vfs.ReadPack(bytes.NewReader(data), vfs.Limits{FileBytes: -1})
	if err != nil || again != h {
		t.Fatal(err, h, again)
	}
	if d := differences(f.Snapshot(), s); len(d) > 0 {
		t.Error(strings.Join(d, "\n"))
	}
	g := s.FS(unlimited)
	want(t, g.Check(), 0)
	if a, b := f.Usage(), g.Usage(); a != b {
		t.Error(a, b)
	}
	put(t, g, "/d/e/many7", "changed")
	want(t, g.Unlink(root, "/d/e/hard"), 0)
	want(t, g.Check(), 0)
	if d := differences(f.Snapshot(), s); len(d) > 0 {
		t.Error("writing to the tree changed what was loaded:", d)
	}
}

func Test_A_Length_Of_More_Than_64_Bits_Is_Corrupt(t *testing.T) {
	for _, length := range []string{strings.Repeat("\xff", 9) + "\x02", strings.Repeat("\x80", 11), strings.Repeat("\xff", 40)} {
		if _, _, err := vfs.ReadPack(strings.NewReader("vfspack 1\n"+length), vfs.Limits{}); !errors.Is(err, vfs.ErrCorrupt) {
			t.Errorf("%q: %v", length, err)
		}
	}
}

func Test_A_Pack_Is_Refused_If_One_Bit_Is_Wrong(t *testing.T) {
	f := vfs.New(vfs.Options{})
	want(t, f.Mkdir(root, "/d", 0o755), 0)
	put(t, f, "/d/a", strings.Repeat("a", 200))
	put(t, f, "/b", "b")
	want(t, f.Symlink(root, "d/a", "/l"), 0)
	data, _ := pack(t, f.Snapshot())
	for i := range data {
		for bit := range 8 {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << bit
			if _, _, err := vfs.ReadPack(bytes.NewReader(bad), vfs.Limits{}); !errors.Is(err, vfs.ErrCorrupt) {
				t.Fatalf("bit %d of byte %d: %v", bit, i, err)
			}
		}
	}
	for n := range data {
		if _, _, err := vfs.ReadPack(bytes.NewReader(data[:n]), vfs.Limits{}); !errors.Is(err, vfs.ErrCorrupt) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
	if _, _, err := vfs.ReadPack(bytes.NewReader(append(data, 0)), vfs.Limits{}); !errors.Is(err, vfs.ErrCorrupt) {
		t.Fatal(err)
	}
}

func Test_A_Pack_Beyond_The_Limits_Is_Refused(t *testing.T) {
	f := vfs.New(unlimited)
	put(t, f, "/a", strings.Repeat("a", 1000))
	want(t, f.Truncate(root, "/a", 1<<40), 0)
	put(t, f, "/b", "")
	data, _ := pack(t, f.Snapshot())
	for name, l := range map[string]vfs.Limits{"bytes": {Bytes: 1000, FileBytes: -1}, "file": {}, "nodes": {Nodes: 2, FileBytes: -1}} {
		if _, _, err := vfs.ReadPack(bytes.NewReader(data), l); err == nil {
			t.Error(name, "is not refused")
		}
	}
	if _, _, err := vfs.ReadPack(bytes.NewReader(data), vfs.Limits{FileBytes: -1}); err != nil {
		t.Error(err)
	}
}

func Test_Saving_Again_Writes_Only_Changes(t *testing.T) {
	f := vfs.New(unlimited)
	for i := range 5000 {
		if i%100 == 0 {
			want(t, f.Mkdir(root, fmt.Sprint("/d", i/100), 0o755), 0)
		}
		put(t, f, fmt.Sprintf("/d%d/%d", i/100, i), fmt.Sprint(i, strings.Repeat("x", 200)))
	}
	store := map[vfs.Hash][]byte{}
	asked, written := 0, 0
	save := func() vfs.Hash {
		t.Helper()
		asked, written = 0, 0
		h, err := f.Snapshot().Save(func(h vfs.Hash) bool {
			asked++
			return store[h] != nil
		}, func(h vfs.Hash, p []byte) error {
			written++
			store[h] = bytes.Clone(p)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := save()
	if again := save(); again != first || written > 0 || asked > 10 {
		t.Errorf("saving the same: %d written, %d asked for", written, asked)
	}
	put(t, f, "/d7/750", strings.Repeat("new", 200))
	if second := save(); second == first || written > 10 || asked > 300 {
		t.Errorf("saving one change: %d written, %d asked for", written, asked)
	}
	s, err := vfs.Load(first, func(h vfs.Hash) ([]byte, error) { return store[h], nil }, vfs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if d := vfs.Diff(s, f.Snapshot()); len(d) != 1 || d[0].Path != "/d7/750" {
		t.Error(d)
	}
}
