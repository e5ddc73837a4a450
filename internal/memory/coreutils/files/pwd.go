package files

import (
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/pathname"
	"github.com/seed434b0696/agent-sandbox/internal/memory/coreutils/program"
	"github.com/seed434b0696/agent-sandbox/internal/memory/getopt"
	"github.com/seed434b0696/agent-sandbox/memory/shell"
)

func pwdCommand() program.Description {
	return program.Description{
		Name: "pwd", Usage: "[OPTION]...",
		Summary: "print the path of the working directory",
		Help: `  -L, --logical   that of PWD, with links, if it leads there
  -P, --physical  without links; this is what pwd does without options`,
		Run: runPwd,
	}
}

var pwdOptions = []getopt.Option{{Short: 'L', Long: "logical"}, {Short: 'P', Long: "physical"}}

func runPwd(p *shell.Proc) int {
	o := program.NewOptions(p, pwdCommand, pwdOptions)
	_, logical := p.LookupEnv("POSIXLY_CORRECT")
	for o.Next() {
		logical = o.ID == 'L'
	}
	if o.HasEnded() {
		return o.Status
	}
	if len(o.Args()) > 0 {
		p.Warn("ignoring non-option arguments")
	}
	out := program.NewOutput(p)
	dir, err := pathname.WorkingDir(p)
	if err != nil {
		p.Warn("%s", shell.Strerror(err))
		return 1
	}
	if logical && isOtherName(p, p.Getenv("PWD"), dir) {
		dir = p.Getenv("PWD")
	}
	_, _ = out.WriteString(dir + "\n") // The error stays in out.
	return out.Close(0)
}

// isOtherName reports whether path is absolute, without dots, and another name of dir.
func isOtherName(p *shell.Proc, path, dir string) bool {
	if !strings.HasPrefix(path, "/") || strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../") {
		return false
	}
	a, err := p.Stat(path)
	if err != nil {
		return false
	}
	b, err := p.Stat(dir)
	return err == nil && a.Ino == b.Ino
}
