package hook

import (
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/agent/hook/protocol"
)

// Limits bound one run of a hook. A zero field means the default.
type Limits = protocol.Limits

// Thrown is an error that a hook threw, for errors.AsType.
type Thrown = protocol.Thrown

const (
	defaultTime   = 10 * time.Second
	defaultWait   = 10 * time.Minute
	defaultMemory = 128 << 20
	defaultDepth  = 1000
	defaultCalls  = 10_000
)

// fillDefaults replaces the zeros of l by the defaults, except Memory.
func fillDefaults(l Limits) Limits {
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
