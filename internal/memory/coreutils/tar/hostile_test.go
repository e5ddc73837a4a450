package tar_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/programtest"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

type hostileMember struct {
	name, link, text string
	kind             byte
}

var hostileMembers = map[string][]hostileMember{
	"up":                     {{name: "../outside", text: "evil"}},
	"up in the middle":       {{name: "x/../../outside", text: "evil"}},
	"absolute":               {{name: "/w/outside", text: "evil"}, {name: "/etc/passwd", text: "evil"}},
	"through a link up":      {{name: "l", link: "..", kind: tar.TypeSymlink}, {name: "l/outside", text: "evil"}},
	"through a link to root": {{name: "l", link: "/", kind: tar.TypeSymlink}, {name: "l/etc/passwd", text: "evil"}},
	"through two links":      {{name: "d", kind: tar.TypeDir}, {name: "d/l", link: "..", kind: tar.TypeSymlink}, {name: "m", link: "d/l/..", kind: tar.TypeSymlink}, {name: "m/outside", text: "evil"}},
	"a link, then a file":    {{name: "l", link: "../outside", kind: tar.TypeSymlink}, {name: "l", text: "evil"}},
	"a hard link out":        {{name: "h", link: "../outside", kind: tar.TypeLink}, {name: "h", text: "evil"}},
	"a hard link by a link":  {{name: "l", link: "/etc", kind: tar.TypeSymlink}, {name: "h", link: "l/passwd", kind: tar.TypeLink}, {name: "h", text: "evil"}},
	"a hard link to a link":  {{name: "l", link: "../outside", kind: tar.TypeSymlink}, {name: "h", link: "l", kind: tar.TypeLink}, {name: "h", text: "evil"}},
	"a directory for a link": {{name: "l", link: "..", kind: tar.TypeSymlink}, {name: "l/", kind: tar.TypeDir}, {name: "l/outside", text: "evil"}},
	"nothing but dots":       {{name: "..", kind: tar.TypeDir}, {name: "../..", kind: tar.TypeDir}, {name: ".", kind: tar.TypeDir}},
}

func Test_No_Tar_Writes_Outside(t *testing.T) {
	t.Parallel()
	for name, members := range hostileMembers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			w := tar.NewWriter(&b)
			for _, m := range members {
				kind := m.kind
				if kind == 0 {
					kind = tar.TypeReg
				}
				if err := w.WriteHeader(&tar.Header{Name: m.name, Linkname: m.link, Typeflag: kind, Size: int64(len(m.text)), Mode: 0o777}); err != nil {
					t.Fatal(err)
				}
				if _, err := w.Write([]byte(m.text)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{"tar xf /a", "tar xvf /a --overwrite", "tar xf /a --keep-newer-files", "tar xUf /a", "tar xf /a --strip-components=1", "tar xf /a --recursive-unlink", "tar tvf /a"} {
				f := programtest.HostileTree(t, b.Bytes(), vfs.Limits{})
				programtest.RunHostile(t, f, line)
				programtest.CheckOutside(t, f)
			}
		})
	}
}

func Test_No_Zip_Writes_Outside(t *testing.T) {
	t.Parallel()
	for name, members := range hostileMembers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			w := zip.NewWriter(&b)
			for _, m := range members {
				h := &zip.FileHeader{Name: m.name, Method: zip.Store}
				h.SetMode(0o777)
				switch m.kind {
				case tar.TypeSymlink, tar.TypeLink:
					h.SetMode(fs.ModeSymlink | 0o777)
					m.text = m.link
				case tar.TypeDir:
					h.Name = strings.TrimSuffix(h.Name, "/") + "/"
				}
				to, err := w.CreateHeader(h)
				if err == nil {
					_, err = to.Write([]byte(m.text))
				}
				if err != nil && m.kind != tar.TypeDir {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for _, line := range []string{"unzip -o /a", "unzip -oj /a", "unzip -l /a", "unzip -t /a", "zipinfo /a"} {
				f := programtest.HostileTree(t, b.Bytes(), vfs.Limits{})
				programtest.RunHostile(t, f, line)
				programtest.CheckOutside(t, f)
			}
		})
	}
}

// Test_Bombs_Meet_The_Limits extracts archives that are small when packed and large when unpacked.
func Test_Bombs_Meet_The_Limits(t *testing.T) {
	t.Parallel()
	maker := programtest.HostileTree(t, nil, vfs.Limits{Bytes: -1, FileBytes: -1})
	programtest.WriteVirtual(t, maker, "/w/in/zeros", make([]byte, 32<<20))
	for _, c := range []struct{ pack, unpack string }{
		{"gzip -c zeros", "gunzip -S .x a.x"},
		{"gzip -c zeros", "tar xzOf a.x"},
		{"bzip2 -c zeros", "bzip2 -dk a.x"},
		{"xz -0 -c zeros", "unxz -S .x a.x"},
		{"zstd -c zeros", "zstd -d a.x -o out"},
		{"tar -cf - --transform s/zeros/big/ -z zeros", "tar xf a.x"},
		{"tar --zstd -cf - zeros", "tar xf a.x"},
		{"zip -q - zeros", "unzip -q a.x"},
	} {
		t.Run(c.unpack, func(t *testing.T) {
			t.Parallel()
			packed := programtest.RunHostile(t, maker.Fork(), c.pack)
			if packed.Status != 0 || len(packed.Stdout) > 1<<20 {
				t.Fatalf("status %d, %d bytes: %s", packed.Status, len(packed.Stdout), packed.Stderr)
			}
			f := programtest.HostileTree(t, nil, vfs.Limits{Bytes: 8 << 20, FileBytes: 4 << 20})
			programtest.WriteVirtual(t, f, "/w/in/a.x", []byte(packed.Stdout))
			o := programtest.RunHostile(t, f, c.unpack)
			if o.Status == 0 && !strings.Contains(c.unpack, "O") {
				t.Errorf("status 0: %s", o.Stderr)
			}
			if used := f.Usage().Bytes; used > 8<<20 {
				t.Errorf("%d bytes are in the tree", used)
			}
			programtest.CheckOutside(t, f)
		})
	}
}

func Test_Members_That_Claim_Much_Cost_Nothing(t *testing.T) {
	t.Parallel()
	huge := make([]byte, 512)
	copy(huge, "huge")
	copy(huge[100:], "0000644\x000000000\x000000000\x0077777777777\x0000000000000\x00")
	huge[156] = '0'
	sum := 8 * 32
	for _, c := range huge {
		sum += int(c)
	}
	for i := range 8 {
		sum -= int(huge[148+i])
	}
	copy(huge[148:], fmt.Sprintf("%06o\x00 ", sum))
	for _, line := range []string{"tar tf /a", "tar xf /a", "tar xOf /a", "tar rf /a /w/outside", "tar --delete -f /a huge"} {
		f := programtest.HostileTree(t, huge, vfs.Limits{})
		if o := programtest.RunHostile(t, f, line); o.Status != 2 {
			t.Errorf("%s: status %d: %s%s", line, o.Status, o.Stdout, o.Stderr)
		}
	}
}

func Fuzz_Archives_Are_Read_Without_Harm(f *testing.F) {
	f.Add([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("PK\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte("BZh9\x17rE8P\x90\x00\x00\x00\x00"))
	f.Add([]byte("\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F\x00\x00\x00\x00\x1c\xdfD!\x1f\xb6\xf3}\x01\x00\x00\x00\x00\x04YZ"))
	f.Add([]byte("\x28\xb5\x2f\xfd\x24\x00\x01\x00\x00\x99\xe9\xd8\x51"))
	f.Add([]byte("\x1f\x9d\x90\x68\xca\xb0\x61\xf3\x46"))
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range hostileMembers["through two links"] {
		_ = w.WriteHeader(&tar.Header{Name: m.name, Linkname: m.link, Typeflag: max(m.kind, tar.TypeReg), Format: tar.FormatPAX, AccessTime: time.Unix(1, 5)})
	}
	f.Add(b.Bytes())
	var z bytes.Buffer
	zw := zip.NewWriter(&z)
	if to, err := zw.Create("a/b"); err == nil {
		_, _ = to.Write([]byte("text text text"))
	}
	_ = zw.Close()
	f.Add(z.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		tree := programtest.HostileTree(t, data, vfs.Limits{})
		for _, line := range []string{"tar xf /a", "tar xif /a --overwrite", "tar tvf /a", "unzip -o /a", "zipinfo /a", "zcat -f /a", "xzcat /a", "bzcat /a", "zstdcat /a"} {
			f := tree.Fork()
			programtest.RunHostile(t, f, line)
			programtest.CheckOutside(t, f)
		}
	})
}
