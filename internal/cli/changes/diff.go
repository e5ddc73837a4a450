package changes

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/stage"
	"github.com/seed434b0696/agent-sandbox/internal/stage/patch"
)

// diffFlags are the flags of diff.
type diffFlags struct{ stat, nameStatus, json bool }

// changeDocument is a change as JSON, which cannot hold a path that is not UTF-8.
type changeDocument struct {
	stage.Change
	Base64 string `json:"path_base64,omitempty"` // the path's bytes, when they are not UTF-8
}

// diffDocument is the JSON that diff --json prints for a stage.
type diffDocument struct {
	Stage   string           `json:"stage"`
	Changes []changeDocument `json:"changes"`

	host.HiddenFiles
}

func newChangeDocuments(changes []stage.Change) []changeDocument {
	docs := make([]changeDocument, len(changes))
	for i, c := range changes {
		docs[i] = changeDocument{Change: c, Base64: encodePath(c.Path)}
	}
	return docs
}

// encodePath returns the Base64 of a path that JSON cannot hold; otherwise "".
func encodePath(path string) string {
	if utf8.ValidString(path) {
		return ""
	}
	return base64.StdEncoding.EncodeToString([]byte(path))
}

// NewDiff returns the command diff, which shows the changes of a persistent sandbox or a stage.
func NewDiff(a *console.App) *cobra.Command {
	cmd := newDiff(a, false)
	cmd.Short = "show the changes of a sandbox or a stage"
	cmd.Long = `NAME is a persistent sandbox, or a stage of this workspace; without it, the stage called default, or the
only one. ` + patchText + `
Of a sandbox in memory --name-status also lists changes in other directories.`
	cmd.Example = `agent-sandbox diff
agent-sandbox diff work
agent-sandbox diff --stat work src
agent-sandbox diff --json | jq '.changes[] | select(.conflict)'`
	return cmd
}

// newStageDiff returns the command stage diff: diff, for stages only.
func newStageDiff(a *console.App) *cobra.Command {
	cmd := newDiff(a, true)
	cmd.Short = "show what a stage would change in the workspace"
	cmd.Long = patchText + ` Without a NAME it is the stage called default, or the only one.`
	cmd.Example = `agent-sandbox stage diff
agent-sandbox stage diff --stat
agent-sandbox stage diff upgrade src/main.go
agent-sandbox stage diff --json | jq '.changes[] | select(.conflict)'`
	return cmd
}

const patchText = `Prints a patch that 'git apply' and 'patch -p1' take: files, links and executable
bits; a binary file is one line. --name-status also lists what a patch cannot hold, such as an
empty directory.`

func newDiff(a *console.App, stagesOnly bool) *cobra.Command {
	var f diffFlags
	s := selection{stagesOnly: stagesOnly}
	cmd := &cobra.Command{
		Use:               "diff [flags] [NAME] [--] [PATH...]",
		ValidArgsFunction: s.complete(a),
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := countTrue(f.stat, f.nameStatus, f.json); n > 1 {
				return console.UsageError(cmd.CommandPath(), "--stat, --name-status and --json exclude each other")
			}
			return s.use(cmd, a, args, func(ctx context.Context, t target) error {
				switch {
				case t.memory != nil:
					return diffMemory(ctx, a, &f, t.memory, t.paths)
				case t.stage == nil:
					return nil
				}
				return diffStage(a, &f, t.stage, t.scope.inside(t.stage, t.paths))
			})
		},
	}
	s.register(cmd)
	cmd.Flags().BoolVar(&f.stat, "stat", false, "print how much changes in each file")
	cmd.Flags().BoolVar(&f.nameStatus, "name-status", false, "print one line per path: A created, M modified, D deleted, T another type")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
	return console.Describe(cmd, console.ExitSimple)
}

func countTrue(flags ...bool) (n int) {
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}

func diffStage(a *console.App, f *diffFlags, st *stage.Stage, paths []string) error {
	changes, err := st.Diff()
	if err != nil {
		return err
	}
	names, err := st.Hidden(changes)
	if err != nil {
		return err
	}
	hidden := host.NewHiddenFiles(names)
	if !f.json {
		defer hidden.Print(a.Err)
	}
	if len(paths) > 0 {
		changes = slices.DeleteFunc(changes, func(c stage.Change) bool {
			full := filepath.Join(st.Workspace, c.Path)
			return !slices.ContainsFunc(paths, func(p string) bool { return isWithin(full, p) })
		})
	}
	switch {
	case f.json:
		return a.PrintJSON(diffDocument{Stage: st.Name, Changes: newChangeDocuments(changes), HiddenFiles: hidden})
	case f.nameStatus:
		for _, c := range changes {
			fmt.Fprintf(a.Out, "%s\t%s\n", letters[c.Kind], patch.Quote(c.Path))
		}
		return nil
	case f.stat:
		return statStage(a, st, changes)
	}
	return patchStage(a, st, changes)
}

// letters are git's names for the kinds of changes.
var letters = map[patch.Kind]string{patch.Created: "A", patch.Modified: "M", patch.Deleted: "D", patch.Retyped: "T"}

func patchStage(a *console.App, st *stage.Stage, changes []stage.Change) error {
	w := newPatchWriter(a)
	if err := errors.Join(st.WritePatch(w, changes), w.flush()); err != nil {
		return err
	}
	hidden, conflicts := 0, 0
	for _, c := range changes {
		if !c.IsPatchable() {
			hidden++
		}
		if c.Conflict != "" {
			conflicts++
		}
	}
	remarkPatch(a, hidden, conflicts, "agent-sandbox stage apply --dry-run")
	return nil
}

// newPatchWriter returns a patchWriter to standard output.
func newPatchWriter(a *console.App) *patchWriter {
	terminal := console.IsTerminal(a.Stdio.Stdout)
	return &patchWriter{out: a.Out, terminal: terminal, color: terminal && console.CanHaveColor(a.Stdio.Stdout, a.Env)}
}

// remarkPatch reports changes that a patch omits, and the command that shows conflicts.
func remarkPatch(a *console.App, hidden, conflicts int, command string) {
	if hidden > 0 {
		a.Err.Say(console.Count(hidden, "change") + " no patch can show: see --name-status")
	}
	if conflicts > 0 {
		a.Err.Say(console.Count(conflicts, "conflict") + " with what changed in the workspace meanwhile: see '" + command + "'")
	}
}

func statStage(a *console.App, st *stage.Stage, changes []stage.Change) error {
	lines, err := st.CountLines(changes)
	if err == nil {
		printStat(a, changes, lines)
	}
	return err
}

func printStat(a *console.App, changes []stage.Change, lines []stage.Lines) {
	var total stage.Lines
	var rows [][]string
	for i, c := range changes {
		total.Added += lines[i].Added
		total.Removed += lines[i].Removed
		rows = append(rows, []string{" " + patch.Quote(c.Path), "| " + formatStat(c, lines[i])})
	}
	if len(rows) > 0 {
		a.PrintColumns(rows)
	}
	fmt.Fprintf(a.Out, " %s, %s(+), %s(-)\n", console.Count(len(changes), "change"), console.Count(total.Added, "insertion"), console.Count(total.Removed, "deletion"))
}

// formatStat formats the size of a change.
func formatStat(c stage.Change, lines stage.Lines) string {
	text := fmt.Sprintf("+%d -%d", lines.Added, lines.Removed)
	switch {
	case c.Binary:
		text = fmt.Sprintf("binary, %d to %d bytes", entrySize(c.Old), entrySize(c.New))
	case c.Kind == patch.Modified && !c.Content:
		return fmt.Sprintf("mode %04o to %04o", c.Old.Mode, c.New.Mode)
	case lines == stage.Lines{}:
		text = string(c.Kind) + " " + string(typeOf(c))
	}
	if c.Kind == patch.Modified && c.Old.Mode != c.New.Mode {
		text += fmt.Sprintf(", mode %04o to %04o", c.Old.Mode, c.New.Mode)
	}
	return text
}

func entrySize(e *stage.Entry) int64 {
	if e == nil {
		return 0
	}
	return e.Size
}

// typeOf returns the file type after the change, or before a removal.
func typeOf(c stage.Change) patch.Type {
	if c.New != nil {
		return c.New.Type
	}
	return c.Old.Type
}
