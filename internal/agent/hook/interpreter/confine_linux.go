package interpreter

import "golang.org/x/sys/unix"

// bound lets this process have so many bytes of memory that it can write to, and leave no core. What it has not open by
// now it cannot open any more: no file, no socket, no process to talk to. The engine and the compiler have no business
// with any, but both know ways to read one: the source map that a comment names.
func bound(bytes int64) error {
	for resource, most := range map[int]int64{
		unix.RLIMIT_DATA: bytes, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_NOFILE: 0,
	} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)}); err != nil {
			return err
		}
	}
	return nil
}
