package policy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// BenchmarkResolve resolves the default policy for this repository.
func BenchmarkResolve(b *testing.B) {
	dir, err := filepath.Abs("..")
	if err != nil {
		b.Fatal(err)
	}
	spec := sandbox.Spec{Workspace: dir, Env: os.Environ()}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Resolve(spec); err != nil {
			b.Fatal(err)
		}
	}
}
