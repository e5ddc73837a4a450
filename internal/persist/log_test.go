//go:build linux

package persist_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_The_Log_Of_A_Keeper_Loses_Its_Older_Half(t *testing.T) {
	const most = 4 << 20
	path := filepath.Join(t.TempDir(), "log")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log := persist.NewLog(f)
	long := strings.Repeat("x", 1000)
	for i := range 3 * most / 1000 {
		log.Info("command", "number", i, "args", long)
		if st, err := f.Stat(); err != nil || st.Size() > most {
			t.Fatalf("after line %d it has %d bytes, %v", i, st.Size(), err)
		}
	}
	log.Info("last")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if !strings.Contains(lines[0], `msg="older lines were removed"`) || !strings.HasSuffix(lines[len(lines)-1], "msg=last") || len(lines) < most/4/1000 {
		t.Errorf("%d lines from %.100q to %.100q", len(lines), lines[0], lines[len(lines)-1])
	}
	for _, line := range lines {
		if !strings.HasPrefix(line, "time=") {
			t.Errorf("a line was cut: %.100q", line)
		}
	}
}

func Test_The_Log_Has_The_Beginning_Of_Long_Arguments(t *testing.T) {
	d := newDriverOver(t, "virtual")
	box := create(t, d, "long")
	args := append([]string{"true", "short"}, strings.Repeat("é", 100_000), "end")
	if _, err := box.Run(t.Context(), sandbox.Cmd{Args: args}); err != nil {
		t.Fatal(err)
	}
	log, err := d.Store.Log("long")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	st, err := log.Stat()
	if err != nil || st.Size() > 10_000 {
		t.Errorf("the log has %d bytes, %v", st.Size(), err)
	}
	data, err := os.ReadFile(filepath.Join(d.Store.Dir, "long", "log"))
	if err != nil || !strings.Contains(string(data), "true short éé") || !strings.Contains(string(data), "(4 arguments, 200012 bytes)") {
		t.Errorf("%s, %v", data, err)
	}
}
