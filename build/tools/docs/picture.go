package main

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// shown are the commands of the picture, in a repository with one commit, a key in ~/.ssh and a token in the environment.
var shown = []string{
	`agent-sandbox exec -- sh -c 'echo hello > notes.txt && git add notes.txt && git commit -qm notes && git log --format=%s'`,
	`agent-sandbox exec -- cat ~/.ssh/id_ed25519`,
	`agent-sandbox exec -- cp /bin/true .git/hooks/pre-commit`,
	`agent-sandbox exec -q -- curl -sS https://example.com`,
	`agent-sandbox exec -q -- git push --force origin main`,
}

const (
	columns    = 123
	cellWidth  = 8.0
	lineHeight = 19
	margin     = 18
	titleBar   = 34
)

// writePicture runs the commands with program and draws their output as a terminal.
func writePicture(program, out string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	// A sandbox has its own /tmp, so the repository must be elsewhere.
	base, err := os.MkdirTemp(cache, "agent-sandbox-picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	if program, err = filepath.EvalSymlinks(program); err != nil {
		return err
	}
	session, err := record(filepath.Join(base, "me"), program)
	if err != nil {
		return err
	}
	return os.WriteFile(out, []byte(draw(session)), 0o644)
}

// line is one line of the terminal with its CSS class.
type line struct{ class, text string }

// record makes the repository below home, runs the commands there and returns what a terminal shows.
func record(home, program string) ([]line, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	shell := func(script string) (string, error) {
		cmd := exec.CommandContext(ctx, "bash", "-c", script)
		cmd.Dir = home
		cmd.Env = []string{
			"HOME=" + home, "USER=me", "LANG=C.UTF-8", "GITHUB_TOKEN=secret",
			"PATH=" + filepath.Dir(program) + ":/usr/local/bin:/usr/bin:/bin", "XDG_CONFIG_HOME=" + home + "/.config",
		}
		text, err := cmd.CombinedOutput()
		return strings.ReplaceAll(string(text), home, "/home/me"), err
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		return nil, err
	}
	text, err := shell(`mkdir -p .ssh shop && echo key > .ssh/id_ed25519 && git config --global user.name Me &&
		git config --global user.email me@example.com && cd shop && git init -qb main && echo '{}' > package.json &&
		git add . && git commit -qm first`)
	if err != nil {
		return nil, fmt.Errorf("make the repository: %w\n%s", err, text)
	}
	var lines []line
	for _, command := range shown {
		lines = append(lines, wrap("command", "$ "+command)...)
		text, err := shell("cd shop && " + command)
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			return nil, err
		}
		for text := range strings.Lines(text) {
			lines = append(lines, wrap(classOf(text), strings.TrimRight(text, "\n"))...)
		}
	}
	return lines, nil
}

var refusal = regexp.MustCompile(`^(agent-sandbox:|hint:|  )`)

func classOf(text string) string {
	if refusal.MatchString(text) {
		return "report"
	}
	return "output"
}

// wrap splits a line that is longer than the terminal is wide, as a terminal does.
func wrap(class, text string) []line {
	var lines []line
	for runes := []rune(text); ; runes = runes[columns:] {
		if len(runes) <= columns {
			return append(lines, line{class, string(runes)})
		}
		lines = append(lines, line{class, string(runes[:columns])})
	}
}

// draw returns the lines as an SVG of a terminal.
func draw(lines []line) string {
	width := int(columns*cellWidth) + 2*margin
	height := titleBar + len(lines)*lineHeight + margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" role="img">
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre }
.command { fill: #e6edf3; font-weight: bold } .output { fill: #b1bac4 } .report { fill: #f0b72f }
</style>
<rect width="100%%" height="100%%" rx="9" fill="#0d1117"/>
<circle cx="20" cy="17" r="6" fill="#ff5f57"/><circle cx="40" cy="17" r="6" fill="#febc2e"/><circle cx="60" cy="17" r="6" fill="#28c840"/>
`, width, height, width)
	for i, l := range lines {
		fmt.Fprintf(&b, `<text class="%s" x="%d" y="%d" textLength="%.0f" xml:space="preserve">%s</text>`+"\n",
			l.class, margin, titleBar+(i+1)*lineHeight-5, float64(len([]rune(l.text)))*cellWidth, html.EscapeString(l.text))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
