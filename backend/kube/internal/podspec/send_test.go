package podspec

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
)

// A process that is killed while it sends the guest leaves a part of it, or an empty file. The next process sends the guest again.
func Test_A_Guest_That_Was_Not_Sent_Whole_Is_Not_Used(t *testing.T) {
	guest := "#!/bin/sh\necho \"guest $*\"\n"
	sum := sha256.Sum256([]byte(guest))
	p := &Design{GuestSize: len(guest), GuestSum: hex.EncodeToString(sum[:])}
	for name, command := range map[string][]string{"at the door": p.DoorCommand("store"), "first": p.JoinCommand()} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			send := func(text string) (string, error) {
				words := make([]string, len(command))
				for i, w := range command {
					words[i] = strings.ReplaceAll(w, layout.Root, root)
				}
				cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
				cmd.Stdin = strings.NewReader(text)
				out, err := cmd.Output()
				return string(out), err
			}
			for _, part := range []string{"", guest[:10]} {
				if out, err := send(part); err == nil || strings.Contains(out, "guest") {
					t.Errorf("%q of the guest: %q, %v", part, out, err)
				}
			}
			if out, err := send(guest); err != nil || !strings.Contains(out, "guest ") {
				t.Errorf("the whole guest: %q, %v", out, err)
			}
			if name == "first" {
				return
			}
			files, err := filepath.Glob(root + "/*/" + filepath.Base(layout.Program))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			if out, err := send(""); err != nil || !strings.HasPrefix(out, "+\nguest ") {
				t.Errorf("a guest that is there: %q, %v", out, err)
			}
			// As an earlier version may have left it.
			if err := os.WriteFile(files[0]+".new", nil, 0o555); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(files[0]+".new", files[0]); err != nil {
				t.Fatal(err)
			}
			if out, err := send(guest); err != nil || !strings.HasPrefix(out, "-\nguest ") {
				t.Errorf("an empty guest: %q, %v", out, err)
			}
		})
	}
}
