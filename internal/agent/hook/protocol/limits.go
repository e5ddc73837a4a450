package protocol

import "time"

// Limits bound one run of a hook. A zero field is the default.
type Limits struct {
	Time   time.Duration // that the script itself computes; what it waits for the host is not counted. 10 seconds
	Wait   time.Duration // that it waits for the host, all its calls together. 10 minutes
	Memory int64         // bytes that it holds. 128 MiB in a worker; without one it cannot be held and is refused
	Depth  int           // nested calls of functions. 1000
	Calls  int           // of the host: messages, log lines, files, commands, memory. 10000
}

// Bounds that are not configurable.
const (
	MaxSource   = 1 << 20  // bytes of one source file
	MaxSources  = 4 << 20  // of all of a script
	MaxProbes   = 4096     // look-ups of files for one script
	MaxValue    = 32 << 20 // of the messages that come and go, as JSON
	MaxFile     = 8 << 20  // of a file that a hook reads or writes
	MaxEntries  = 10_000   // of a directory
	MaxOutput   = 4 << 20  // of a command's stdout
	MaxProps    = 1 << 20  // of a message to the user, as JSON
	MaxOpen     = 1000     // messages to the user that are not ended
	MaxLog      = 8 << 10  // of a line of the log; the rest is cut
	MaxKey      = 256      // of a key of the memory
	MaxStored   = 1 << 20  // of a value of the memory, as JSON
	MaxKeys     = 1000     // of the memory of a request
	MaxArgs     = 1000     // of a command
	MaxArg      = 128 << 10
	MaxText     = 4 << 10  // of an error's message
	MaxFrames   = 20       // of an error's stack
	MaxFrame    = 96 << 20 // of a frame
	MaxMessages = 10_000
)
