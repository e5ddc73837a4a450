//go:build linux

package stage_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed434b0696/agent-sandbox/test/rounds"
)

// started is a running command that has printed that it is ready.
func (p *place) started(script string) *exec.Cmd {
	p.Helper()
	cmd := p.prepare(p.command, "exec", "--stage", "--", "/bin/sh", "-c", script+"; echo ready; exec sleep 600")
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		p.Fatalf("%q, %v", line, err)
	}
	return cmd
}

// kill kills cmd with SIGKILL and waits until all processes that it started
// have ended, too.
func (p *place) kill(cmd *exec.Cmd) {
	p.Helper()
	found := p.processes()
	_ = cmd.Process.Kill() // it may have ended by itself
	_ = cmd.Wait()         // it was killed
	for _, pid := range append(found, p.processes()...) {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it has ended
		}
		n, err := 0, error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			n, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000)
		}
		_ = unix.Close(fd)
		if err != nil || n == 0 {
			p.Fatalf("process %d still runs: %v", pid, err)
		}
	}
}

func Test_A_Kill_While_A_Command_Runs_Leaves_The_Tree_And_The_Stage(t *testing.T) {
	t.Parallel()
	users(t, func(p *place) {
		p.sh(`echo 1 >f; mkdir d; echo x >d/x`)
		before := p.sh(listing)
		for range 3 {
			cmd := p.started(`echo 2 >f; rm -rf d; mkdir -p n; echo y >n/y`)
			if out, code := p.stage("apply"); code != 125 || !strings.Contains(out, "the stage is in use by process") {
				p.Errorf("apply while a command runs: %d %s", code, out)
			}
			p.kill(cmd)
			if got := p.sh(listing); got != before {
				p.Fatalf("the tree is\n%s", got)
			}
			if got := p.staged(`cat f n/y; ls`); !strings.HasPrefix(got, "2\ny\nf\nn\n") {
				p.Errorf("the stage has %q", got)
			}
		}
		if out, code := p.stage("apply"); code != 0 {
			p.Errorf("apply: %d %s", code, out)
		}
		if got := p.sh(`cat f n/y; ls`); got != "2\ny\nf\nn\n" {
			p.Errorf("applied: %q", got)
		}
		if left := p.leftovers(); len(left) > 0 {
			p.Errorf("left: %q", left)
		}
	})
}

func Test_A_Kill_At_Any_Moment_Of_A_Start_Leaves_Nothing(t *testing.T) {
	t.Parallel()
	users(t, func(p *place) {
		p.sh(`for i in {1..50}; do echo $i >$i; done`)
		before := p.sh(listing)
		for range rounds.Of(6) {
			cmd := p.prepare(p.command, "exec", "--stage", "--", "/bin/sh", "-c", "echo x >1; rm 2; sleep 600")
			if err := cmd.Start(); err != nil {
				p.Fatal(err)
			}
			<-time.After(time.Duration(rand.IntN(60_000)) * time.Microsecond) //nolint:gosec // a moment, not a secret
			p.kill(cmd)
		}
		if got := p.sh(listing); got != before {
			p.Errorf("the tree is\n%s", got)
		}
		if got := p.staged(`ls | wc -l`); !strings.HasPrefix(got, "49\n") && !strings.HasPrefix(got, "50\n") {
			p.Errorf("the stage has %q", got)
		}
		// Files that were being created at the kill are retained for a minute.
		stages := filepath.Join(p.home, ".local/share/agent-sandbox/stages")
		p.sh(`find ` + stages + ` -maxdepth 1 -name '.*' -exec touch -d -1hour {} +`)
		if out, code := p.stage("discard", "--all"); code != 0 {
			p.Errorf("discard: %d %s", code, out)
		}
		if left := p.sh(`ls -A ` + stages); left != "" {
			p.Errorf("left: %q", left)
		}
	})
}

const (
	killSetup = `mkdir -p mod del re; for i in {1..40}; do echo old >mod/$i; echo old >del/$i; echo old >re/$i; done; head -c 3000000 /dev/zero | tr '\0' o >big; ln -s old link`
	killWork  = `for i in {1..40}; do echo new >mod/$i; done; rm -r del re; mkdir -p re new/deep; for i in {1..40}; do echo new >new/deep/$i; done; ` +
		`echo new >re/r; head -c 3000000 /dev/zero | tr '\0' n >big; ln -sfn new link; chmod 750 mod`
)

func Test_Apply_Killed_At_Any_Moment_Is_Finished_By_The_Next(t *testing.T) {
	t.Parallel()
	users(t, func(p *place) {
		p.sh(killSetup)
		p.sh(`cp -a . ../twin; cd ../twin; ` + killWork)
		want := p.sh(`cd ../twin; ` + listing)
		kills := 0
		for round := 0; kills < rounds.Of(3); round++ {
			if round == rounds.Of(60) {
				p.Fatalf("only %d kills in %d rounds", kills, round)
			}
			p.must(p.command, "exec", "--stage", "--", "/bin/bash", "-ec", `rm -rf ./*; `+killSetup+`; `+killWork)
			cmd := p.prepare(p.command, "stage", "apply", "--force")
			begun := p.journalWritten()
			if err := cmd.Start(); err != nil {
				p.Fatal(err)
			}
			// Most of the time is before and after the changes: begin when they begin.
			if _, err := begun.Read(make([]byte, 4096)); err != nil {
				p.Fatal(err)
			}
			_ = begun.Close()                                                 // opened only for reading
			<-time.After(time.Duration(rand.IntN(20_000)) * time.Microsecond) //nolint:gosec // a moment, not a secret
			p.kill(cmd)
			p.oldOrNew()
			if len(p.journals()) > 0 {
				kills++
				if out, code := p.run(p.command, "exec", "--stage", "--", "true"); code != 125 || !strings.Contains(out, "was interrupted") {
					p.Errorf("exec on a half applied stage: %d %s", code, out)
				}
			}
			if out, code := p.stage("apply", "--force"); code != 0 {
				p.Fatalf("the next apply: %d %s", code, out)
			}
			if got := p.sh(listing); got != want {
				p.Fatalf("after %d kills the tree is\n%s\nwant\n%s", kills, got, want)
			}
			if left := p.leftovers(); len(left) > 0 {
				p.Errorf("left: %q", left)
			}
			p.sh(`rm -rf ./*; ` + killSetup)
		}
	})
}

// journalWritten returns a file that becomes readable when an apply begins with its changes.
func (p *place) journalWritten() *os.File {
	p.Helper()
	stages, err := filepath.Glob(filepath.Join(p.home, ".local/share/agent-sandbox/stages/*-default"))
	if err != nil || len(stages) != 1 {
		p.Fatal(stages, err)
	}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		p.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, stages[0], unix.IN_MOVED_TO); err != nil {
		p.Fatal(err)
	}
	if err := f.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		p.Fatal(err)
	}
	return f
}

func (p *place) journals() []string {
	found, err := filepath.Glob(filepath.Join(p.home, ".local/share/agent-sandbox/stages/*/journal.json"))
	if err != nil {
		p.Fatal(err)
	}
	return found
}

// oldOrNew checks that each file has its old or its new content.
func (p *place) oldOrNew() {
	p.Helper()
	is := func(name string, want ...string) {
		text, err := os.ReadFile(filepath.Join(p.work, name))
		if os.IsNotExist(err) {
			text = []byte("none\n")
		}
		if !slices.Contains(want, strings.TrimSuffix(string(text), "\n")) {
			p.Errorf("%s is %.40q (%d bytes)", name, text, len(text))
		}
	}
	for i := range 40 {
		n := fmt.Sprint(i + 1)
		is("mod/"+n, "old", "new")
		is("del/"+n, "old", "none")
		is("re/"+n, "old", "none")
		is("new/deep/"+n, "new", "none")
	}
	is("big", strings.Repeat("o", 3000000), strings.Repeat("n", 3000000))
	if target, err := os.Readlink(filepath.Join(p.work, "link")); err != nil || target != "old" && target != "new" {
		p.Errorf("link to %q, %v", target, err)
	}
}
