// Package virtual tests the machine in memory as a whole: shell, commands and files together.
package virtual

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/curl"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

const (
	attackMemory = 16 << 20
	// attackPeak bounds the memory of the whole program under attack: the machine's count is approximate, and the collector
	// frees garbage late.
	attackPeak = 16 * attackMemory
	// heldPeak bounds it under attacks on commands that charge the memory that they hold: twice the machine's memory, because a
	// list is there twice while it grows, the maximum size of the tree, and three times as much for garbage that the collector of a busy
	// machine has not freed yet (72 MiB in all were seen, with 64 allowed).
	heldPeak   = 3*attackMemory + 48<<20
	attackTime = 600 * time.Millisecond
	// attackMargin is for a slow machine; the documented delay is some tens of milliseconds.
	attackMargin = 5 * time.Second
)

// Test_A_Machine_Outlives_Every_Attack runs scripts that try to exceed their limits. Each must end by itself or at its time
// limit, within the memory limit and without remains, and the machine must work afterwards.
func Test_A_Machine_Outlives_Every_Attack(t *testing.T) {
	for _, a := range slices.Concat(attacks, nested, buffered) {
		t.Run(a.name, func(t *testing.T) { a.run(t) })
	}
}

// notFound is the message about a command that is missing: the attack would test nothing.
const notFound = "command not found"

// prelude defines replacements for programs that the attacks use.
const prelude = `type yes > /dev/null 2>&1 || yes() { while echo "${1-y}"; do :; done; }
`

// attack is a script that tries to exceed a limit.
type attack struct {
	name   string
	script string
	limit  error  // the expected limit if the script ends before its time; nil: any or none
	busy   bool   // its processes continue to run, and no other process can start
	says   string // expected on standard error
	held   bool   // its commands charge the memory that they hold: at most heldPeak
}

func (a *attack) run(t *testing.T) {
	t.Helper()
	goroutines := runtime.NumGoroutine()
	debug.FreeOSMemory() // Free the memory of the previous attack first.
	before := memory()
	// On a busy machine the collector is late, and garbage would count. Memory in use stays, with or without the limit.
	bound := int64(attackPeak / 2)
	if a.held {
		bound = heldPeak * 3 / 4
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(before) + bound))
	peak := watchMemory(t)
	sh := attackedShell(t)
	var stderr limitedBuffer
	ctx, cancel := context.WithTimeout(t.Context(), attackTime)
	defer cancel()
	start := time.Now()
	res, err := sh.Run(ctx, prelude+a.script, shell.Stdio{Stdout: io.Discard, Stderr: &stderr})
	took := time.Since(start)
	if took > attackTime+deadline.Scale(attackMargin) {
		t.Errorf("it took %v", took)
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error: %v", err)
	}
	if a.says != notFound && strings.Contains(stderr.head(), notFound) {
		t.Errorf("it needs a command that is not here: %s", stderr.head())
	}
	if err == nil && a.limit != nil && !errors.Is(res.Limit, a.limit) {
		t.Errorf("it met the limit %v, want %v (status %d, error %v); it said: %s", res.Limit, a.limit, res.Status, err, stderr.head())
	}
	if err == nil && !strings.Contains(stderr.head(), a.says) && !strings.Contains(stderr.tail(), a.says) {
		t.Errorf("it said %q ... %q, want %q", stderr.head(), stderr.tail(), a.says)
	}
	if strings.Contains(stderr.head(), "internal error") {
		t.Errorf("it said %q", stderr.head())
	}
	t.Logf("status %d, limit %v, error %v, %v, %d MiB: %s", res.Status, res.Limit, err, took.Round(time.Millisecond), int64(peak()-before)>>20, stderr.head())
	most := uint64(attackPeak)
	if a.held {
		most = heldPeak
	}
	if got := peak(); got > before+most {
		t.Errorf("it took %d MiB", (got-before)>>20)
	}
	if !a.busy {
		worksStill(t, sh)
	}
	sh.Close()
	waitForGoroutines(t, goroutines)
}

// Test_Interpreters_Make_More_Garbage_Than_The_Memory runs programs that hold little memory and allocate many times the
// limit: memory that they no longer need must not count.
func Test_Interpreters_Make_More_Garbage_Than_The_Memory(t *testing.T) {
	for name, row := range map[string]struct{ script, want string }{
		"awk with texts":    {`awk 'BEGIN { for (i = 0; i < 200000; i++) s = sprintf("%1000d", i); print length(s) }'`, "1000\n"},
		"awk with lines":    {`yes 'some forty bytes of text in each line' | head -n 500000 | awk '{ a[NR % 10] = $0 $0 } END { print length(a) }'`, "10\n"},
		"awk that holds":    {`awk 'BEGIN { for (i = 0; i < 50000; i++) a[i] = i; for (i = 0; i < 100000; i++) s = sprintf("%1000d", i); print length(a) }'`, "50000\n"},
		"jq with texts":     {`jq -n 'reduce range(200000) as $i (0; "x" * 1000 | length)'`, "1000\n"},
		"jq with arrays":    {`jq -n 'reduce range(100000) as $i (0; [range(20)] | length)'`, "20\n"},
		"jq with inputs":    {`yes '{"a":[1,2,3]}' | head -n 300000 | jq -c .a | tail -n 1`, "[1,2,3]\n"},
		"jq into a file":    {`yes '{"a":"some forty bytes of text in each line"}' | head -n 250000 | jq -c . > big; wc -l < big`, "250000\n"},
		"yq with texts":     {`yq -n 'reduce range(200000) as $i (0; "x" * 1000 | length)'`, "1000\n"},
		"bc with numbers":   {`echo 'for (i = 0; i < 50000; i++) x = 2 ^ 1000; length(x)' | bc`, "302\n"},
		"two awk at a time": {`f() { awk 'BEGIN { for (i = 0; i < 200000; i++) s = sprintf("%1000d", i); print length(s) }'; }; f & f; wait`, "1000\n1000\n"},
	} {
		t.Run(name, func(t *testing.T) {
			sh := attackedShell(t)
			defer sh.Close()
			var out bytes.Buffer
			var stderr limitedBuffer
			res, err := sh.Run(t.Context(), prelude+row.script, shell.Stdio{Stdout: &out, Stderr: &stderr})
			if err != nil || res.Status != 0 || res.Limit != nil || out.String() != row.want {
				t.Errorf("it wrote %q, want %q (status %d, limit %v, error %v); it said: %s", out.String(), row.want, res.Status, res.Limit, err, stderr.head())
			}
		})
	}
}

func attackedShell(t *testing.T) *shell.Shell {
	t.Helper()
	tree := vfs.New(vfs.Options{Limits: vfs.Limits{Bytes: 32 << 20, FileBytes: 16 << 20}})
	for _, dir := range []string{"/tmp", "/proj", "/dev"} {
		if err := tree.Mkdir(vfs.Cred{}, dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.WriteFile(t.Context(), vfs.Cred{}, "/keep", []byte("kept\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for minor, name := range map[uint32]string{3: "null", 5: "zero", 7: "full", 8: "random", 9: "urandom"} {
		if err := tree.Mknod(vfs.Cred{}, "/dev/"+name, fs.ModeDevice|fs.ModeCharDevice|0o666, vfs.Device(1, minor)); err != nil {
			t.Fatal(err)
		}
	}
	return shell.New(shell.Options{
		FS: tree, Dir: "/proj", Commands: append(coreutils.Commands(), clients()...), Limits: shell.Limits{Bytes: attackMemory},
	})
}

// clients returns the programs that reach a network, here one that refuses every connection.
func clients() []shell.Command {
	way := curl.Way{Dial: func(context.Context, string, uint16) (net.Conn, error) { return nil, syscall.ECONNREFUSED }}
	return []shell.Command{curl.Command(way), curl.Wget(way)}
}

// worksStill checks a shell after an attack and after a user's cleanup: removal of the files in the way.
func worksStill(t *testing.T, sh *shell.Shell) {
	t.Helper()
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), attackTime+deadline.Scale(attackMargin))
	defer cancel()
	res, err := sh.Run(ctx, `kill -9 -1 2> /dev/null; wait; unset x y z a m; set --; echo ok; cat /keep; echo $(echo fine) | cat; (echo sub); [ ! -e /proj/big ] || rm /proj/big`,
		shell.Stdio{Stdout: &out}) // Its stderr reports killed jobs.
	if want := "ok\nkept\nfine\nsub\n"; err != nil || res.Status != 0 || out.String() != want {
		t.Errorf("afterwards it answered %q (status %d, limit %v, error %v)", out.String(), res.Status, res.Limit, err)
	}
}

// memory returns the current size of objects and stacks.
func memory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() + samples[1].Value.Uint64()
}

// watchMemory records the maximum of memory until the test ends.
func watchMemory(t *testing.T) (peak func() uint64) {
	t.Helper()
	var mu sync.Mutex
	var most uint64
	look := func() {
		now := memory()
		mu.Lock()
		most = max(most, now)
		mu.Unlock()
	}
	done, over := make(chan struct{}), make(chan struct{})
	ticker := time.NewTicker(5 * time.Millisecond)
	go func() {
		defer close(over)
		for {
			select {
			case <-ticker.C:
				look()
			case <-done:
				return
			}
		}
	}()
	stop := sync.OnceFunc(func() {
		ticker.Stop()
		close(done)
		<-over
	})
	t.Cleanup(stop)
	return func() uint64 {
		stop()
		mu.Lock()
		defer mu.Unlock()
		return most
	}
}

func waitForGoroutines(t *testing.T, want int) {
	t.Helper()
	limit := time.NewTimer(deadline.Scale(10 * time.Second))
	defer limit.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for runtime.NumGoroutine() > want {
		select {
		case <-tick.C:
		case <-limit.C:
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines are left, %d were there before:\n%s", runtime.NumGoroutine(), want, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// limitedBuffer retains the beginning of its input, and the end, because messages that repeat their line have the reason at
// the end.
type limitedBuffer struct {
	mu     sync.Mutex
	b, end []byte
}

const limitedSize = 1000 // of each, in bytes

func (l *limitedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(b), limitedSize-len(l.b))
	l.b = append(l.b, b[:n]...)
	l.end = append(l.end, b[max(n, len(b)-limitedSize):]...)
	l.end = slices.Delete(l.end, 0, max(0, len(l.end)-limitedSize))
	return len(b), nil
}

func (l *limitedBuffer) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.end)
}

func (l *limitedBuffer) head() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.b)
}
