package virtual_test

import (
	"os"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/virtual"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
	"github.com/seed434b0696/agent-sandbox/test/plainuser"
)

func Test_These_Tests_Pass_As_A_Plain_User(t *testing.T) { plainuser.RepeatPackage(t) }

func Test_Virtual_Keeps_The_Contract(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // files of other processes do not count as residue
	driver := virtual.New(virtual.Options{Share: true, Apply: true})
	sandboxtest.Run(t, harness{sandboxtest.Local{Backend: driver}}, os.Getenv("SANDBOX_REQUIRE"))
}

// harness is the harness of a driver with snapshots.
type harness struct{ sandboxtest.Local }

// SnapshotSpec returns the result of Spec: all files in memory are the sandbox's own.
func (h harness) SnapshotSpec(dir string) sandbox.Spec { return h.Spec(dir) }
