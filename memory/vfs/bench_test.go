package vfs_test

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

var unlimited = vfs.Options{Limits: vfs.Limits{Bytes: -1, FileBytes: -1, Nodes: -1}}

// forest has 100,000 files: 90,000 in directories of 20, and 10,000 in /big.
func forest(b *testing.B) *vfs.FS {
	b.Helper()
	f := vfs.New(unlimited)
	put := func(path string) {
		if err := f.WriteFile(b.Context(), root, path, []byte("some text\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for i := range 90 {
		for j := range 50 {
			dir := fmt.Sprintf("/d%02d/e%02d", i, j)
			if err := f.MkdirAll(root, dir, 0o755); err != nil {
				b.Fatal(err)
			}
			for k := range 20 {
				put(fmt.Sprintf("%s/f%02d", dir, k))
			}
		}
	}
	if err := f.Mkdir(root, "/big", 0o755); err != nil {
		b.Fatal(err)
	}
	for i := range 10000 {
		put(fmt.Sprintf("/big/f%05d", i))
	}
	return f
}

func Benchmark_Snapshot_Of_100000_Files(b *testing.B) {
	f := forest(b)
	b.ReportAllocs()
	for b.Loop() {
		f.Snapshot()
	}
}

func Benchmark_Fork_Of_100000_Files(b *testing.B) {
	f := forest(b)
	b.ReportAllocs()
	for b.Loop() {
		f.Fork()
	}
}

// writes are the operations that are timed after a snapshot, and without one.
var writes = []struct {
	name string
	do   func(f *vfs.FS, i int) error
}{
	{"create in a directory of 10000", func(f *vfs.FS, i int) error {
		file, err := f.OpenFile(nil, root, fmt.Sprint("/big/f05000.", i), os.O_WRONLY|os.O_CREATE, 0o644) //nolint:staticcheck // No pipe.
		if err != nil {
			return err
		}
		return file.Close()
	}},
	{"mkdir and rmdir deep below", func(f *vfs.FS, i int) error {
		path := fmt.Sprint("/d50/e25/new", i)
		if err := f.Mkdir(root, path, 0o755); err != nil {
			return err
		}
		return f.Rmdir(root, path)
	}},
	{"chmod", func(f *vfs.FS, i int) error {
		return f.Chmod(root, "/big/f07777", 0o600)
	}},
	{"rename", func(f *vfs.FS, i int) error {
		if i%2 == 0 {
			return f.Rename(root, "/big/f01234", "/d77/e33/moved")
		}
		return f.Rename(root, "/d77/e33/moved", "/big/f01234")
	}},
}

func Benchmark_First_Write_After_A_Snapshot_Of_100000_Files(b *testing.B) {
	for _, w := range writes {
		b.Run(w.name, func(b *testing.B) {
			f := forest(b)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f.Snapshot()
				if err := w.do(f, i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func Benchmark_Write_To_100000_Files(b *testing.B) {
	for _, w := range writes {
		b.Run(w.name, func(b *testing.B) {
			f := forest(b)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := w.do(f, i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func Benchmark_Stat_Of_100000_Files(b *testing.B) {
	f := forest(b)
	for _, path := range []string{"/big/f05000", "/d50/e25/f10"} {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.Stat(root, path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func Benchmark_Open_And_Close(b *testing.B) {
	f := forest(b)
	b.ReportAllocs()
	for b.Loop() {
		file, err := f.Open(b.Context(), root, "/d50/e25/f10")
		if err != nil {
			b.Fatal(err)
		}
		_ = file.Close()
	}
}

func Benchmark_ReadDir_Of_10000(b *testing.B) {
	f := forest(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.ReadDir(root, "/big"); err != nil {
			b.Fatal(err)
		}
	}
}

func Benchmark_Diff_Of_One_Change_In_100000_Files(b *testing.B) {
	f := forest(b)
	s := f.Snapshot()
	if err := f.Chmod(root, "/d50/e25/f10", 0o600); err != nil {
		b.Fatal(err)
	}
	now := f.Snapshot()
	b.ReportAllocs()
	for b.Loop() {
		if len(vfs.Diff(s, now)) != 1 {
			b.Fatal("not one change")
		}
	}
}

func Benchmark_File_Write(b *testing.B) {
	for _, size := range []int{1, 100, 4096, 32768, 1 << 20} {
		b.Run(fmt.Sprint(size, " bytes at the end"), func(b *testing.B) {
			f := vfs.New(unlimited)
			file, err := f.OpenFile(b.Context(), root, "/f", os.O_RDWR|os.O_CREATE, 0o644)
			if err != nil {
				b.Fatal(err)
			}
			p := make([]byte, size)
			b.SetBytes(int64(size))
			for i := 0; b.Loop(); i++ {
				if _, err := file.Write(p); err != nil {
					b.Fatal(err)
				}
				if i*size > 100<<20 {
					_, _ = file.Seek(0, io.SeekStart)
					_ = file.Truncate(0)
					i = 0
				}
			}
		})
	}
}

func Benchmark_File_Read_10_MB(b *testing.B) {
	f := vfs.New(unlimited)
	if err := f.WriteFile(b.Context(), root, "/f", make([]byte, 10<<20), 0o644); err != nil {
		b.Fatal(err)
	}
	file, err := f.Open(b.Context(), root, "/f")
	if err != nil {
		b.Fatal(err)
	}
	p := make([]byte, 64<<10)
	b.SetBytes(10 << 20)
	for b.Loop() {
		for off := int64(0); off < 10<<20; off += int64(len(p)) {
			if _, err := file.ReadAt(p, off); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func Benchmark_Pipe_10_MB(b *testing.B) {
	for _, size := range []int{4096, 32768, 65536} {
		b.Run(fmt.Sprint(size, " a write"), func(b *testing.B) {
			p, q := make([]byte, size), make([]byte, 64<<10)
			b.SetBytes(10 << 20)
			b.ReportAllocs()
			for b.Loop() {
				r, w := vfs.Pipe()
				var writer sync.WaitGroup
				writer.Go(func() {
					for range 10 << 20 / size {
						_, _ = w.Write(p)
					}
					_ = w.Close()
				})
				for {
					if _, err := r.Read(q); err != nil {
						break
					}
				}
				_ = r.Close()
				writer.Wait()
			}
		})
	}
}

func Benchmark_Pipe_One_Line(b *testing.B) {
	b.ReportAllocs()
	q := make([]byte, 100)
	for b.Loop() {
		r, w := vfs.Pipe()
		_, _ = w.Write([]byte("hello\n"))
		_, _ = r.Read(q)
		_ = w.Close()
		_ = r.Close()
	}
}

// Benchmark_10000_Forks_Of_10_MB prints what the forks of one tree hold, each with a
// file of its own written.
func Benchmark_10000_Forks_Of_10_MB(b *testing.B) {
	f := vfs.New(unlimited)
	for i := range 1000 {
		if err := f.WriteFile(b.Context(), root, fmt.Sprint("/f", i), make([]byte, 10<<10), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for b.Loop() {
		before := heap()
		forks := make([]*vfs.FS, 10000)
		for i := range forks {
			forks[i] = f.Fork()
		}
		plain := heap()
		for i := range forks {
			if err := forks[i].WriteFile(b.Context(), root, "/own", []byte("mine"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(plain-before)/10000, "B/fork")
		b.ReportMetric(float64(heap()-before)/10000, "B/written-fork")
		runtime.KeepAlive(forks)
	}
}
