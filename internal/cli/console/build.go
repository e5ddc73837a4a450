package console

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Set by the linker when released: -X main.version=1.2.3.
var version, commit, date string

// build describes this binary.
type build struct {
	Version string `json:"version"`          // "1.2.3", "dev"
	Commit  string `json:"commit,omitempty"` // short hash; empty: unknown
	Date    string `json:"date,omitempty"`   // of the commit or release; empty: unknown
	Source  bool   `json:"source"`           // built from source, not released
	Go      string `json:"go"`               // the compiler
	Arch    string `json:"arch"`             // "linux/amd64"
}

// CurrentBuild describes the binary of this process.
func CurrentBuild() build {
	b := build{
		Version: version, Commit: commit, Date: date, Source: version == "",
		Go: runtime.Version(), Arch: runtime.GOOS + "/" + runtime.GOARCH,
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || !b.Source {
		return b
	}
	b.Version = info.Main.Version
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "dev"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.time":
			b.Date = s.Value
		}
	}
	return b
}

func (b build) String() string {
	what := b.Commit
	if b.Source {
		what = "built from source"
		if b.Commit != "" {
			what += " at " + b.Commit
		}
	}
	if b.Date != "" {
		what += ", " + b.Date
	}
	return fmt.Sprintf("agent-sandbox %s (%s)", b.Version, what)
}
