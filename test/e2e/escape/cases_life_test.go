//go:build linux

package escape_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

func secrets() []escape {
	const row = "env secret / LD_PRELOAD"
	var env []string
	for _, n := range []string{
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
		"NPM_TOKEN", "DATABASE_PASSWORD", "MY_SECRET", "SSH_AUTH_SOCK", "KUBECONFIG_TOKEN", "STRIPE_KEY", "PGPASSWORD",
		"AZURE_CLIENT_SECRET", "SLACK_WEBHOOK_SECRET", "DOCKER_AUTH_CONFIG", "VAULT_TOKEN", "CI_JOB_TOKEN",
	} {
		env = append(env, n+"="+canary)
	}
	var loader []string
	for _, n := range []string{
		"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "NODE_OPTIONS", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "BASH_ENV", "ENV",
		"GIT_CONFIG_GLOBAL", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "PROMPT_COMMAND", "JAVA_TOOL_OPTIONS",
	} {
		loader = append(loader, n+"=/"+canary)
	}
	var files []string
	for _, f := range secretFiles {
		files = append(files, "{home}/"+f)
	}
	return []escape{
		{ID: "F24.1", Name: "no secret of the environment is seen", Matrix: row, Env: env, Sh: `env; tr '\0' '\n' </proc/self/environ`},
		{ID: "F24.2", Name: "no loader variable is seen", Matrix: row, Env: loader, Sh: `/usr/bin/env; export -p`},
		{
			ID: "F24.3", Name: "no environment or argument of another process holds a secret", Matrix: row,
			Env: env, Flags: []string{"--env", "PLAIN=1"},
			Sh: processesScript + `for f in $procs/environ $procs/cmdline $procs/task/*/environ; do tr '\0' '\n' <$f; done 2>/dev/null; true`,
		},
		{
			ID: "F24.4", Name: "no file with keys, tokens or history is read", Matrix: "read ~/.ssh key",
			Sh: `for f in ` + strings.Join(files, " ") + `; do cat $f; cat /proc/self/root$f; dd if=$f; done; grep -r CANARY {home}/.ssh {home}/.aws {home}/.config; true`,
		},
		{
			ID: "F24.5", Name: "a proxy's credentials in the environment are not seen", Matrix: row,
			Env: []string{"HTTPS_PROXY=http://user:" + canary + "@proxy:3128", "http_proxy=http://user:" + canary + "@proxy:3128", "PIP_INDEX_URL=https://u:" + canary + "@pypi"},
			Sh:  `env`,
		},
	}
}

// survivorsScript starts processes that leave the command's session and ignore signals.
const survivorsScript = `(setsid sh -c 'trap "" TERM INT HUP QUIT; {attacker} sleep' </dev/null >/dev/null 2>&1 &)
	(setsid setsid sh -c 'exec {attacker} sleep' </dev/null >/dev/null 2>&1 &)
	sh -c 'nohup {attacker} sleep </dev/null >/dev/null 2>&1 &'; sleep 0.3; `

func lifecycle() []escape {
	const row = "background process survives"
	note := func(h *host, _ *attempt) { h.found = h.processes() }
	survived := func(h *host, _ outcome) error { return h.waitGone(h.found) }
	killWith := func(sig syscall.Signal) func(*host, *attempt) {
		return func(h *host, p *attempt) {
			note(h, p)
			_ = p.cmd.Process.Signal(sig)
		}
	}
	list := `ls -A . .git .vscode src ignored | sort`
	limit := func(h *host, o outcome) error {
		refused := o.code == 2 && strings.Contains(o.stderr, "Cannot fork") // a failure of the shell itself, at the limit of processes
		if !o.tried() && !refused && o.code != 124 && o.code != 125 && o.code != 137 {
			return fmt.Errorf("neither ran to its end, nor was killed or refused: %d", o.code)
		}
		return nil
	}
	return []escape{
		{ID: "F25.1", Name: "nothing runs on when the command has ended", Matrix: row, Sh: survivorsScript},
		{
			ID: "F25.2", Name: "nothing runs on when agent-sandbox is killed by SIGKILL", Matrix: row, Ends: true,
			Sh: survivorsScript + `echo ready; read go; cat`, During: killWith(syscall.SIGKILL), Hold: survived,
		},
		{
			ID: "F25.3", Name: "nothing runs on when agent-sandbox is killed by SIGTERM", Matrix: row, Ends: true,
			Sh: survivorsScript + `echo ready; read go; cat`, During: killWith(syscall.SIGTERM), Hold: survived,
		},
		{
			ID: "F25.4", Name: "the wall-clock limit ends the whole tree with 124", Matrix: row, Ends: true,
			Flags: []string{"--limit", "wall=2s"},
			Sh:    survivorsScript + `trap '' TERM INT HUP; echo ready; read go; {attacker} sleep`, During: note,
			Hold: func(h *host, o outcome) error {
				err := survived(h, o)
				if o.code != 124 {
					err = errors.Join(err, fmt.Errorf("exit code %d, want 124", o.code))
				}
				return err
			},
			Control: control{Flags: []string{"--limit", "wall=60s"}, None: "without the limit it would last for ever"},
		},
		{
			ID: "F25.5", Name: "a stopped tree is ended by the wall-clock limit all the same", Matrix: row, Ends: true,
			Flags: []string{"--limit", "wall=2s"},
			Sh:    processesScript + `[ $inside ] || exit; ` + survivorsScript + `kill -STOP 1 2>/dev/null; kill -STOP $PPID 2>/dev/null; kill -STOP $$`,
			Hold: func(_ *host, o outcome) error {
				if o.code != 124 {
					return fmt.Errorf("exit code %d, want 124", o.code)
				}
				return nil
			},
			Control: control{None: "it would stop this test"},
		},
		{
			ID: "F25.6", Name: "no more processes than the limit run at one time", Ends: true, Hold: limit,
			Flags: []string{"--limit", "pids=64"}, Go: []string{"fork", "{processes}"},
		},
		{
			ID: "F25.7", Name: "a fork bomb ends with the sandbox", Ends: true, Hold: limit,
			Flags:   []string{"--limit", "pids=100", "--limit", "wall=5s"},
			Sh:      `f() { f | f & }; f; sleep 2; echo tried`,
			Control: control{None: "a fork bomb on the host"},
		},
		{
			ID: "F25.8", Name: "no more output than the limit gets out", Flags: []string{"--limit", "output=100KiB"}, Ends: true,
			Sh: `head -c 3000000 /dev/zero | tr '\0' x; head -c 3000000 /dev/zero | tr '\0' x >&2`,
			Hold: func(_ *host, o outcome) error {
				if n := len(o.stdout) + len(o.stderr); n > 110<<10 {
					return fmt.Errorf("%d bytes got out", n)
				}
				return nil
			},
		},
		{
			ID: "F25.9", Name: "more memory than the limit is not had", Ends: true, Hold: limit,
			Flags: []string{"--limit", "memory=64MiB"},
			Sh:    `x=$(head -c 200000000 /dev/zero | tr '\0' x) && [ ${#x} -gt 100000000 ] && echo OPEN ${#x} bytes`,
		},
		{
			ID: "F25.10", Name: "nothing is in the tree that was not there, while it runs", Matrix: "leftover files in ws afterwards",
			Sh: list + ` >/dev/null; echo ready; read go`,
			During: func(h *host, p *attempt) {
				changed, err := h.changes(h.work)
				if err != nil || len(changed) > 0 {
					h.vars["during"] = fmt.Sprintf("%v %q", err, changed)
				}
			},
			Hold: func(h *host, _ outcome) error {
				err := h.checkUnchanged("")
				if d := h.vars["during"]; d != "" {
					err = errors.Join(err, fmt.Errorf("while it ran: %s", d))
				}
				return err
			},
			Control: control{None: "see F25.11"},
		},
		{
			ID: "F25.11", Name: "nothing is left in the tree when agent-sandbox is killed by SIGKILL", Matrix: "leftover files in ws afterwards",
			Sh: `for n in .mcp.json .envrc .git/hooks/x .claude; do echo x >$n; mkdir $n; done; echo ready; read go; cat`, Ends: true,
			During: killWith(syscall.SIGKILL),
			Hold:   func(h *host, o outcome) error { return errors.Join(survived(h, o), h.checkUnchanged("")) },
		},
		{
			ID: "F25.12", Name: "nothing is left in the directory for temporary files", Sh: `echo x >f`,
			Hold:    func(h *host, _ outcome) error { return empty(h.tmp) },
			Control: control{Setup: func(h *host) { h.write("tmp/left", "x") }},
		},
		{
			ID: "F25.13", Name: "nothing is left for temporary files after SIGKILL", Ends: true,
			Sh: `echo ready; read go; cat`, During: killWith(syscall.SIGKILL),
			Hold:    func(h *host, o outcome) error { return errors.Join(survived(h, o), empty(h.tmp)) },
			Control: control{Setup: func(h *host) { h.write("tmp/left", "x") }},
		},
		{
			ID: "F25.14", Name: "two sandboxes in one directory protect it both and to the end", Matrix: "rename .git + new hook on host",
			Sh: `echo ready; read go; ` + hookScript + `.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; echo x >.mcp.json; mv .git .git2`,
			During: func(h *host, p *attempt) {
				// A second sandbox begins and ends while the first runs.
				if p.inside {
					_ = h.command(h.work, h.exec("--", "sh", "-c", "echo x >.envrc; echo x >second")...).Run()
				}
			},
			Hold: holdAll(holdGitSafe(), holdAbsent("{work}/.mcp.json", "{work}/.envrc")),
		},
		{
			ID: "F25.18", Name: "calls that no guard answers any more create nothing", Ends: true,
			Setup: func(h *host) { h.runScript("mkdir -p packages/app") },
			Sh: `for n in 1 2 3 4; do (while :; do (echo x >.mcp.json; mkdir .husky; echo x >packages/app/.envrc; ln -s x .envrc; mkdir -p new/.git) 2>/dev/null; done) & done
				{attacker} create open src/ordinary >/dev/null; [ -e src/ordinary ] || echo BROKEN no ordinary name; echo ready; read go; wait`,
			During: func(h *host, p *attempt) {
				note(h, p)
				h.killGuards(p)
			},
			Hold: holdAll(survived, holdAbsent("{work}/.mcp.json", "{work}/.husky", "{work}/packages/app/.envrc", "{work}/.envrc", "{work}/new/.git")),
		},
		{
			ID: "F25.17", Name: "the exit code cannot be forged", Ends: true,
			Sh: processesScript + `for f in $procs/fd/*; do case $f in */0|*/1|*/2) ;; *)
				timeout 1 sh -c 'printf "{ \"exit-code\": 0 }\n" >>$0' $f 2>/dev/null;; esac; done; echo tried; exit 7`,
			Hold: func(_ *host, o outcome) error {
				if o.code != 7 {
					return fmt.Errorf("exit code %d, want 7", o.code)
				}
				return nil
			},
			Control: control{None: "no exit code is written to a pipe without a sandbox"},
		},
		{
			ID: "F25.15", Name: "a working directory that has been deleted is refused", Ends: true,
			Launch: []string{"/bin/sh", "-c", "mkdir d; cd d; rmdir ../d; {start} /bin/sh -c 'echo x >{home}/planted; echo tried'"},
			Args:   []string{"/bin/sh", "-c", "mkdir d; cd d; rmdir ../d; echo x >{home}/planted; echo tried"},
			Hold: func(_ *host, o outcome) error {
				if o.tried() || o.code != 125 {
					return errors.New("want exit code 125, and nothing run")
				}
				return nil
			},
		},
		{
			ID: "F25.16", Name: "a crash inside leaves no core outside of the tree",
			Sh: `ulimit -c unlimited; sh -c 'kill -SEGV $$'; true`, Control: control{None: "where cores go is the host's setting"},
		},
	}
}

// outputFiles returns attempts to lead the files that agent-sandbox writes itself elsewhere.
func outputFiles() []escape {
	refused := func(_ *host, o outcome) error {
		if o.code != 125 || o.tried() {
			return fmt.Errorf("exit code %d, want 125 and nothing run", o.code)
		}
		return nil
	}
	var out []escape
	for i, c := range []struct{ flag, name, plant string }{
		{"--events", "a link in the tree does not lead --events to a file of the host", "ln -s ../.bashrc out"},
		{"--record", "a link in the tree does not lead --record to a file of the host", "ln -s ../.bashrc out"},
		{"--events", "a link of a directory in the tree does not lead --events to a file of the host", "ln -s .. d; ln -s d/.bashrc out"},
		{"--events", "a FIFO in the tree does not make --events wait", "mkfifo out"},
		{"--record", "a FIFO in the tree does not make --record wait", "mkfifo out"},
	} {
		out = append(out, escape{
			ID: fmt.Sprintf("F25.%d", 19+i), Name: c.name, Ends: true, Flags: []string{c.flag, "out"}, Sh: "echo x >.mcp.json",
			Setup: func(h *host) { h.runScript(c.plant) }, Hold: refused,
			Control: control{Flags: []string{c.flag, "other"}},
		})
	}
	return out
}

func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return fmt.Errorf("%s is not empty (%w): %v", filepath.Base(dir), err, entries)
	}
	return nil
}
