package policies

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/internal/repo"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// trustFlags are the flags of trust.
type trustFlags struct {
	remove, list, yes, json bool
}

// NewTrust returns the command trust.
func NewTrust(a *console.App) *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "trust [flags] [FILE|DIR]",
		Short: "trust a project's configuration, a Dockerfile or an assistant",
		Long: `A project's .agent-sandbox.json can only tighten the sandbox, because it may come
with a repository of others. This shows the file and what it would
open, asks, and remembers its exact content: any change takes the trust away.
The same is true of .agent-sandbox/config.json, and of .agent-sandbox/Dockerfile
with what lies beside it, whose steps 'build' runs; they are named as FILE. An
assistant is named by its directory or its package file: trusted are all its files
and the connectors beside it.`,
		Example: "agent-sandbox trust\nagent-sandbox trust --yes ~/src/project\nagent-sandbox trust assistants/coder\nagent-sandbox trust --list\nagent-sandbox trust --remove",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return console.UsageError(cmd.CommandPath(), "expected one file or directory, got %d", len(args))
			case f.list && (f.remove || f.yes || len(args) > 0):
				return console.UsageError(cmd.CommandPath(), "--list takes no other flag except --json, and no arguments")
			case f.remove && f.yes:
				return console.UsageError(cmd.CommandPath(), "--remove asks nothing, so --yes has no meaning with it")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return trustTarget(a, f, args) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.remove, "remove", false, "take the trust away again")
	flags.BoolVar(&f.list, "list", false, "list what is trusted")
	flags.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	flags.BoolVar(&f.json, "json", false, "with --list: print one JSON document")
	return console.Describe(cmd, `  0    done
  1    the answer was no
  125  something went wrong`)
}

func trustTarget(a *console.App, f trustFlags, args []string) error {
	target := ""
	if len(args) > 0 {
		target = args[0]
	}
	if dir, name, ok := locateAssistant(target); ok && target != "" {
		return trustedAssistant(a, f, dir, name, target)
	}
	h, err := locateTrust(a.Env, target)
	if err != nil {
		return err
	}
	store := &policy.Trust{Dir: h.TrustDir()}
	switch {
	case f.list:
		return listTrust(a, store, f.json)
	case f.remove:
		return removeTrust(a, store, h.Workspace, target)
	}
	if repo.IsDockerfile(target) {
		return addRecipe(a, store, repo.Repo{Path: h.Workspace}, f.yes)
	}
	file, err := projectFile(h.Workspace, target)
	if err != nil {
		return err
	}
	return addTrust(a, store, file, f.yes)
}

// locateTrust finds the directories, with the target's as working directory.
func locateTrust(env []string, target string) (host.Host, error) {
	if repo.IsConfigFile(target) || repo.IsDockerfile(target) {
		target = filepath.Dir(filepath.Dir(target))
	} else if isProjectName(target) {
		target = filepath.Dir(target)
	} else if info, err := os.Stat(target); target != "" && err == nil && !info.IsDir() {
		return host.Host{}, sandbox.Errorf(sandbox.Invalid, "%s is not a project's configuration", target).
			WithHint("its name is %s, and it is in the project's directory", projectNames[0])
	}
	return host.Locate(env, target)
}

var projectNames = []string{".agent-sandbox.json", ".agent-sandbox.jsonc"}

func isProjectName(name string) bool { return slices.Contains(projectNames, filepath.Base(name)) }

// projectFile finds the file in dir that target names.
func projectFile(dir, target string) (string, error) {
	if repo.IsConfigFile(target) {
		r := repo.Repo{Path: dir}
		return r.ConfigFile(), r.CheckDir()
	}
	if isProjectName(target) {
		return filepath.Join(dir, filepath.Base(target)), nil
	}
	var found []string
	for _, name := range projectNames {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			found = append(found, filepath.Join(dir, name))
		}
	}
	switch len(found) {
	case 0:
		return "", sandbox.Errorf(sandbox.NotFound, "no %s in %s", projectNames[0], dir)
	case 1:
		return found[0], nil
	}
	return "", sandbox.Errorf(sandbox.Invalid, "both %s and %s exist in %s", projectNames[0], projectNames[1], dir).
		WithHint("remove one of the two")
}

func addTrust(a *console.App, store *policy.Trust, file string, yes bool) error {
	data, err := policy.ReadConfig(file)
	if err != nil {
		return err
	}
	content, err := decodeProject(file, data)
	if err != nil {
		return err
	}
	switch trusted, err := store.Trusted(file, data); {
	case err != nil:
		return err
	case trusted:
		fmt.Fprintf(a.Out, "%s is trusted already\n", console.Escape(file))
		return nil
	}
	showProject(a, file, data, content)
	return confirmTrust(a, store, file, data, yes)
}

// confirmTrust trusts the shown content if the user agrees.
func confirmTrust(a *console.App, store *policy.Trust, file string, data []byte, yes bool) error {
	if a.Out.Err != nil {
		return a.Out.Err // the user cannot agree to content that was not shown
	}
	if !yes {
		if err := confirm(a); err != nil {
			return err
		}
	}
	// Trust data, which was shown, since the file may have changed.
	if err := store.Add(file, data); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s is trusted until it changes\n", console.Escape(file))
	return nil
}

// addRecipe implements addTrust for a repository's Dockerfile.
func addRecipe(a *console.App, store *policy.Trust, r repo.Repo, yes bool) error {
	recipe, err := r.Recipe()
	if err != nil {
		return err
	}
	defer recipe.Close()
	switch trusted, err := store.Trusted(recipe.File, recipe.Content()); {
	case err != nil:
		return err
	case trusted:
		fmt.Fprintf(a.Out, "%s is trusted already\n", console.Escape(recipe.File))
		return nil
	}
	showText(a, recipe.File, recipe.Dockerfile)
	fmt.Fprint(a.Out, "\nTrusted, its steps run in the container engine, with its network.\n")
	if len(recipe.Others) > 0 {
		fmt.Fprint(a.Out, "They can run what lies beside it:\n")
	}
	for _, line := range recipe.Others {
		fmt.Fprintf(a.Out, "  %s\n", console.Escape(line))
	}
	fmt.Fprintln(a.Out)
	return confirmTrust(a, store, recipe.File, recipe.Content(), yes)
}

// decodeProject reads a project's file as the policy that it is or, in a repository's directory, represents.
func decodeProject(file string, data []byte) (sandbox.Policy, error) {
	if repo.IsConfigFile(file) {
		c, err := repo.Decode(file, data)
		p := c.Policy()
		p.Network.Allow = append(p.Network.Allow, c.Firewall...) // what it opens
		return p, err
	}
	p, _, err := policy.Decode(file, data)
	return p, err
}

func showProject(a *console.App, file string, data []byte, content sandbox.Policy) {
	showText(a, file, data)
	asks := listOpenings(content)
	if len(asks) == 0 {
		fmt.Fprint(a.Out, "\nIt opens nothing: it works without trust, too.\n\n")
		return
	}
	fmt.Fprint(a.Out, "\nTrusted, it may open:\n")
	for _, line := range asks {
		fmt.Fprintf(a.Out, "  %s\n", console.Escape(line))
	}
	fmt.Fprintln(a.Out)
}

func showText(a *console.App, file string, data []byte) {
	fmt.Fprintf(a.Out, "%s\n\n", console.Escape(file))
	for line := range strings.Lines(string(data)) {
		fmt.Fprintf(a.Out, "  %s\n", console.Escape(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "    ")))
	}
}

// confirm asks on the terminal. Without a terminal it returns an error.
func confirm(a *console.App) error {
	if !console.IsTerminal(a.Stdio.Stdin) {
		return sandbox.Errorf(sandbox.Invalid, "cannot ask: stdin is not a terminal").
			WithHint("read the file, then add --yes")
	}
	a.Err.Raw("trust this file? [y/N] ")
	answer, err := bufio.NewReader(a.Stdio.Stdin).ReadString('\n')
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
		return nil
	}
	if err != nil {
		a.Err.Raw("\n")
	}
	a.Err.Say("not trusted")
	return console.ExitStatus(1)
}

func listTrust(a *console.App, store *policy.Trust, asJSON bool) error {
	entries, err := store.List()
	if err != nil {
		return err
	}
	ignored, err := store.Ignored()
	if err != nil {
		return err
	}
	for _, i := range ignored {
		a.Err.Say(fmt.Sprintf("ignored: %s: %s; remove it, and trust the file again", console.Escape(i.Path), i.Reason))
	}
	if asJSON {
		if entries == nil {
			entries = []policy.TrustEntry{}
		}
		return a.PrintJSON(entries)
	}
	for _, e := range entries {
		fmt.Fprintf(a.Out, "%.12s  %s\n", e.Sum, console.Escape(e.File))
	}
	return nil
}

func removeTrust(a *console.App, store *policy.Trust, dir, target string) error {
	var files []string
	for _, name := range projectNames {
		if !isProjectName(target) || name == filepath.Base(target) {
			files = append(files, filepath.Join(dir, name))
		}
	}
	r := repo.Repo{Path: dir}
	switch {
	case repo.IsConfigFile(target):
		files = []string{r.ConfigFile()}
	case repo.IsDockerfile(target):
		files = []string{r.DockerfileFile()}
	case !isProjectName(target):
		files = append(files, r.ConfigFile(), r.DockerfileFile())
	}
	return removeTrusted(a, store, dir, files)
}

// removeTrusted removes the trust from those of the files that have it; at least one must.
func removeTrusted(a *console.App, store *policy.Trust, dir string, files []string) error {
	removed := false
	for _, file := range files {
		switch err := store.Remove(file); {
		case err == nil:
			removed = true
			fmt.Fprintf(a.Out, "%s is not trusted any more\n", console.Escape(file))
		case !errors.Is(err, sandbox.ErrNotFound):
			return err
		}
	}
	if !removed {
		return sandbox.Errorf(sandbox.NotFound, "nothing in %s is trusted", dir).
			WithHint("see 'agent-sandbox trust --list'")
	}
	return nil
}

// listOpenings lists the parts of a policy that widen, or may widen, a sandbox.
func listOpenings(p sandbox.Policy) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if p.Backend != "" {
		add("backend: %s", p.Backend)
	}
	out = append(out, listNetworkOpenings(p)...)
	for _, s := range []struct {
		name string
		on   *bool
		what string
	}{
		{"docker", p.Docker, "the Docker engine, which is root on this host"},
		{"userns", p.Userns, "user namespaces, and with them more of the kernel"},
		{"debuggers", p.Debuggers, "commands may trace each other"},
	} {
		if s.on != nil && *s.on {
			add("%s: %s", s.name, s.what)
		}
	}
	fs := p.Filesystem
	for _, preset := range fs.Presets {
		add("preset: %s", preset)
	}
	for _, path := range fs.RO {
		add("read: %s", path)
	}
	for _, path := range fs.RW {
		add("read and write: %s", path)
	}
	for _, path := range fs.Sockets {
		add("connect to: %s", path)
	}
	if fs.Tmp == sandbox.TmpKeep {
		add("tmp: keep: commands find what earlier runs left in /tmp")
	}
	for _, name := range slices.Sorted(maps.Keys(p.Commands)) {
		if rule := p.Commands[name]; rule != "false" {
			add("command: %s = %s", name, rule)
		}
	}
	for _, name := range p.Env.Pass {
		add("environment: pass %s", name)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env.Set)) {
		add("environment: set %s=%s", name, p.Env.Set[name])
	}
	return append(append(out, host.LimitLines(p.Limits)...), host.RequestLines(p.Requests)...)
}

// listNetworkOpenings does the same for the network and secrets.
func listNetworkOpenings(p sandbox.Policy) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	n := p.Network
	if n.Mode == sandbox.NetworkHost {
		add("network: the host's network, unfiltered")
	}
	for _, rule := range n.Allow {
		add("network: reach %s", rule)
	}
	if n.Any {
		add("network: rules may name any host")
	}
	for _, name := range n.PrivateHosts {
		add("network: reach private addresses as %s", name)
	}
	for _, name := range n.Inspect {
		add("network: read the TLS traffic to %s", name)
	}
	for _, port := range n.Publish {
		add("network: publish port %s on 127.0.0.1", port)
	}
	if n.CA != "" {
		add("network: open TLS, with the CA %s", n.CA)
	}
	if n.Upstream != "" {
		add("network: send everything through %s", withoutPassword(n.Upstream))
	}
	for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
		s := p.Secrets[name]
		hosts := strings.Join(s.Hosts, ", ")
		switch {
		case len(s.FromCommand) > 0:
			add("secret: run %q on the host and give its output to %s", s.FromCommand, hosts)
		case s.FromFile != "":
			add("secret: give what is in %s to %s", s.FromFile, hosts)
		case s.FromEnv != "":
			add("secret: give the variable %s to %s", s.FromEnv, hosts)
		case s.File != "":
			add("secret: give what is in %s to %s", s.File, hosts)
		default:
			add("secret: give the variable %s to %s", name, hosts)
		}
	}
	return out
}
