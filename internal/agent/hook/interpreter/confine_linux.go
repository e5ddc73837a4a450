package interpreter

import (
	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/internal/rlimit"
)

// limitMemory limits the writable memory of this process to so many bytes and disables core dumps. The process cannot open further
// descriptors: no file, socket or pipe. The engine and the compiler need none, but both can be made to read a
// file: the source map that a comment names.
func limitMemory(bytes int64) error {
	for resource, most := range map[int]int64{
		unix.RLIMIT_DATA: bytes, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0, unix.RLIMIT_NOFILE: 0,
	} {
		if err := rlimit.Lower(0, resource, uint64(most)); err != nil {
			return err
		}
	}
	return nil
}
