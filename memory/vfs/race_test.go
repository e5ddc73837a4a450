package vfs_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func random(seed int) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), 3)) //nolint:gosec // The same operations each time.
}

func Test_Random_Operations_Keep_The_Tree_Sound(t *testing.T) {
	for seed := range 150 {
		r := random(seed)
		data := make([]byte, 2500)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { fuzzOps(t, data) })
	}
}

func Test_Many_May_Work_In_One_Tree_At_Once(t *testing.T) {
	f := vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: 3 << 20, FileBytes: 1 << 20, Nodes: 200}})
	var workers sync.WaitGroup
	start := f.Snapshot()
	for w := range 8 {
		workers.Go(func() {
			r := random(w)
			m := newMemory(t)
			m.fs = f
			for i := range 3000 {
				o := choices(r.IntN).op()
				o.who = vfs.Cred{}
				_, _ = m.do(o)
				switch {
				case i%50 == w:
					f.Snapshot()
				case i%300 == 100+w:
					g := f.Fork()
					_ = g.RemoveAll(root, "/a")
					vfs.Diff(start, g.Snapshot())
				case i == 1500 && w == 0:
					f.Restore(start)
				case i%500 == 400 && w == 1:
					_ = f.Snapshot().WriteTar(io.Discard, "/")
					_, _ = f.Snapshot().WritePack(io.Discard)
				}
			}
			for _, file := range m.files {
				if file != nil {
					_ = file.Close()
				}
			}
		})
	}
	workers.Wait()
	want(t, f.Check(), 0)
	if u := f.Usage(); u.Bytes > u.Limits.Bytes || u.Nodes > u.Limits.Nodes {
		t.Fatal(u)
	}
}

func Test_One_File_May_Be_Written_By_Many(t *testing.T) {
	f := vfs.New(unlimited)
	put(t, f, "/f", "")
	var writers sync.WaitGroup
	const lines = 500
	for w := range 6 {
		writers.Go(func() {
			file, err := f.OpenFile(t.Context(), root, "/f", os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Error(err)
				return
			}
			line := append(bytes.Repeat([]byte{byte('a' + w)}, 99), '\n')
			for i := range lines {
				if _, err := file.Write(line); err != nil {
					t.Error(err)
				}
				if i%100 == 0 {
					f.Snapshot()
				}
			}
			_ = file.Close()
		})
	}
	writers.Wait()
	all := bytes.Split(bytes.TrimSuffix([]byte(text(t, f, "/f")), []byte("\n")), []byte("\n"))
	if len(all) != 6*lines {
		t.Fatal(len(all), "lines")
	}
	for _, line := range all {
		if len(line) != 99 || len(bytes.Trim(line, string(line[:1]))) != 0 {
			t.Fatalf("a mixed line: %q", line)
		}
	}
}

func Test_Bytes_Lent_Out_Never_Change(t *testing.T) {
	f := vfs.New(unlimited)
	put(t, f, "/f", "0123456789")
	file, err := f.OpenFile(t.Context(), root, "/f", os.O_RDWR, 0)
	want(t, err, 0)
	part, err := file.Next(5)
	want(t, err, 0)
	for _, w := range []struct {
		text string
		off  int64
	}{{"XX", 3}, {"YY", 9}, {"0", 0}} {
		writeAt(t, f, "/f", w.text, w.off)
	}
	want(t, f.Truncate(root, "/f", 2), 0)
	want(t, f.Truncate(root, "/f", 20), 0)
	if string(part) != "01234" || cap(part) != 5 {
		t.Fatalf("%q %d", part, cap(part))
	}
	if got := text(t, f, "/f"); got != "01"+string(make([]byte, 18)) {
		t.Fatalf("%q", got)
	}
}

func Test_A_Pipe_Keeps_Short_Writes_In_One_Piece(t *testing.T) {
	r, w := vfs.Pipe()
	var writers sync.WaitGroup
	const each, size = 200, 4096
	for k := range 6 {
		end := w.Dup()
		writers.Go(func() {
			p := bytes.Repeat([]byte{byte('a' + k)}, size)
			for range each {
				if _, err := end.Write(p); err != nil {
					t.Error(err)
				}
			}
			_ = end.Close()
		})
	}
	_ = w.Close()
	var sum atomic.Int64
	var readers sync.WaitGroup
	readers.Go(func() {
		p := make([]byte, size)
		for {
			if _, err := io.ReadFull(r, p); err != nil {
				return
			}
			if len(bytes.Trim(p, string(p[:1]))) != 0 {
				t.Errorf("a mixed piece: %.20q", p)
			}
			sum.Add(size)
		}
	})
	writers.Wait()
	readers.Wait()
	if sum.Load() != 6*each*size {
		t.Fatal(sum.Load())
	}
}

func Test_Many_Readers_And_Writers_Share_A_Pipe(t *testing.T) {
	r, w := vfs.Pipe()
	var writers, readers sync.WaitGroup
	var wrote, read atomic.Int64
	for k := range 5 {
		end := w.Dup()
		writers.Go(func() {
			rnd := random(k)
			for range 300 {
				n, err := end.Write(make([]byte, 1+rnd.IntN(20000)))
				if err != nil {
					t.Error(err)
				}
				wrote.Add(int64(n))
			}
			_ = end.Close()
		})
		from := r.Dup()
		readers.Go(func() {
			n, err := io.Copy(io.Discard, from)
			if err != nil {
				t.Error(err)
			}
			read.Add(n)
		})
	}
	_ = w.Close()
	writers.Wait()
	readers.Wait()
	if wrote.Load() != read.Load() {
		t.Fatal(wrote.Load(), read.Load())
	}
}
