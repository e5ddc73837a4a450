package confine

import "github.com/seed434b0696/agent-sandbox/internal/guest/layout"

// Entry is the first instruction of a guest that is linked with it (-E). Where the command line is that of [Command], it does what
// [Run] does; otherwise it starts Go's runtime. It is not for calling.
func Entry()

// What Entry compares and needs, each with the NUL byte of C, and its memory.
//
//nolint:gochecknoglobals,unused // there is no stack frame yet
var (
	program   = layout.Program + "\x00"
	command   = Command + "\x00"
	shell     = "/bin/sh\x00"
	shellName = "sh\x00"
	message   [64 << 10]byte
	scratch   [128]byte
)
