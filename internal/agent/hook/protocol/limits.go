package protocol

import "time"

// Limits bound one run of a hook. A zero field means the default.
type Limits struct {
	Time   time.Duration // computing time of the script without waits for the host. 10 seconds
	Wait   time.Duration // total time of waits for the host. 10 minutes
	Memory int64         // live bytes. 128 MiB in a worker; without a worker a limit cannot be enforced and is refused
	Depth  int           // nested function calls. 1000
	Calls  int           // calls of the host: messages, log lines, files, commands, memory. 10000
}

// Fixed bounds.
const (
	MaxSource   = 1 << 20  // bytes of one source file
	MaxSources  = 4 << 20  // of all files of a script
	MaxProbes   = 4096     // file look-ups for one script
	MaxValue    = 32 << 20 // of the messages in either direction, as JSON
	MaxFile     = 8 << 20  // of a file that a hook reads or writes
	MaxEntries  = 10_000   // of a directory
	MaxOutput   = 4 << 20  // of a command's stdout
	MaxProps    = 1 << 20  // of a message to the user, as JSON
	MaxOpen     = 1000     // open messages to the user
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
