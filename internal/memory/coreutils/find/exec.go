package find

import (
	"fmt"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/quoting"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

// exec reads -exec, -execdir, -ok and -okdir with their commands.
func (p *findParser) exec(w, _ string) predicate {
	p.acts = true
	inDir, ask := strings.HasSuffix(w, "dir"), strings.HasPrefix(w, "-ok")
	var command []string
	p.pos-- // first is a word of the command like the others
	many := false
	for {
		if p.pos >= len(p.words) {
			p.fault("missing argument to `%s'", w)
			return nil
		}
		a := p.words[p.pos]
		p.pos++
		if a == ";" {
			break
		}
		if a == "+" && len(command) > 0 && command[len(command)-1] == "{}" && !ask {
			many = true
			break
		}
		if a == "+" && len(command) > 0 && strings.Contains(command[len(command)-1], "{}") && !ask {
			p.fault("In '%s ... {} +' the '{}' must appear by itself, but you specified '%s'", w, command[len(command)-1])
			return nil
		}
		command = append(command, a) // bounded: a word for an argument, which the shell has charged
	}
	if len(command) == 0 {
		p.fault("invalid argument `;' to `%s'", w)
		return nil
	}
	if many && !p.checkMany(w, command) {
		return nil
	}
	if inDir && !p.safePath(w) {
		return nil
	}
	if many {
		b := &execBatch{finder: p.finder, command: command[:len(command)-1], inDir: inDir}
		p.batches = append(p.batches, b)
		return b.add
	}
	return func(e *findEntry) bool { return e.runCommand(command, inDir, ask) }
}

// checkMany refuses more than one {} before +, and one within a word.
func (p *findParser) checkMany(w string, command []string) bool {
	for _, a := range command[:len(command)-1] {
		switch {
		case a == "{}":
			p.fault("Only one instance of {} is supported with %s ... +", w)
			return false
		case strings.Contains(a, "{}"):
			p.fault("In '%s ... {} +' the '{}' must appear by itself, but you specified '%s'", w, a)
			return false
		}
	}
	return true
}

// safePath refuses -execdir with a PATH that depends on the directory.
func (p *findParser) safePath(w string) bool {
	for dir := range strings.SplitSeq(p.proc.Getenv("PATH"), ":") {
		switch {
		case strings.HasPrefix(dir, "/"):
		case p.proc.Getenv("PATH") == "":
		case dir == "" || dir == ".":
			p.fault("The current directory is included in the PATH environment variable, which is insecure in combination with "+
				"the %s action of find.  Please remove the current directory from your $PATH (that is, remove \".\", doubled "+
				"colons, or leading or trailing colons)", w)
			return false
		default:
			p.fault("The relative path %s is included in the PATH environment variable, which is insecure in combination with the "+
				"%s action of find.  Please remove that entry from $PATH", quoting.Name(dir), w)
			return false
		}
	}
	return true
}

// place returns the directory of an entry, and how it is called there.
func (e *findEntry) place() (dir, name string) {
	trimmed := strings.TrimRight(e.path, "/")
	if trimmed == "" {
		return "/", "/"
	}
	dir = pathname.Dir(e.path)
	return dir, "./" + e.name()
}

func (e *findEntry) runCommand(command []string, inDir, ask bool) bool {
	dir, path := "", e.path
	if inDir {
		dir, path = e.place()
	}
	if ask && !e.finder.confirm(command, path) {
		return false
	}
	args := make([]string, len(command))
	for i, a := range command {
		args[i] = strings.ReplaceAll(a, "{}", path)
	}
	return e.finder.launch(args, dir, ask) == 0
}

// confirm asks as -ok does.
func (f *finder) confirm(command []string, path string) bool {
	_ = f.out.Flush() // The error stays in out.
	fmt.Fprintf(f.proc.Stderr, "< %s ... %s > ? ", command[0], path)
	line, _ := program.ReadAnswer(f.proc.Stdin)
	return line != "" && (line[0] == 'y' || line[0] == 'Y')
}

// launch runs a command and returns its exit status.
func (f *finder) launch(args []string, dir string, quiet bool) int {
	if err := f.proc.Spend(8); err != nil {
		f.err = err
		return 1
	}
	// Write earlier results before the command's output.
	if err := f.out.Flush(); err != nil {
		return 1
	}
	if _, err := program.Find(f.proc, nil, args[0], dir); err != nil {
		f.proc.Warn("%s: %s", quoting.Name(args[0]), shell.Strerror(err))
		return 1
	}
	status := f.proc.Run(shell.Spawn{Args: args, Dir: dir, Null: quiet})
	if err := f.proc.Context().Err(); err != nil {
		f.err = err
	}
	return status
}

// execBatch is a command that takes many files at once.
type execBatch struct {
	finder  *finder
	command []string
	inDir   bool
	dir     string
	files   []string
	bytes   int
}

// batchBytes bounds the arguments of one command, in bytes.
const batchBytes = 128 << 10

func (b *execBatch) add(e *findEntry) bool {
	path := e.path
	if b.inDir {
		var dir string
		dir, path = e.place()
		if dir != b.dir {
			b.run()
			b.dir = dir
		}
	}
	if b.bytes+len(path)+1 > batchBytes {
		b.run()
	}
	b.files = append(b.files, path)
	b.bytes += len(path) + 1 + 8
	return true
}

// run runs the command with the files that have come together.
func (b *execBatch) run() {
	if len(b.files) == 0 || b.finder.err != nil {
		return
	}
	args := append(append([]string(nil), b.command...), b.files...)
	b.files, b.bytes = b.files[:0], 0
	if b.finder.launch(args, b.dir, false) != 0 {
		b.finder.status = 1
	}
}
