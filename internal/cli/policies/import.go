package policies

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/configimport"
	"github.com/seed434b0696/agent-sandbox/internal/hostfile"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// importFlags are the flags of import.
type importFlags struct {
	from, output  string
	partial, json bool
}

// importDocument is the JSON that import --json prints.
type importDocument struct {
	Tool     configimport.Tool   `json:"tool"`
	Files    []string            `json:"files"`
	Complete bool                `json:"complete"`         // every restriction of the settings is enforced
	Policy   *sandbox.Policy     `json:"policy,omitempty"` // only when complete or with --partial
	Origins  map[string]string   `json:"origins,omitempty"`
	Lacks    []configimport.Lack `json:"lacks"`
}

// NewImport returns the command import.
func NewImport(a *console.App) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import [flags] [FILE...]",
		Short: "convert settings of Claude Code, srt or fence to a policy",
		Long: `Prints a configuration with a comment behind each entry that names where it comes
from, and on stderr what has no exact equivalent. Without a FILE, reads the usual
places. Several FILEs are for Claude Code only: later ones win.

A grant that cannot be expressed is not given. When a restriction cannot be
expressed, nothing but the list is printed, unless --partial says that the rest
is wanted all the same.`,
		Example: `agent-sandbox import
agent-sandbox import --from claude -o .agent-sandbox.json
agent-sandbox import --partial ~/.srt-settings.json
agent-sandbox import --json fence.json | jq .lacks`,
		Args: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "") {
				return console.UsageError(cmd.CommandPath(), "the name of a file is empty")
			}
			if f.json && f.output != "" {
				return console.UsageError(cmd.CommandPath(), "--json prints, and -o writes a configuration: choose one")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return importSettings(a, f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "the `TOOL` whose settings they are: claude, srt or fence")
	flags.StringVarP(&f.output, "output", "o", "", "write to `FILE`, which must not exist")
	flags.BoolVar(&f.partial, "partial", false, "accept that restrictions are missing")
	flags.BoolVar(&f.json, "json", false, "print one JSON document")
	console.Describe(cmd, `  0    done
  1    a restriction has no equivalent, and --partial was not given
  125  something went wrong`)
	tools := func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return []string{"claude", "srt", "fence"}, cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("from", tools); err != nil {
		panic(err) // only if the flag is missing
	}
	return cmd
}

func importSettings(a *console.App, f importFlags, args []string) error {
	h, err := host.Locate(a.Env, "")
	if err != nil {
		return err
	}
	from := foreignHost(a, h)
	var tool configimport.Tool
	if f.from != "" {
		if tool, err = configimport.ParseTool(f.from); err != nil {
			return err
		}
	}
	var files []configimport.File
	if len(args) > 0 {
		tool, files, err = readNamed(from, tool, args)
	} else {
		tool, files, err = findSettings(from, tool)
	}
	if err != nil {
		return err
	}
	result, err := configimport.Import(tool, files, from)
	if err != nil {
		return err
	}
	return printImport(a, f, result, files)
}

func foreignHost(a *console.App, h host.Host) configimport.Host {
	return configimport.Host{
		Home: h.Home, Dir: h.Workspace,
		ConfigHome: console.Lookup(a.Env, "XDG_CONFIG_HOME"), ClaudeDir: console.Lookup(a.Env, "CLAUDE_CONFIG_DIR"),
		Read: policy.ReadConfig,
		List: func(dir string) []string {
			entries, _ := os.ReadDir(dir) // the tool cannot list the directory either
			names := make([]string, len(entries))
			for i, e := range entries {
				names[i] = e.Name()
			}
			return names
		},
	}
}

// readNamed reads the files of the command line, which must belong to one tool.
func readNamed(from configimport.Host, tool configimport.Tool, args []string) (configimport.Tool, []configimport.File, error) {
	var files []configimport.File
	guess := tool == ""
	for _, name := range args {
		if !filepath.IsAbs(name) {
			name = filepath.Join(from.Dir, name)
		}
		data, err := policy.ReadConfig(name)
		if err != nil {
			return "", nil, err
		}
		files = append(files, configimport.File{Name: name, Data: data})
		if !guess {
			continue
		}
		t, err := configimport.Guess(name, data)
		if err != nil {
			return "", nil, err
		}
		if tool != "" && t != tool {
			return "", nil, sandbox.Errorf(sandbox.Invalid, "these are settings of %s and of %s", tool, t).
				WithHint("import them one by one")
		}
		tool = t
	}
	if len(files) > 1 && tool != configimport.Claude {
		return "", nil, sandbox.Errorf(sandbox.Invalid, "several files can only be settings of claude, not of %s", tool).
			WithHint("import them one by one")
	}
	return tool, files, nil
}

// findSettings reads the default places of one tool, or of the only one that has settings.
func findSettings(from configimport.Host, tool configimport.Tool) (configimport.Tool, []configimport.File, error) {
	tools := configimport.Tools()
	if tool != "" {
		tools = []configimport.Tool{tool}
	}
	found := map[configimport.Tool][]configimport.File{}
	var names []string
	for _, t := range tools {
		files, err := readPlaces(from, t)
		if err != nil {
			return "", nil, err
		}
		if len(files) > 0 {
			found[t], tool = files, t
			names = append(names, string(t))
		}
	}
	switch len(names) {
	case 0:
		return "", nil, sandbox.Errorf(sandbox.NotFound, "no settings of %s in their usual places", joinTools(tools)).
			WithHint("name the file")
	case 1:
		return tool, found[tool], nil
	}
	return "", nil, sandbox.Errorf(sandbox.Invalid, "there are settings of %s", strings.Join(names, " and of ")).
		WithHint("choose one with --from")
}

func joinTools(tools []configimport.Tool) string {
	var names []string
	for _, t := range tools {
		names = append(names, string(t))
	}
	return strings.Join(names, ", ")
}

func readPlaces(from configimport.Host, tool configimport.Tool) ([]configimport.File, error) {
	var files []configimport.File
	for _, group := range from.Places(tool) {
		for _, name := range group {
			data, err := policy.ReadConfig(name)
			if errors.Is(err, sandbox.ErrNotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			files = append(files, configimport.File{Name: name, Data: data})
			if tool != configimport.Claude {
				return files, nil
			}
			break
		}
	}
	return files, nil
}

func printImport(a *console.App, f importFlags, r *configimport.Result, files []configimport.File) error {
	wanted := r.IsComplete() || f.partial
	var err error
	switch {
	case f.json:
		doc := importDocument{Tool: r.Tool, Complete: r.IsComplete(), Lacks: r.Lacks}
		if doc.Lacks == nil {
			doc.Lacks = []configimport.Lack{}
		}
		for _, file := range files {
			doc.Files = append(doc.Files, file.Name)
		}
		if wanted {
			doc.Policy, doc.Origins = &r.Policy, r.Origins()
		}
		err = a.PrintJSON(doc)
	case wanted && f.output != "":
		printLacks(a, r.Lacks)
		err = writeNew(a, f.output, r.JSONC())
	case wanted:
		printLacks(a, r.Lacks)
		_, err = a.Out.Write(r.JSONC())
	default:
		printLacks(a, r.Lacks)
		a.Err.Say("no policy was made, because it would allow what the settings forbid")
		a.Err.Line("hint: look at the restrictions above, then add --partial if the rest is wanted all the same")
	}
	if err == nil && !wanted {
		err = console.ExitStatus(1)
	}
	return err
}

// writeNew writes a file that must not exist yet.
func writeNew(a *console.App, name string, data []byte) error {
	dir, base, err := hostfile.OpenParent(name, false, host.WritableHere(a))
	if err != nil {
		return sandbox.Errorf(sandbox.Denied, "cannot write %s: %w", name, host.Cause(err))
	}
	defer dir.Close()
	out, err := dir.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return sandbox.Errorf(sandbox.Exists, "%s exists already", name).WithHint("remove it, or choose another name")
	}
	if err != nil {
		return sandbox.Errorf(sandbox.Denied, "cannot write %s: %w", name, host.Cause(err))
	}
	_, err = out.Write(data)
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(sandbox.Errorf(sandbox.Exhausted, "cannot write %s: %w", name, host.Cause(err)), dir.Remove(base))
	}
	return nil
}

// headings of the list of inexact translations.
var headings = map[configimport.Kind]string{
	configimport.Restriction: "restrictions that do NOT hold here",
	configimport.Unknown:     "unknown, ignored",
	configimport.Stricter:    "stricter here",
	configimport.Grant:       "not granted here",
	configimport.Moot:        "without effect here",
}

// shownValues is the number of values that one line of the list repeats.
const shownValues = 4

// printLacks lists what has no exact equivalent on stderr; entries of one list with one
// reason share a line.
func printLacks(a *console.App, lacks []configimport.Lack) {
	for _, kind := range configimport.Kinds() {
		groups := groupLacks(lacks, kind)
		if len(groups) == 0 {
			continue
		}
		a.Err.Say(headings[kind] + ":")
		for _, g := range groups {
			first := g[0]
			a.Err.Line("  " + lackTitle(g) + ": " + first.Why)
			if first.Nearest != "" {
				a.Err.Line("      nearest: " + first.Nearest)
			}
		}
	}
}

// lackTitle returns the subject of one line of the list: key, values and place.
func lackTitle(group []configimport.Lack) string {
	first := group[0]
	title := listOf(first.Key)
	var values []string
	for _, l := range group[:min(len(group), shownValues)] {
		if l.Value != "" {
			values = append(values, quoteShort(l.Value))
		}
	}
	if len(values) > 0 {
		title += " " + strings.Join(values, ", ")
	}
	if len(group) > shownValues {
		title += fmt.Sprintf(" and %d more", len(group)-shownValues)
	}
	if first.File != "" {
		title += fmt.Sprintf(" (%s:%d)", first.File, first.Line)
	}
	return title
}

func groupLacks(lacks []configimport.Lack, kind configimport.Kind) [][]configimport.Lack {
	var groups [][]configimport.Lack
	index := map[configimport.Lack]int{}
	for _, l := range lacks {
		if l.Kind != kind {
			continue
		}
		same := configimport.Lack{File: l.File, Key: listOf(l.Key), Why: l.Why, Nearest: l.Nearest}
		i, ok := index[same]
		if !ok {
			i = len(groups)
			index[same] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], l)
	}
	return groups
}

// listOf removes the index from a key.
func listOf(key string) string {
	if i := strings.LastIndexByte(key, '['); i > 0 && strings.HasSuffix(key, "]") {
		return key[:i]
	}
	return key
}

func quoteShort(s string) string {
	if r := []rune(s); len(r) > 60 {
		s = string(r[:60]) + "..."
	}
	return `"` + console.Escape(s) + `"`
}
