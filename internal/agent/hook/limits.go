package hook

import "time"

// Limits bound one run of a hook. A zero field is the default.
type Limits struct {
	Time   time.Duration // that the script itself computes; what it waits for the host is not counted. 10 seconds
	Wait   time.Duration // that it waits for the host, all its calls together. 10 minutes
	Memory int64         // bytes that it holds. 128 MiB in a worker; without one it cannot be held and is refused
	Depth  int           // nested calls of functions. 1000
	Calls  int           // of the host: messages, log lines, files, commands, memory. 10000
}

// Bounds that nobody need change.
const (
	maxSource   = 1 << 20  // bytes of one source file
	maxSources  = 4 << 20  // of all of a script
	maxProbes   = 4096     // look-ups of files for one script
	maxValue    = 32 << 20 // of the messages that come and go, as JSON
	maxFile     = 8 << 20  // of a file that a hook reads or writes
	maxEntries  = 10_000   // of a directory
	maxOutput   = 4 << 20  // of a command's stdout
	maxProps    = 1 << 20  // of a message to the user, as JSON
	maxOpen     = 1000     // messages to the user that are not ended
	maxLog      = 8 << 10  // of a line of the log; the rest is cut
	maxKey      = 256      // of a key of the memory
	maxStored   = 1 << 20  // of a value of the memory, as JSON
	maxKeys     = 1000     // of the memory of a request
	maxArgs     = 1000     // of a command
	maxArg      = 128 << 10
	maxText     = 4 << 10  // of an error's message
	maxFrames   = 20       // of an error's stack
	maxFrame    = 96 << 20 // of what goes between us and a worker
	maxMessages = 10_000
)

const (
	defaultTime   = 10 * time.Second
	defaultWait   = 10 * time.Minute
	defaultMemory = 128 << 20
	defaultDepth  = 1000
	defaultCalls  = 10_000
)

// filled has the defaults in the place of zeros, but for Memory.
func (l Limits) filled() Limits {
	if l.Time <= 0 {
		l.Time = defaultTime
	}
	if l.Wait <= 0 {
		l.Wait = defaultWait
	}
	if l.Depth <= 0 {
		l.Depth = defaultDepth
	}
	if l.Calls <= 0 {
		l.Calls = defaultCalls
	}
	return l
}
