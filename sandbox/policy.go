package sandbox

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Policy describes what a sandbox may do, as people write it: one layer of
// configuration. The zero value requests nothing. Package policy resolves layers
// against a host and documents the rules for paths, presets and precedence.
type Policy struct {
	Schema     string                 `json:"$schema,omitempty"`   // for editors; ignored
	Backend    string                 `json:"backend,omitempty"`   // "bwrap", ...; empty: the caller's choice
	Network    Network                `json:"network,omitzero"`    // what can be reached
	Docker     *bool                  `json:"docker,omitempty"`    // reach the Docker engine's socket; nil: as below, false at the bottom
	Userns     *bool                  `json:"userns,omitempty"`    // let commands create user namespaces (browsers need it); nil: as below
	Debuggers  *bool                  `json:"debuggers,omitempty"` // let commands ptrace each other (gdb, strace); nil: as below
	Filesystem Filesystem             `json:"filesystem,omitzero"` // paths
	Commands   map[string]CommandRule `json:"commands,omitempty"`  // by name
	Secrets    map[string]Secret      `json:"secrets,omitempty"`   // values that stay outside, by name

	Env    Env    `json:"env,omitzero"`    // the environment
	Limits Limits `json:"limits,omitzero"` // resources

	Requests Requests `json:"requests,omitzero"` // resources that a cluster reserves

	Assistants Assistants `json:"assistants,omitzero"` // their state; only of the user's own configuration
}

// Assistants sets how long the state of assistants is stored. Sandboxes ignore it.
type Assistants struct {
	WorkspaceRetention Duration `json:"workspace_retention,omitempty"` // after which an unused workspace is removed; 0: a week
	CleanupSchedule    string   `json:"cleanup_schedule,omitempty"`    // as in cron: minute, hour, day, month, weekday; "": "0 3 * * *"
}

// CommandRule decides what happens when a command of this name is run: "true" (it
// runs), "false" (it is refused), "@preset" (a built-in wrapper of the command's
// own name) or the path of a script that runs in its place.
type CommandRule string

// UnmarshalJSON takes a boolean or a non-empty string.
func (r *CommandRule) UnmarshalJSON(data []byte) error {
	var s string
	switch {
	case string(data) == "true" || string(data) == "false":
		*r = CommandRule(data)
		return nil
	case json.Unmarshal(data, &s) != nil || s == "":
		return fmt.Errorf("expected true, false, \"@preset\" or a script's path, got %s", data)
	}
	*r = CommandRule(s)
	return nil
}

// MarshalJSON writes true and false as booleans.
func (r CommandRule) MarshalJSON() ([]byte, error) {
	if r == "true" || r == "false" {
		return []byte(r), nil
	}
	return json.Marshal(string(r))
}

// Filesystem lists paths and presets. Paths may be absolute, relative to the
// working directory, start with ~/, and hold globs (*, ?, [..], {a,b}, **).
type Filesystem struct {
	Presets []string `json:"presets,omitempty"` // "@name" adds, "!@name" removes
	RO      []string `json:"ro,omitempty"`      // readable
	RW      []string `json:"rw,omitempty"`      // readable and writable
	Exclude []string `json:"exclude,omitempty"` // hidden
	Sockets []string `json:"sockets,omitempty"` // host Unix sockets that may be connected to
	Tmp     string   `json:"tmp,omitempty"`     // [TmpFresh] or [TmpKeep]; empty: as below, TmpFresh at the bottom
}

// The values of [Filesystem.Tmp].
const (
	TmpFresh = "fresh" // /tmp is empty at the start and ends with the sandbox
	TmpKeep  = "keep"  // /tmp is a directory of the workspace's own, which all its sandboxes share and which lasts
)

// Env decides which variables of the host's environment a command sees.
type Env struct {
	Pass []string          `json:"pass,omitempty"` // names or prefixes ending in *: let through although they look secret
	Deny []string          `json:"deny,omitempty"` // names or prefixes ending in *: taken out; wins over pass in the same layer
	Set  map[string]string `json:"set,omitempty"`  // set to these values, last
}

// Limits bound what a command uses. Zero means the default of the layer below; a field that any layer but the defaults sets is
// required: a driver that cannot enforce it refuses to start.
type Limits struct {
	Wall   Duration `json:"wall,omitempty"`   // wall-clock time of one command
	Output Bytes    `json:"output,omitempty"` // bytes of stdout and stderr together
	Memory Bytes    `json:"memory,omitempty"` // memory of all processes together
	Tmp    Bytes    `json:"tmp,omitempty"`    // size of the private /tmp
	File   Bytes    `json:"file,omitempty"`   // size to which a command can make one file grow; see [DefaultMemoryFile]
	Disk   Bytes    `json:"disk,omitempty"`   // size of all files that commands write, in memory; see [DefaultMemoryDisk]
	Nodes  int      `json:"nodes,omitempty"`  // files and directories that commands make, in memory; see [DefaultMemoryNodes]
	Pids   int      `json:"pids,omitempty"`   // processes and threads at one time
	CPU    float64  `json:"cpu,omitempty"`    // processors, 1.5 is one and a half
}

// Requests are the resources that a cluster reserves for a sandbox on a node, as in the requests of a container: what it gets at
// least, and what the cluster's quota counts. Zero means the value of the layer below, and the backend's own at the bottom. A driver
// without a cluster refuses to start.
type Requests struct {
	Memory Bytes   `json:"memory,omitempty"` // at most the limit of memory
	CPU    float64 `json:"cpu,omitempty"`    // processors, 0.5 is a half; at most the limit of processors
}

// The limits in memory when the policy sets none, large enough for a repository with its node_modules. Other backends have no
// limit on a file then, and refuse the other two.
const (
	DefaultMemoryFile  Bytes = 256 << 20
	DefaultMemoryDisk  Bytes = 2 << 30
	DefaultMemoryNodes       = 500_000
)

// Duration is a time.Duration that reads "90s" or "1h30m".
type Duration time.Duration

// UnmarshalJSON reads a positive Go duration string.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf(`expected a duration such as "90s", got %s`, data)
	}
	v, err := ParseDuration(s)
	*d = v
	return err
}

// MarshalJSON writes the string form.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

func (d Duration) String() string { return time.Duration(d).String() }

// ParseDuration reads a positive duration such as "90s".
func ParseDuration(s string) (Duration, error) {
	v, err := time.ParseDuration(s)
	if err != nil || v <= 0 {
		return 0, fmt.Errorf(`expected a positive duration such as "90s" or "10m", got %q`, s)
	}
	return Duration(v), nil
}

// Bytes is a size. It reads a number of bytes, or a string with a unit:
// "512MiB", "2gb", "64k". Units are powers of 1024 however they are written, as
// Docker and systemd do it.
type Bytes int64

// UnmarshalJSON reads a number or a string.
func (b *Bytes) UnmarshalJSON(data []byte) error {
	s := string(data)
	if strings.HasPrefix(s, `"`) {
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
	}
	v, err := ParseBytes(s)
	*b = v
	return err
}

// MarshalJSON writes the string form.
func (b Bytes) MarshalJSON() ([]byte, error) { return json.Marshal(b.String()) }

// String writes the largest unit that divides b: "512MiB".
func (b Bytes) String() string {
	for i, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		shift := 40 - 10*i
		if v := int64(b) >> shift; v > 0 && v<<shift == int64(b) {
			return strconv.FormatInt(v, 10) + unit
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// ParseBytes reads a positive size: digits, then nothing, B, or one of K, M, G, T
// with an optional B or iB, in any case. Anything else is an error, never a guess:
// "4xyz" is not 4.
func ParseBytes(s string) (Bytes, error) {
	bad := fmt.Errorf(`expected a positive size such as "512MiB", got %q`, s)
	digits := strings.TrimLeft(s, "0123456789")
	n, err := strconv.ParseInt(s[:len(s)-len(digits)], 10, 64)
	if err != nil || n <= 0 {
		return 0, bad
	}
	shift, ok := shifts[strings.ToLower(strings.TrimPrefix(digits, " "))]
	if !ok || n > (1<<62)>>shift {
		return 0, bad
	}
	return Bytes(n << shift), nil
}

var shifts = map[string]uint{
	"": 0, "b": 0,
	"k": 10, "kb": 10, "kib": 10,
	"m": 20, "mb": 20, "mib": 20,
	"g": 30, "gb": 30, "gib": 30,
	"t": 40, "tb": 40, "tib": 40,
}
