package shell

import (
	"bytes"
	"io"
	"path"
	"strings"
	"syscall"

	"github.com/seed434b0696/agent-sandbox/internal/memory/fd"
)

// runProgram runs a registered command, or the file at a path, and waits for it.
func (sh *interp) runProgram(c *Command, file string, args []string) int {
	if c == nil {
		return sh.runFile(file, args, 0)
	}
	p := sh.proc(args)
	p.command = c
	return sh.runProc(p)
}

// proc returns a program's view of this process.
func (sh *interp) proc(args []string) *Proc {
	p := &Proc{Args: args, sh: sh, ctx: sh.ctx}
	p.as = asker{sh, p}
	p.Stdin, p.Stdout, p.Stderr = sh.stream(sh.ctx, 0), sh.stream(sh.ctx, 1), sh.stream(sh.ctx, 2)
	return p
}

// maxInterpreters bounds scripts that are the interpreters of scripts.
const maxInterpreters = 4

// runFile runs a file: what its first line names, or a shell.
func (sh *interp) runFile(file string, args []string, depth int) int {
	text, err := sh.readScript(file)
	if err != nil && sh.ctx.Err() != nil {
		sh.die(sh.ctx)
		return sh.status
	}
	if err != nil {
		sh.errorf("%s: %s", args[0], Strerror(err))
		return 126
	}
	line, _, _ := strings.Cut(text, "\n")
	if name, ok := strings.CutPrefix(line, stubMagic); ok {
		if c := sh.m.command(name); c != nil {
			return sh.runProgram(c, file, args)
		}
	}
	if args[0] != file && !strings.Contains(args[0], "/") {
		// A script sees the path it was found at.
		args = append([]string{file}, args[1:]...)
	}
	if interp, ok := strings.CutPrefix(line, "#!"); ok {
		return sh.runInterpreter(strings.TrimSpace(interp), file, args, depth)
	}
	if strings.IndexByte(line, 0) >= 0 {
		sh.errorf("%s: cannot execute binary file: Exec format error", args[0])
		return 126
	}
	p := sh.proc(args)
	c := sh.forProc(p)
	defer c.close()
	return c.runNested(nestedArgs{name: file, script: text, params: args[1:], file: file})
}

// stubMagic begins a file that stands for a registered command; its name follows.
const stubMagic = "\x7fELF\x02\x01 in memory: "

// Stub returns the content of a file that, when it is executed, runs the registered command: what
// stands in /usr/bin so that scripts find programs where they look for them.
func Stub(name string) []byte { return []byte(stubMagic + name + "\n\x00") }

// runInterpreter runs the program of a "#!" line.
func (sh *interp) runInterpreter(line, file string, args []string, depth int) int {
	prog, arg, _ := strings.Cut(line, " ")
	arg = strings.TrimSpace(arg)
	if depth >= maxInterpreters {
		sh.errorf("%s: %s: bad interpreter: %s", args[0], prog, Strerror(syscall.ELOOP))
		return 126
	}
	list := []string{prog}
	if arg != "" {
		list = append(list, arg)
	}
	list = append(append(list, file), args[1:]...)
	c, found, err := sh.programAt(prog)
	if err != nil {
		if path.Base(prog) == "env" && sh.m.command("env") == nil && arg != "" {
			list = list[1:]
			c, found, err = sh.findCommand(arg)
		}
		if err != nil {
			if Errno(err) == syscall.ENOENT {
				sh.errorf("%s: cannot execute: required file not found", args[0])
				return 127
			}
			sh.errorf("%s: %s: bad interpreter: %s", args[0], prog, Strerror(err))
			return 126
		}
	}
	if c != nil {
		return sh.runProgram(c, found, list)
	}
	return sh.runFile(found, list, depth+1)
}

// readScript returns the content of a script.
func (sh *interp) readScript(file string) (string, error) {
	d, err := sh.openFile(file, 0)
	if err != nil {
		return "", err
	}
	defer d.Unref()
	return sh.readAll(d)
}

// readAll reads to the end, as far as a script may be long.
func (sh *interp) readAll(d *fd.Description) (string, error) {
	var b bytes.Buffer
	buf := make([]byte, 32<<10)
	for {
		n, err := d.Read(sh.ctx, buf)
		b.Write(buf[:n])
		if int64(b.Len()) > sh.m.limits.Source {
			return "", syscall.EFBIG
		}
		if err == io.EOF { //nolint:errorlint // Readers return it as it is.
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		if !sh.burn(n >> 6) { // a trap that exits would be taken for an error of the file's
			return "", syscall.EINTR
		}
	}
}
