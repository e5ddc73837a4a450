package confine

import "github.com/seed434b0696/agent-sandbox/internal/guest/layout"

// Entry is the first instruction of a guest that is linked with it (-E). For the command line of [Command] it does the
// same as [Run]; otherwise it starts Go's runtime. Go code must not call it.
func Entry()

// The strings that Entry needs, each with the NUL byte of C, and its memory.
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
