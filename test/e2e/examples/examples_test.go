//go:build linux

// Package examples_test runs the examples of the README, of docs/getting-started.md and of each command's help, as a plain
// user in a fresh home.
package examples_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
	"github.com/seed434b0696/agent-sandbox/test/programs"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

const (
	top       = "../../.."
	plainUser = 1000 // the user ID of the examples when the tests run as root
)

// example is a line that a user can type, and where it stands.
type example struct{ origin, line string }

// preparations are made before an example whose line matches; all that match, in this order.
var preparations = []struct{ line, script string }{
	{`exec (--json )?-- go vet`, `rm -r examples`},
	{`'echo hello > notes.txt`, `git rm -q notes.txt && git commit -qm first`},
	{
		`^agent-sandbox (apply|discard)( [^w]|$)|^agent-sandbox diff|^agent-sandbox stage (apply|diff|discard|list)`,
		`agent-sandbox exec --stage -- sh -c 'echo "// x" >> src/main.go; echo bye > notes.txt; echo >> package.json'`,
	},
	{` upgrade\b`, `agent-sandbox exec --stage=upgrade -- sh -c 'echo "// x" >> src/main.go; echo >> package.json'`},
	{`src/gone`, `agent-sandbox exec -C ~/src/gone --stage -- touch new`},
	{`\bwork\b`, `[[ $LINE = *" create "* ]] || agent-sandbox create --stage work`},
	{`\bwork:|(diff|apply).* work`, `agent-sandbox exec --in work -- sh -c 'mkdir dist; echo > dist/x; echo > /tmp/result.json; echo >> package.json; echo >> src/main.go'`},
	{` try( |$)`, `[[ $LINE = *" create "* ]] || agent-sandbox create --stage try`},
	{`(restore|--snapshot|--remove).* before-upgrade`, `name=work; [[ $LINE != *" try "* ]] || name=try; agent-sandbox snapshot $name before-upgrade`},
	{`start work`, `agent-sandbox stop work`},
	{`^agent-sandbox thaw`, `agent-sandbox freeze work`},
	{`^agent-sandbox trust`, `cp -r examples/assistants/* . && echo '{}' > .agent-sandbox.json`},
	{`trust --remove`, `agent-sandbox trust --yes`},
	{`^agent-sandbox import$`, `rm fence.json ~/.srt-settings.json`},
	{`pip install`, `python3 -m venv .venv`},
}

// outcomes are the statuses of examples that do not end with 0, or not everywhere.
var outcomes = []struct {
	line, reason string
	status       []int
}{
	{`-- cat ~/.ssh/id_ed25519$|cp /bin/true .git/hooks/pre-commit$`, "it shows a refusal", []int{1}},
	{`exec (-q )?-- curl `, "it shows a refusal", []int{6}},
	{`--allow (example.com|api.github.com) .*curl `, "a machine without a network does not reach the server", []int{0, 6, 56}},
	{`check && echo`, "outside a sandbox the status is 1", []int{1}},
	{`selftest$|doctor --verify$`, "HOME is not the home of the account here, which selftest says", []int{0, 1}},
}

// tools are programs of examples that a machine may lack.
var tools = []string{"jq", "npm", "pip", "go", "make", "curl"}

// asks is an example that asks on a terminal.
var asks = regexp.MustCompile(`^agent-sandbox trust( assistants/coder)?$`)

const (
	engine  = "needs a container engine: test/e2e/docker runs these commands"
	cluster = "needs a cluster: test/e2e/command runs these commands in pods"
	agent   = "needs a coding agent and its model: test/e2e/network runs it"
	model   = "needs a model: test/e2e/agent runs assistants"
	install = "changes the machine"
)

// excluded are the examples that this test does not run to a good end, and why. One that ends well is an error, unless it would
// change the machine.
var excluded = []struct{ line, reason string }{
	{`\bsudo\b`, install},
	{`^make build$`, "it builds the programs, which are built already"},
	{`--backend kube`, cluster},
	{`^agent-sandbox (build|build-base|init|show-run|codex-init-config|codex-logout|volume prune)\b|\bdocker volume`, engine},
	{`--branch feat/search|start --build|checkout feat/search`, engine},
	{`(^|-- |agent-sandbox )(claude|codex|cursor)( |$)`, agent},
	{`agent-sandbox agent run `, model},
	{`agent chats .*refactoring`, model},
}

func Test_Examples_Run_As_A_Plain_User(t *testing.T) {
	require.Driver(t, bwrap.New(bwrap.Options{DataDir: parent(t)}))
	p := newPlace(t)
	examples := collect(t, p)
	if len(examples) < 150 {
		t.Errorf("only %d examples were found", len(examples))
	}
	checkPatterns(t, examples)
	for _, x := range examples {
		t.Run(x.line, func(t *testing.T) {
			t.Parallel()
			for _, tool := range tools {
				if regexp.MustCompile(`\b`+tool+`\b`).MatchString(x.line) && exclusion(x.line) == "" {
					require.Command(t, tool, "")
				}
			}
			u := p.newUser(t)
			u.env = append(u.env, "LINE="+x.line)
			for _, rule := range preparations {
				if regexp.MustCompile(rule.line).MatchString(x.line) {
					if out := u.run(t, "bash", "-euo", "pipefail", "-c", rule.script); out.code != 0 {
						t.Fatalf("%s: prepared with %d\n%s", x.origin, out.code, out.text)
					}
				}
			}
			reason := exclusion(x.line)
			if reason == install {
				return
			}
			line := []string{"bash", "-o", "pipefail", "-c", x.line}
			if asks.MatchString(x.line) {
				line = []string{"bash", "-c", `script -qec "$LINE" /dev/null <<<yes`}
			}
			out := u.run(t, line...)
			switch {
			case reason != "" && out.code == 0:
				t.Errorf("%s: %s\nis excluded (%s), and runs", x.origin, x.line, reason)
			case reason == "" && !slices.Contains(statuses(x.line), out.code):
				t.Errorf("%s: %s\nends with %d, expected one of %d\n%s", x.origin, x.line, out.code, statuses(x.line), out.text)
			}
		})
	}
}

// checkPatterns checks that each entry of the lists above is about an example.
func checkPatterns(t *testing.T, examples []example) {
	t.Helper()
	var patterns []string
	for _, x := range preparations {
		patterns = append(patterns, x.line)
	}
	for _, x := range outcomes {
		patterns = append(patterns, x.line)
	}
	for _, x := range excluded {
		patterns = append(patterns, x.line)
	}
	for _, p := range patterns {
		if !slices.ContainsFunc(examples, func(x example) bool { return regexp.MustCompile(p).MatchString(x.line) }) {
			t.Errorf("no example matches %q", p)
		}
	}
}

// exclusion returns why an example does not run here; "": it does.
func exclusion(line string) string {
	for _, x := range excluded {
		if regexp.MustCompile(x.line).MatchString(line) {
			return x.reason
		}
	}
	return ""
}

// statuses returns the exit statuses that an example may have.
func statuses(line string) []int {
	for _, x := range outcomes {
		if regexp.MustCompile(x.line).MatchString(line) {
			return x.status
		}
	}
	return []int{0}
}

// collect returns all examples, each line once.
func collect(t *testing.T, p *place) []example {
	t.Helper()
	var all []example
	add := func(origin, line string) {
		if line = strings.TrimSpace(line); line != "" && !slices.ContainsFunc(all, func(x example) bool { return x.line == line }) {
			all = append(all, example{origin, line})
		}
	}
	for _, name := range []string{"README.md", "docs/getting-started.md"} {
		data, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range codeBlock.FindAllStringSubmatch(string(data), -1) {
			for line := range strings.Lines(strings.ReplaceAll(block[2], "\\\n", "")) {
				line, isCommand := strings.CutPrefix(line, "$ ")
				line, _, _ = strings.Cut(line, "   #")
				if isCommand || block[1] == "sh" {
					add(name, line)
				}
			}
		}
	}
	for _, words := range p.commands(t) {
		text := p.help(t, words...)
		for line := range strings.Lines(section(text, "EXAMPLES")) {
			add(strings.Join(words, " ")+" --help", line)
		}
	}
	return all
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```(console|sh)\n(.*?)^```$")
	heading   = regexp.MustCompile(`(?m)^[A-Z]`)
	names     = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*(?:, [a-z][a-z-]*)*)(?:  |$)`)
)

// section returns the part of a help below a heading.
func section(text, name string) string {
	_, rest, _ := strings.Cut("\n"+text, "\n"+name+"\n")
	if next := heading.FindStringIndex(rest); next != nil {
		rest = rest[:next[0]]
	}
	return rest
}

// commands returns the words of each command and subcommand.
func (p *place) commands(t *testing.T) [][]string {
	t.Helper()
	all := [][]string{nil}
	for _, m := range names.FindAllStringSubmatch(p.help(t), -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			all = append(all, []string{name})
			for _, sub := range names.FindAllStringSubmatch(section(p.help(t, name), "COMMANDS"), -1) {
				all = append(all, []string{name, sub[1]})
			}
		}
	}
	return all
}

func (p *place) help(t *testing.T, words ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), filepath.Join(p.bin, programs.CommandWithAgent), append(words, "--help")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q --help: %v\n%s", words, err, out)
	}
	return string(out)
}

// place has the programs and the home directory that each example gets a copy of.
type place struct {
	base, bin string
	template  user
	number    atomic.Int32
}

// user is a plain user with a home directory, and a project below it.
type user struct {
	home, project string
	env           []string
	uid           int
}

// parent returns a directory below which every user can reach files. In a sandbox /tmp is another one.
func parent(t *testing.T) string {
	t.Helper()
	if os.Getuid() == 0 {
		return "/srv"
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	return home
}

func newPlace(t *testing.T) *place {
	t.Helper()
	base, err := os.MkdirTemp(parent(t), "agent-sandbox-examples-") //nolint:usetesting // below /tmp a sandbox has its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command("chmod", "-R", "u+w", base).Run() //nolint:noctx // the context of the test has ended
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	p := &place{base: base, bin: filepath.Join(base, "bin")}
	root, err := filepath.Abs(top)
	err = errors.Join(err, os.Chmod(base, 0o755), os.MkdirAll(filepath.Join(base, "top"), 0o755),
		os.CopyFS(filepath.Join(base, "top", "examples"), os.DirFS(filepath.Join(root, "examples"))),
		programs.Install(t.Context(), p.bin, programs.Command, programs.CommandInMemory, programs.CommandWithPods, programs.CommandWithAgent, programs.Hooks))
	if err != nil {
		t.Fatal(err)
	}
	p.template = p.userAt(t, filepath.Join(base, "template"))
	script, err := os.ReadFile("testdata/prepare.sh")
	if err != nil {
		t.Fatal(err)
	}
	p.template.env = append(p.template.env, "TOP="+filepath.Join(base, "top"))
	if err := errors.Join(os.MkdirAll(p.template.project, 0o755), chown(p.template.home, p.template.uid)); err != nil {
		t.Fatal(err)
	}
	if out := p.template.run(t, "bash", "-euc", string(script)); out.code != 0 {
		t.Fatalf("prepare.sh: %d\n%s", out.code, out.text)
	}
	return p
}

func (p *place) userAt(t *testing.T, home string) user {
	t.Helper()
	u := user{home: home, project: filepath.Join(home, "src", "project"), uid: os.Getuid()}
	if u.uid == 0 {
		u.uid = plainUser
	}
	u.env = []string{
		"HOME=" + home, "USER=me", "LANG=C.UTF-8", "TERM=xterm-256color", "NO_COLOR=1",
		"PATH=" + p.bin + ":" + home + "/src/project/.venv/bin:/usr/local/go/bin:/usr/bin:/bin",
		"DOCKER_HOST=unix:///nowhere", "KUBECONFIG=/nowhere", "GITHUB_TOKEN=canary",
	}
	return u
}

// newUser returns a user with a copy of the prepared home directory, whose sandboxes end with the test.
func (p *place) newUser(t *testing.T) user {
	t.Helper()
	u := p.userAt(t, filepath.Join(p.base, fmt.Sprint("home-", p.number.Add(1))))
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", p.template.home, u.home).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		out := u.runWith(context.WithoutCancel(t.Context()), t, "bash", "-c", `for name in $(agent-sandbox list --json | jq -r '.[].name'); do agent-sandbox destroy "$name" || exit; done`)
		if out.code != 0 {
			t.Errorf("destroy: %d\n%s", out.code, out.text)
		}
	})
	return u
}

func chown(dir string, uid int) error {
	return filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(name, uid, uid)
		}
		return err
	})
}

// outcome is what a command printed, and its exit status.
type outcome struct {
	code int
	text string
}

func (u user) run(t *testing.T, command ...string) outcome {
	t.Helper()
	return u.runWith(t.Context(), t, command...)
}

func (u user) runWith(ctx context.Context, t *testing.T, command ...string) outcome {
	t.Helper()
	stop := syscall.SIGINT    // Ctrl-C
	if signal.Ignored(stop) { // as for a command that a script starts in the background
		stop = syscall.SIGTERM
	}
	ctx, cancel := context.WithTimeout(ctx, deadline.Scale(time.Minute))
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = u.project, u.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(u.uid), Gid: uint32(u.uid)}
	}
	var out output
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, 10*time.Second
	err := cmd.Start()
	if err == nil {
		out.started(func() { _ = syscall.Kill(-cmd.Process.Pid, stop) })
		err = cmd.Wait()
	}
	if cmd.ProcessState == nil || ctx.Err() != nil {
		return outcome{-1, fmt.Sprint(err, ctx.Err(), out.text.String())}
	}
	return outcome{cmd.ProcessState.ExitCode(), out.text.String()}
}

// listening is what a command prints when it forwards a port, until Ctrl-C.
var listening = regexp.MustCompile(`127\.0\.0\.1:[0-9]+ is forwarded `)

// output is what a command prints. It is interrupted when it says that it forwards a port.
type output struct {
	mu        sync.Mutex
	text      bytes.Buffer
	interrupt func()
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.text.Write(data)
	o.check()
	return n, err
}

func (o *output) started(interrupt func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.interrupt = interrupt
	o.check()
}

func (o *output) check() {
	if o.interrupt != nil && listening.Match(o.text.Bytes()) {
		o.interrupt()
		o.interrupt = nil
	}
}
