package virtual_test

import (
	"os"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

func Test_Virtual_Keeps_The_Contract(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // nobody else's files are counted as residue
	driver := virtual.New(virtual.Options{Share: true, Apply: true})
	sandboxtest.Run(t, sandboxtest.Local{Backend: driver}, os.Getenv("SANDBOX_REQUIRE"))
}
