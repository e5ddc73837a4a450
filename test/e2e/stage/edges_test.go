//go:build linux

package stage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/programs"
)

func Test_A_Second_Run_On_The_Same_Stage_Is_One_Clear_Error(t *testing.T) {
	t.Parallel()
	users(t, func(p *place) {
		cmd := p.started(`echo 1 >f`)
		out, code := p.run(p.command, "exec", "--stage", "--", "true")
		want := "in use by process"
		if code != 125 || strings.Count(out, "\n") != 2 || !strings.Contains(out, want) || !strings.Contains(out, "\nhint: ") {
			p.Errorf("exit status %d: %q", code, out)
		}
		if out, code := p.run(p.command, "exec", "--stage=other", "--", "sh", "-c", "test ! -e f"); code != 0 {
			p.Errorf("another stage: %d %s", code, out)
		}
		if out, code := p.stage("list"); code != 0 || !strings.Contains(out, "in use by") || !strings.Contains(out, "echo 1") {
			p.Errorf("list: %d %s", code, out)
		}
		if out, code := p.stage("discard", "default"); code != 125 || !strings.Contains(out, want) {
			p.Errorf("discard: %d %s", code, out)
		}
		p.kill(cmd)
	})
}

func Test_Changes_Of_The_User_Before_A_Run_Do_Not_Conflict_After_It(t *testing.T) {
	t.Parallel()
	users(t, func(p *place) {
		for _, text := range []string{"one", "two", "three"} {
			p.sh(`echo mine >f; echo ` + text + ` >g`)
			if got := p.staged(`cat g; echo theirs >f`); !strings.HasPrefix(got, text) {
				p.Errorf("the stage has %q", got)
			}
			if out, code := p.stage("apply"); code != 0 {
				p.Errorf("apply: %d %s", code, out)
			}
		}
	})
}

func Test_A_Writable_Parent_Does_Not_Make_A_Staged_Workspace_Writable(t *testing.T) {
	t.Parallel()
	users(t, func(p *place) {
		p.sh(`echo 1 >f; mkdir ../around`)
		p.staged(`echo 2 >f; echo 2 >../work/g; echo 2 >../around/h; cd ..; echo 3 >work/i`, "--rw", p.home)
		if got := p.sh(`cat f; ls; ls ../around`); got != "1\nf\nh\n" {
			p.Errorf("the host has %q", got)
		}
	})
}

func Test_A_Second_Mount_Of_The_Workspace_Is_Refused_Where_Commands_May_Write(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	users(t, func(p *place) {
		p.sh(`echo 1 >f; mkdir d ../again ../part`)
		p.mounted(`mount --bind home/work home/again; mount --bind home/work/d home/part`)
		for _, dir := range []string{"again", "part"} {
			out, code := p.run(p.command, "exec", "--stage", "--rw", filepath.Join(p.home, dir), "--", "sh", "-c", "echo 2 >../again/f")
			if code != 125 || !strings.Contains(out, "mounted a second time at "+filepath.Join(p.home, dir)) {
				p.Errorf("%d %s", code, out)
			}
		}
		if out, code := p.run(p.command, "exec", "--stage", "--", "sh", "-c", "echo 2 >../again/f"); code == 0 {
			p.Errorf("%d %s", code, out)
		}
		if got := p.sh(`cat f`); got != "1\n" {
			p.Errorf("the host has %q", got)
		}
	})
}

func Test_A_Mount_In_The_Workspace_Is_Refused(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can mount")
	}
	users(t, func(p *place) {
		p.sh(`mkdir d`)
		p.mounted(`mount -t tmpfs none home/work/d`)
		if out, code := p.run(p.command, "exec", "--stage", "--", "true"); code != 125 || !strings.Contains(out, "has a mount below it") {
			p.Errorf("%d %s", code, out)
		}
	})
}

func Test_A_Staged_Commit_In_A_Worktree_Does_Not_Reach_The_Repository(t *testing.T) {
	t.Parallel()
	users(t, func(p *place) {
		p.sh(`git init -q ../main; cd ../main; echo 1 >f; git add f; git commit -qm one; rmdir ../work; git worktree add -q ../work`)
		before := p.sh(`cd ../main; ` + listing)
		p.staged(`echo 2 >f; git status --short; ! git commit -qam two`)
		if got := p.sh(`cd ../main; ` + listing); got != before {
			p.Errorf("the repository is\n%s\nwant\n%s", got, before)
		}
		if got := p.sh(`cat f`); got != "1\n" {
			p.Errorf("f is %q", got)
		}
		p.must(p.command, "exec", "--", "git", "commit", "-q", "--allow-empty", "-m", "without a stage")
	})
}

func Test_A_Command_Without_A_Separate_Guest_Mounts_The_View_Itself(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(lab.base, "alone")
	alone := filepath.Join(dir, programs.CommandAlone)
	if err := programs.Install(t.Context(), dir, programs.CommandAlone); err != nil {
		t.Fatal(err)
	}
	users(t, func(p *place) {
		p.command = alone
		p.compare(`echo 1 >f`, `echo 2 >f; mkdir d`, "overlay")
	})
}

func Test_A_Stage_Made_With_Other_Flags_Cannot_Redirect_A_Mount(t *testing.T) {
	t.Parallel()
	users(t, func(p *place) {
		p.sh(`mkdir src secret; echo 1 >src/f; echo key >secret/key; mkdir ../victim`)
		before := p.sh(`cd ../victim; ls -A`)
		for _, link := range []string{"/oldroot" + p.home + "/victim/planted", "../../victim", "/etc"} {
			p.staged(`rm -r src secret; ln -s ` + link + ` src; ln -s ` + link + ` secret`)
			for _, flag := range []string{"--ro=src", "--exclude=secret", "--exclude=secret/key"} {
				out, code := p.run(p.command, "exec", "--stage", flag, "--", "sh", "-c", "ls -la src secret")
				if code != 125 || !strings.Contains(out, "the policy protects "+p.work) {
					p.Errorf("%s to %s: %d %s", flag, link, code, out)
				}
			}
			if out, code := p.stage("discard"); code != 0 {
				p.Errorf("%d %s", code, out)
			}
		}
		if got := p.sh(`cd ../victim; ls -A`); got != before {
			p.Errorf("the host has\n%s", got)
		}
	})
}
