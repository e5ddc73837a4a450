// Command entries measures system calls that create directory entries. In a sandbox the guard executes these calls in place
// of the kernel. It also measures programs that create many entries. The entries are in memory (/dev/shm outside, the private
// /tmp inside) or on the disk of the home. It prints Markdown tables. build/scripts/bench.sh runs it.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/seed434b0696/agent-sandbox/test/bench/internal/command"
	"github.com/seed434b0696/agent-sandbox/test/bench/internal/rounds"
)

const (
	calls = "calls" // with this argument, the program makes the calls in the directory of the next argument
	// the number of calls of a kind in one time, which is their mean
	each = 2000
	// files is the number of files in the repository and in the archive.
	files = 10_000
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == calls {
		if err := makeCalls(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "entries:", err)
			os.Exit(1)
		}
		return
	}
	command.Main("entries", run)
}

func run(ctx context.Context) error {
	sandboxed := flag.String("command", "bin/agent-sandbox", "the command to measure")
	programs := flag.Bool("programs", false, "measure programs only")
	count := flag.Int("rounds", 10, "rounds that count, after one that warms up")
	flag.Parse()
	if *count < 1 || flag.NArg() > 0 {
		return fmt.Errorf("expected flags only, and at least one round")
	}
	s, err := newScene(ctx, *sandboxed)
	if err == nil && !*programs {
		err = s.reportCalls(ctx, *count)
	}
	if err == nil {
		err = s.reportPrograms(ctx, *count)
	}
	return errors.Join(err, os.RemoveAll(s.project), os.RemoveAll(s.outside))
}

// scene is a project with a repository and an archive, and the directory for the output of programs outside a sandbox.
type scene struct{ command, project, outside string }

// newScene makes a scene. If it returns an error, the caller removes the incomplete scene, too.
func newScene(ctx context.Context, command string) (s scene, err error) {
	if s.command, err = filepath.Abs(command); err != nil {
		return s, err
	}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return s, err
	}
	if s.project, err = os.MkdirTemp(home, "entries-"); err != nil {
		return s, err
	}
	if s.outside, err = os.MkdirTemp("/dev/shm", "entries-"); err != nil {
		return s, err
	}
	script := fmt.Sprintf(`cp "$1" entries && git init -q repository && cd repository &&
		for d in $(seq 100); do mkdir -p $d && for f in $(seq %d); do echo $d $f >$d/$f; done; done &&
		git add -A && git -c gc.auto=0 -c user.name=bench -c user.email=bench@localhost commit -q -m files && tar -cf ../files.tar --exclude=.git .`, files/100)
	cmd := exec.CommandContext(ctx, "bash", "-ec", script, "bash", self)
	cmd.Dir = s.project
	if out, err := cmd.CombinedOutput(); err != nil {
		return s, fmt.Errorf("set-up: %w\n%s", err, out)
	}
	return s, nil
}

// memory returns a directory in memory.
func (s *scene) memory(inside bool) string {
	if inside {
		return "/tmp"
	}
	return s.outside
}

// run executes a command line in the project, in a sandbox or not.
func (s *scene) run(ctx context.Context, inside bool, args ...string) ([]byte, error) {
	if inside {
		args = append([]string{s.command, "exec", "--quiet", "--"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = s.project
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%q: %w\n%s", args, err, stderr.Bytes())
	}
	return out, err
}

// kind is a call to measure.
type kind struct {
	name string
	make func(name string) error
}

func kinds() []kind {
	create := func(name string) error {
		f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		return f.Close()
	}
	return []kind{
		{"open, a new file", create},
		{"open with O_CREAT, a file that exists", func(string) error { return create("exists") }},
		{"mkdir", func(name string) error { return os.Mkdir(name, 0o755) }},
		{"symlink", func(name string) error { return os.Symlink("exists", name) }},
		{"link", func(name string) error { return os.Link("exists", name) }},
		{"rename", func(name string) error {
			if name == "0" {
				return create("0")
			}
			n, err := strconv.Atoi(name)
			if err != nil {
				return err
			}
			return os.Rename(strconv.Itoa(n-1), name)
		}},
	}
}

// makeCalls prints the mean time of each kind of call in nanoseconds, a line each.
func makeCalls(in string) error {
	for _, k := range kinds() {
		dir, err := os.MkdirTemp(in, "calls-")
		if err != nil {
			return err
		}
		if err := os.Chdir(dir); err != nil {
			return err
		}
		if err := os.WriteFile("exists", nil, 0o644); err != nil {
			return err
		}
		begin := time.Now()
		for i := range each {
			if err := k.make(strconv.Itoa(i)); err != nil {
				return err
			}
		}
		fmt.Println(int64(time.Since(begin)) / each)
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// reportCalls prints the time of each kind of call, outside and inside in turn.
func (s *scene) reportCalls(ctx context.Context, count int) error {
	all := kinds()
	took := map[bool][][]float64{false: make([][]float64, len(all)), true: make([][]float64, len(all))}
	for round := range count + 1 {
		for _, inside := range []bool{round%2 == 0, round%2 != 0} {
			out, err := s.run(ctx, inside, "./entries", calls, s.memory(inside))
			if err != nil {
				return err
			}
			lines := bytes.Fields(out)
			if len(lines) != len(all) {
				return fmt.Errorf("printed %q, want %d numbers", out, len(all))
			}
			for i, line := range lines {
				nanoseconds, err := strconv.ParseFloat(string(line), 64)
				if err != nil {
					return err
				}
				if round > 0 {
					took[inside][i] = append(took[inside][i], nanoseconds/1000)
				}
			}
		}
	}
	fmt.Printf("Calls that make entries, the mean of %d, %d rounds in turn, microseconds:\n\n", each, count)
	fmt.Println("| call | outside, median | inside, median | inside, min | inside, max |")
	fmt.Println("|---|---|---|---|---|")
	for i, k := range all {
		out, in := slices.Sorted(slices.Values(took[false][i])), slices.Sorted(slices.Values(took[true][i]))
		fmt.Printf("| %s | %.1f | %.1f | %.1f | %.1f |\n", k.name, rounds.At(out, 0.5), rounds.At(in, 0.5), in[0], in[len(in)-1])
	}
	fmt.Println()
	return nil
}

// program is a program to measure: a script with two arguments, the directory for its output and a directory in memory.
type program struct{ name, script string }

// reportPrograms prints the time of programs that make many files.
func (s *scene) reportPrograms(ctx context.Context, count int) error {
	clone := program{"git clone of 10,000 files", `git clone -q --no-hardlinks repository "$1/made"`}
	install := program{
		fmt.Sprintf("npm ci of %d packages", packages),
		`cp -r packages "$1/made" && cd "$1/made" && npm ci --offline --cache "$OLDPWD/npm-cache" --no-audit --no-fund --no-update-notifier --loglevel=error >&2`,
	}
	memory := []program{clone, {"tar -x of 10,000 files", `mkdir "$1/made"; tar -xf files.tar -C "$1/made"`}}
	// A sandbox permits no new repository in the work tree.
	disk := []program{{"git clone of 10,000 files, the repository in memory", `git clone -q --bare --no-hardlinks repository "$2/bare" && mkdir "$1/made" &&
		export GIT_DIR="$2/bare" GIT_WORK_TREE="$1/made" && git read-tree HEAD && git checkout-index -q -a`}}
	if _, err := exec.LookPath("npm"); err == nil {
		if err := s.preparePackages(ctx); err != nil {
			return err
		}
		memory, disk = append(memory, install), append(disk, install)
	} else {
		fmt.Fprintln(os.Stderr, "entries: without npm ci:", err)
	}
	err := s.reportIn(ctx, "Programs that make many files, in memory", memory, count, s.memory)
	if err != nil {
		return err
	}
	return s.reportIn(ctx, "The same on the disk", disk, count, func(bool) string { return s.project })
}

// reportIn prints the time of programs that create files in a directory; the directory differs inside and outside.
func (s *scene) reportIn(ctx context.Context, title string, programs []program, count int, dir func(inside bool) string) error {
	group := rounds.Group{Title: title, Warm: 1, Rounds: count}
	for _, p := range programs {
		for _, inside := range []bool{false, true} {
			c := &rounds.Contender{
				Name: p.name + ", outside",
				Do: func(ctx context.Context) error {
					_, err := s.run(ctx, inside, "bash", "-ec", p.script, "bash", dir(inside), s.memory(inside))
					return err
				},
				Undo: func(context.Context) error {
					return errors.Join(os.RemoveAll(s.outside+"/made"), os.RemoveAll(s.outside+"/bare"), os.RemoveAll(s.project+"/made"))
				},
			}
			if inside {
				c.Name, c.Against = p.name+", inside", p.name+", outside"
			}
			group.All = append(group.All, c)
		}
	}
	return rounds.Table(ctx, group)
}
