package program

import (
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/zone"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Zone returns the time zone of a process: that of TZ, or UTC.
func Zone(p *shell.Proc) *time.Location { return zone.Load(p.Getenv("TZ")) }
