// Vsh runs a script in a machine in memory that holds a copy of the current directory, so that
// suites written for programs can measure the shell:
//
//	vsh [-times n] -c SCRIPT [NAME [ARG...]]
//	vsh FILE [ARG...]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils"
	"github.com/seed434b0696/agent-sandbox/internal/memory/zone"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
	"github.com/seed434b0696/agent-sandbox/memory/vfs"
)

func main() {
	status, err := run(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "vsh:", err)
		os.Exit(125)
	}
	os.Exit(status)
}

func run(args []string) (int, error) {
	flags := flag.NewFlagSet("vsh", flag.ContinueOnError)
	command := flags.Bool("c", false, "the first argument is the script")
	times := flags.Int("times", 0, "run it so often, and print the best time in microseconds on standard error")
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	rest := flags.Args()
	if len(rest) == 0 {
		return 0, fmt.Errorf("no script")
	}
	script := shell.Script{Text: rest[0], Exit: true, Wait: true}
	if *command {
		script.Args = rest[1:]
		if len(rest) > 1 {
			script.Args = rest[2:]
		}
	} else {
		text, err := os.ReadFile(rest[0])
		if err != nil {
			return 0, err
		}
		script.Text, script.Name, script.Args = string(text), rest[0], rest[1:]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	sh, err := machine(*times > 0)
	if err != nil {
		return 0, err
	}
	defer sh.Close()
	if *times > 0 {
		return measure(ctx, sh, script, *times)
	}
	res, err := sh.RunScript(ctx, script, shell.Stdio{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	return res.Status, err
}

// measure runs the script again and again.
func measure(ctx context.Context, sh *shell.Shell, script shell.Script, times int) (int, error) {
	best := time.Duration(1 << 62)
	var res shell.Result
	for i := range times {
		out := io.Discard
		if i == 0 {
			out = os.Stdout
		}
		begin := time.Now()
		var err error
		if res, err = sh.RunScript(ctx, script, shell.Stdio{Stdout: out, Stderr: os.Stderr}); err != nil {
			return 0, err
		}
		best = min(best, time.Since(begin))
	}
	fmt.Fprintf(os.Stderr, "%.3f us\n", float64(best.Nanoseconds())/1000)
	return res.Status, nil
}

// machine returns a shell with the commands, the environment and a copy of the current directory.
func machine(big bool) (*shell.Shell, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	limits := vfs.Limits{Bytes: 1 << 30, FileBytes: 1 << 30, Nodes: 1 << 20}
	tree := vfs.New(vfs.Options{Limits: limits})
	commands := coreutils.Commands()
	if err := system(tree, commands); err != nil {
		return nil, err
	}
	if err := copyIn(tree, dir); err != nil {
		return nil, err
	}
	l := shell.Limits{}
	if big {
		l.Fuel, l.Bytes = -1, 1<<30
	}
	return shell.New(shell.Options{
		FS: tree, Env: os.Environ(), Dir: dir, Commands: commands, Limits: l, Zone: zone.Load,
	}), nil
}

// system creates the files that programs expect.
func system(tree *vfs.FS, commands []shell.Command) error {
	root := vfs.Cred{}
	for _, d := range []string{"/tmp", "/usr/bin", "/usr/local/bin", "/etc", "/root", "/home", "/var/tmp"} {
		if err := tree.MkdirAll(root, d, 0o755); err != nil {
			return err
		}
	}
	if err := tree.Chmod(root, "/tmp", 0o777|fs.ModeSticky); err != nil {
		return err
	}
	if err := tree.Symlink(root, "usr/bin", "/bin"); err != nil {
		return err
	}
	if err := shell.AddDevices(tree); err != nil {
		return err
	}
	files := map[string][]byte{"/etc/passwd": []byte("root:x:0:0:root:/root:/bin/bash\n"), "/etc/group": []byte("root:x:0:\n"), "/etc/hosts": nil}
	for _, c := range commands {
		for _, n := range append([]string{c.Name}, c.Aliases...) {
			files["/usr/bin/"+n] = shell.Stub(n)
		}
	}
	for _, n := range []string{"bash", "sh", "dash"} {
		files["/usr/bin/"+n] = shell.Stub(n)
	}
	for name, data := range files {
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(name, "/usr/bin/") {
			mode = 0o755
		}
		if err := write(tree, name, data, mode); err != nil {
			return err
		}
	}
	return nil
}

func write(tree *vfs.FS, name string, data []byte, mode fs.FileMode) error {
	f, err := tree.OpenFile(context.Background(), vfs.Cred{}, name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Close()
}

// copyIn copies a directory of the host to the same place in the tree.
func copyIn(tree *vfs.FS, dir string) error {
	root := vfs.Cred{}
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir():
			return tree.MkdirAll(root, name, info.Mode().Perm())
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			return tree.Symlink(root, target, name)
		case d.Type().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return write(tree, name, data, info.Mode().Perm())
		}
		return nil
	})
}
