package docs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/test/programs"
	"github.com/seed434b0696/agent-sandbox/test/require"
)

// maxREADME is the largest size at which readers read the whole README.
const maxREADME = 8000

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(top, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func Test_The_README_Is_Short(t *testing.T) {
	t.Parallel()
	if n := len(readme(t)); n > maxREADME {
		t.Errorf("README.md has %d bytes; at most %d are allowed", n, maxREADME)
	}
}

// blocks returns the code blocks of a language.
func blocks(text, language string) []string {
	var all []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

func Test_The_Go_Code_Of_The_README_Runs(t *testing.T) {
	t.Parallel()
	require.Command(t, "bwrap", "bwrap")
	code := blocks(readme(t), "go")
	if len(code) == 0 {
		t.Fatal("README.md has no Go code")
	}
	root, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]string{}
	var packages []string
	for i, block := range code {
		name := "readme" + string(rune('a'+i))
		file := filepath.Join(t.TempDir(), "main.go")
		source := `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/seed434b0696/agent-sandbox/backend/bwrap"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func main() {
	dir, err := os.Getwd()
	if err == nil {
		err = run(context.Background(), dir)
	}
	if err != nil {
		fmt.Println(err)
	}
}

func run(ctx context.Context, dir string) error {
` + block + "\nreturn nil\n}\n"
		if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(root, "test", "docs", name, "main.go")] = file
		packages = append(packages, "./test/docs/"+name)
	}
	// A module that is downloaded carries no guest.
	carried, err := filepath.Glob(filepath.Join(root, "internal", "guest", "program", "bin", "*.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range carried {
		overlay[name] = ""
	}
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(list, data, 0o644); err != nil {
		t.Fatal(err)
	}
	programs, project := t.TempDir(), t.TempDir()
	build := exec.CommandContext(t.Context(), "go", append([]string{"build", "-overlay", list, "-o", programs + "/"}, packages...)...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(project, "Makefile"), []byte("test:\n\t@pwd\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		run := exec.CommandContext(t.Context(), filepath.Join(programs, filepath.Base(p)))
		run.Dir, run.Env = project, append(os.Environ(), "HOME="+t.TempDir())
		if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "no guest program: "+filepath.Base(p)+" carries none") {
			t.Errorf("without the guest: %v\n%s", err, out)
		}
	}
	guest := exec.CommandContext(t.Context(), "go", "build", "-o", programs, "./cmd/sandbox-guest") // as the README says
	guest.Dir, guest.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := guest.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range packages {
		run := exec.CommandContext(t.Context(), filepath.Join(programs, filepath.Base(p)))
		run.Dir, run.Env = project, append(os.Environ(), "HOME="+t.TempDir())
		if out, err := run.CombinedOutput(); err != nil || string(out) != "0 "+project+"\n\n" {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

// step is a command of a console block with its output in the page.
type step struct{ command, output string }

// steps returns the commands of a page's console blocks.
func steps(text string) []step {
	var all []step
	for _, block := range blocks(text, "console") {
		for line := range strings.Lines(block) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				all = append(all, step{command: strings.TrimSpace(command)})
			} else if len(all) > 0 {
				all[len(all)-1].output += line
			}
		}
	}
	return all
}

// The words of agent-sandbox may change; a command's own output may not.
var ownWords = regexp.MustCompile(`(?m)^(agent-sandbox: |hint: |  ).*\n`)

func Test_Pages_Show_The_Output_Of_Their_Commands(t *testing.T) {
	t.Parallel()
	base := scratch(t)
	programs := installed(t, base)
	home := filepath.Join(base, "me")
	shell := func(dir, script string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + home, "USER=me", "LC_ALL=C", "PATH=" + programs + ":/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin:/bin"}
		out, err := cmd.CombinedOutput()
		return strings.ReplaceAll(string(out), home, "/home/me"), err
	}
	if out, err := shell(base, "mkdir -p $HOME/.ssh $HOME/shop"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := shell(home, `echo key > .ssh/id_ed25519 && git config --global user.name Me && git config --global user.email me@example.com &&
		cd shop && git init -qb main && echo '{}' > package.json && git add . && git commit -qm first`); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := shell(home+"/shop", "agent-sandbox doctor"); err != nil {
		t.Skipf("sandboxes cannot run here:\n%s", out)
	}
	t.Cleanup(func() {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), filepath.Join(programs, "agent-sandbox"), "destroy", "work")
		cmd.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		_ = cmd.Run() // the session has destroyed it
	})
	for _, name := range []string{"README.md", "docs/memory.md"} {
		checkSession(t, name, func(command string) (string, error) { return shell(home+"/shop", command) })
	}
}

// checkSession runs the commands of a page and compares their output with the page, or writes it with -update.
func checkSession(t *testing.T, name string, run func(command string) (string, error)) {
	t.Helper()
	file := filepath.Join(top, name)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, s := range steps(text) {
		out, err := run(s.command)
		if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
			t.Fatal(err)
		}
		if *update {
			text = strings.Replace(text, "$ "+s.command+"\n"+s.output, "$ "+s.command+"\n"+out, 1)
			continue
		}
		if got, want := ownWords.ReplaceAllString(out, ""), ownWords.ReplaceAllString(s.output, ""); got != want {
			t.Errorf("%s\nprints: %s%s shows: %s", s.command, out, name, s.output)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// scratch returns a directory outside /tmp, which sandboxes replace by their own.
func scratch(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(cache, "agent-sandbox-docs-") //nolint:usetesting // t.TempDir is in /tmp
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// installed returns a directory with the programs.
func installed(t *testing.T, base string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the programs; run go test ./test/docs without -short")
	}
	dir := filepath.Join(base, "bin")
	if err := programs.Install(t.Context(), dir, programs.Command, programs.CommandInMemory, programs.CommandWithPods, programs.CommandWithAgent); err != nil {
		t.Fatal(err)
	}
	return dir
}

var (
	invocation = regexp.MustCompile(`\bagent-sandbox((?: [a-z][a-z-]*)+)((?: [^\n|;&]*)?)`)
	longFlag   = regexp.MustCompile(`(?:^|\s)(--[a-z][a-z-]*)`)
)

func Test_Documents_Name_Commands_And_Flags_That_Exist(t *testing.T) {
	t.Parallel()
	program := filepath.Join(installed(t, scratch(t)), programs.CommandWithAgent)
	help := map[string]string{}
	ask := func(words ...string) string {
		key := strings.Join(words, " ")
		if text, ok := help[key]; ok {
			return text
		}
		out, err := exec.CommandContext(t.Context(), program, append(words, "--help")...).CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("agent-sandbox "+key)) {
			out = nil
		}
		help[key] = string(out)
		return help[key]
	}
	for _, p := range pages(t) {
		if p.name == "CHANGELOG.md" {
			continue
		}
		for _, code := range append(codeBlock.FindAllString(p.text, -1), spans(p.prose)...) {
			code = strings.ReplaceAll(code, "\\\n", " ")
			for _, m := range invocation.FindAllStringSubmatch(code, -1) {
				words := strings.Fields(m[1])
				if slices.Contains(guestCommands, words[0]) && strings.HasPrefix(p.name, "docs/design/") {
					continue
				}
				text := ask(words[0])
				if text == "" {
					t.Errorf("%s names the command %q, which does not exist", p.name, "agent-sandbox "+words[0])
					continue
				}
				if len(words) > 1 && strings.Contains(text, "\nCOMMANDS\n") {
					if text = ask(words[:2]...); text == "" {
						t.Errorf("%s names the command %q, which does not exist", p.name, "agent-sandbox "+strings.Join(words[:2], " "))
						continue
					}
				}
				args, _, _ := strings.Cut(m[2]+" ", " -- ")
				for _, f := range longFlag.FindAllStringSubmatch(args, -1) {
					if !regexp.MustCompile(regexp.QuoteMeta(f[1]) + `\b`).MatchString(text) {
						t.Errorf("%s: %s has no flag %s", p.name, strings.TrimSpace(m[0]), f[1])
					}
				}
			}
		}
	}
}

// guestCommands are the commands of the program in a sandbox, where it is also called agent-sandbox.
var guestCommands = []string{"bridge", "join", "pod", "store"}

// spans returns the inline code spans of a page.
func spans(prose string) []string {
	var all []string
	for _, m := range span.FindAllStringSubmatch(prose, -1) {
		all = append(all, m[1])
	}
	return all
}
