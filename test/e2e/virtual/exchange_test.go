package virtual

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// Test_A_Directory_That_The_Host_Exchanges_Does_Not_Lead_Out reads below a directory of a mount while the host
// repeatedly replaces the directory by a link to the outside, and restores it.
func Test_A_Directory_That_The_Host_Exchanges_Does_Not_Lead_Out(t *testing.T) {
	c := newCanary(t)
	place, aside := filepath.Join(c.project, "swap"), filepath.Join(c.project, "aside")
	if err := os.Mkdir(place, 0o755); err != nil {
		t.Fatal(err)
	}
	c.write(t, filepath.Join(place, "secret"), "not it\n")
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				stopped <- n
				return
			default:
			}
			// Each step may happen while the script reads; none can fail.
			_ = os.Rename(place, aside)
			_ = os.Symlink(c.dir, place)
			_ = os.Remove(place)
			_ = os.Rename(aside, place)
		}
	}()
	sh := c.shell(t, true)
	defer sh.Close()
	var out bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := sh.Run(ctx, `while :; do cat swap/secret; cat swap/../swap/secret; ls swap; (cd swap && cat secret); echo swap/*; cp -r swap /tmp/s; cat /tmp/s/secret; rm -rf /tmp/s; done`,
		shell.Stdio{Stdout: &out, Stderr: &out})
	close(stop)
	n := <-stopped
	if err == nil {
		t.Error("the loop has ended by itself")
	}
	if n < 100 {
		t.Errorf("the directory was exchanged only %d times", n)
	}
	if strings.Contains(out.String(), c.secret) {
		t.Error("the script has seen the secret")
	}
	if strings.Contains(out.String(), c.project) || strings.Contains(out.String(), c.dir) {
		t.Errorf("the script has seen a path of the host")
	}
	c.unharmed(t)
}
