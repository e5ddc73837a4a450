package memory_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/seed434b0696/agent-sandbox/memory"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

// full is a machine with 100,000 small files in directories of 100.
func full(b *testing.B) *memory.Machine {
	b.Helper()
	m := machine(b, memory.Options{Files: vfs.Limits{Bytes: -1, Nodes: -1}, Timeout: -1})
	for d := range 1000 {
		if err := m.FS().MkdirAll(root, fmt.Sprintf("/data/%d", d), 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 100 {
			if err := m.FS().WriteFile(b.Context(), root, fmt.Sprintf("/data/%d/%d", d, f), []byte("text"), 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	return m
}

func Benchmark_Create_And_First_Command(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m, err := memory.New(memory.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Run(context.Background(), "echo hi"); err != nil {
			b.Fatal(err)
		}
		m.Close()
	}
}

func Benchmark_Echo(b *testing.B) {
	m := machine(b, memory.Options{})
	b.ReportAllocs()
	for b.Loop() {
		execute(b, m, "echo hi")
	}
}

func Benchmark_Snapshot_At_100000_Files(b *testing.B) {
	m := full(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Snapshot(); err != nil {
			b.Fatal(err)
		}
	}
}

func Benchmark_Restore_At_100000_Files(b *testing.B) {
	m := full(b)
	s, err := m.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Restore(s); err != nil {
			b.Fatal(err)
		}
	}
}

func Benchmark_First_Write_After_A_Snapshot(b *testing.B) {
	m := full(b)
	i := 0
	for b.Loop() {
		if _, err := m.Snapshot(); err != nil {
			b.Fatal(err)
		}
		i++
		if err := m.FS().WriteFile(context.Background(), root, fmt.Sprintf("/data/%d/%d", i*7%1000, i%100), []byte("else"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

func Benchmark_Fork(b *testing.B) {
	m := full(b)
	b.ReportAllocs()
	for b.Loop() {
		f, err := m.Fork()
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}

// Benchmark_10000_Live_Forks measures the memory of machines that were forked from one of 10 MB and have run a command each.
func Benchmark_10000_Live_Forks(b *testing.B) {
	m := machine(b, memory.Options{})
	for i := range 10 {
		execute(b, m, fmt.Sprintf("head -c 1000000 /dev/urandom >/tmp/%d", i))
	}
	for b.Loop() {
		before := heap()
		forks := make([]*memory.Machine, 10_000)
		for i := range forks {
			f, err := m.Fork()
			if err != nil {
				b.Fatal(err)
			}
			forks[i] = f
			execute(b, f, fmt.Sprintf("x=%d; echo $x >/tmp/own", i))
		}
		b.ReportMetric(float64(heap()-before)/float64(len(forks)), "B/machine")
		b.ReportMetric(float64(heap())/(1<<20), "MiB-all")
		for _, f := range forks {
			f.Close()
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
