//go:build linux

package bwrap_test

import (
	"os"
	"testing"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandboxtest"
)

func Test_Bwrap_Keeps_The_Contract(t *testing.T) {
	data := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir()) // files of other processes do not count as residue
	driver := bwrap.New(bwrap.Options{DataDir: data})
	sandboxtest.Run(t, sandboxtest.Local{Backend: driver, Data: []string{data}}, os.Getenv("SANDBOX_REQUIRE"))
}

func Test_A_Resident_Sandbox_Keeps_The_Contract(t *testing.T) {
	data := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	driver := bwrap.New(bwrap.Options{DataDir: data})
	sandboxtest.Run(t, sandboxtest.Local{Backend: driver, Data: []string{data}, Resident: true}, os.Getenv("SANDBOX_REQUIRE"))
}
