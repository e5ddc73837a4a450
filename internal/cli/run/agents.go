package run

import (
	"errors"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// codingAgent is a coding agent of the host that a command of its own runs in a sandbox.
type codingAgent struct {
	name     string   // of the command, of the directory with its settings, and of the layer
	title    string   // its own name
	programs []string // the agent is the first of them that is in PATH
	install  string   // the command that installs it
	model    string   // the host of its model
	address  string   // variable with another address of its model; empty: there is none
	hosts    []string // other hosts that it needs
	keys     []string // variables that may hold the key of its model
	settings string   // variable that names the directory with its settings
	env      map[string]string
	// withKey returns the variable inside for the key that a variable of the host has, and the arguments with which the agent reads it,
	// before those of the user. nil: the same variable, which the agent reads without arguments.
	withKey func(variable, address string, args []string) (inside string, all []string)
	// first has the files of a new directory of settings, by name, when there is a key.
	first map[string]string
	// always are arguments before those of the user.
	always []string
}

var codingAgents = []codingAgent{
	{
		name: "claude", title: "Claude Code", programs: []string{"claude"}, install: "npm install -g @anthropic-ai/claude-code",
		model: "api.anthropic.com", address: "ANTHROPIC_BASE_URL",
		hosts:    []string{"claude.ai", "platform.claude.com", "console.anthropic.com", "downloads.claude.ai"}, // logins, and plug-ins
		keys:     []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
		settings: "CLAUDE_CONFIG_DIR",
		env: map[string]string{
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", // its hosts are not allowed
			"DISABLE_AUTOUPDATER":                      "1",
			"IS_SANDBOX":                               "1", // without it Claude Code refuses --dangerously-skip-permissions to root
		},
		withKey: helperForClaude,
		first:   map[string]string{".claude.json": `{"hasCompletedOnboarding": true}` + "\n"}, // whose steps are a theme and a login
	},
	{
		name: "codex", title: "Codex", programs: []string{"codex"}, install: "npm install -g @openai/codex",
		model: "api.openai.com", address: "OPENAI_BASE_URL",
		hosts: []string{"chatgpt.com", "auth.openai.com"}, keys: []string{"OPENAI_API_KEY"}, settings: "CODEX_HOME",
		withKey: providerForCodex,
		always:  []string{"-c", `sandbox_mode="danger-full-access"`, "-c", "check_for_update_on_startup=false"}, // its own sandbox cannot be made in this one
	},
	{
		name: "cursor", title: "Cursor", programs: []string{"cursor-agent", "agent"}, install: "curl https://cursor.com/install -fsS | bash",
		model: "api2.cursor.sh", hosts: []string{"*.cursor.sh", "cursor.com", "*.cursor.com"}, keys: []string{"CURSOR_API_KEY"}, settings: "CURSOR_CONFIG_DIR",
	},
}

// helperForClaude makes Claude Code ask a helper for the key, unless the user gives it settings. It asks the user about each new value
// of ANTHROPIC_API_KEY, and each sandbox has another placeholder.
func helperForClaude(variable, _ string, args []string) (inside string, all []string) {
	hasSettings := func(arg string) bool { return arg == "--settings" || strings.HasPrefix(arg, "--settings=") }
	if variable != "ANTHROPIC_API_KEY" || slices.ContainsFunc(args, hasSettings) {
		return variable, args
	}
	const name = "AGENT_SANDBOX_MODEL_KEY"
	return name, append([]string{"--settings", `{"apiKeyHelper": "printenv ` + name + `"}`}, args...)
}

// providerForCodex defines a provider of models whose key is in a variable. For its own provider Codex wants a login.
func providerForCodex(variable, address string, args []string) (inside string, all []string) {
	const provider = "model_providers.agent-sandbox."
	return variable, append([]string{
		"-c", `model_provider="agent-sandbox"`, "-c", provider + `name="OpenAI"`, "-c", provider + `base_url="` + address + `/v1"`,
		"-c", provider + `env_key="` + variable + `"`, "-c", provider + `wire_api="responses"`,
	}, args...)
}

// NewAgents returns a command for each coding agent.
func NewAgents(a *console.App) []*cobra.Command {
	out := make([]*cobra.Command, len(codingAgents))
	for i := range codingAgents {
		out[i] = newAgent(a, &codingAgents[i])
	}
	return out
}

func newAgent(a *console.App, c *codingAgent) *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Use:   c.name + " [flags] [--] [ARG...]",
		Short: "run " + c.title + " in a sandbox",
		Long: `The host's ` + c.title + ` in a sandbox of the current directory, as 'exec' runs it. Of the network
it reaches its model; --allow adds hosts. A key in one of these variables stays outside, and
commands see a placeholder:
  ` + strings.Join(c.keys, "  ") + `
Without a key it asks for a login. Login, settings and sessions are in
~/.local/share/agent-sandbox/` + policy.AgentsDir + "/" + c.name + `, which no program of the host reads and other
sandboxes hide. Arguments of the agent that begin with a dash come after "--".`,
		Example: "agent-sandbox " + c.name + "\nagent-sandbox " + c.name + " --allow registry.example.com\nagent-sandbox " + c.name + " --stage -- " + exampleArguments(c.name),
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.dryRun && f.stage != "" {
				return console.UsageError(cmd.CommandPath(), "--dry-run cannot show a stage")
			}
			h, err := host.Locate(a.Env, f.Cwd)
			if err != nil {
				return err
			}
			line, err := c.prepare(h, &f, args)
			if err != nil {
				return err
			}
			return Exec(cmd.Context(), a, &f, line)
		},
	}
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		said := console.OwnFlagError(cmd, err)
		if _, ok := errors.AsType[*pflag.NotExistError](err); ok {
			return sandbox.Errorf(sandbox.Invalid, "%w", said).WithHint("%s; arguments of %s come after '--'", sandbox.HintOf(said), c.title)
		}
		return said
	})
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	f.Register(flags)
	host.AddStageFlag(flags, &f.stage)
	addDenialFlags(flags, &f)
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the command line that would run, quoted for a shell")
	return console.Describe(cmd, console.ExitExec)
}

func exampleArguments(name string) string {
	return map[string]string{"claude": `-p "fix the failing test"`, "codex": `exec "fix the failing test"`, "cursor": `-p "fix the failing test"`}[name]
}

// prepare adds the agent's layer to the flags, creates the directory of its settings, and returns the command line.
func (c *codingAgent) prepare(h host.Host, f *execFlags, args []string) ([]string, error) {
	if f.Backend != "" && f.Backend != host.Default {
		return nil, sandbox.Errorf(sandbox.Unsupported, "'agent-sandbox %s' runs the program of this host, which backend %s has not", c.name, f.Backend).
			WithHint("leave out --backend; for containers see 'agent-sandbox init --help'")
	}
	name, err := c.find(h.Env)
	if err != nil {
		return nil, err
	}
	if dir := c.settingsDir(h); strings.ContainsAny(dir, "*?[]{}\\") {
		return nil, sandbox.Errorf(sandbox.Unsupported, "the directory of settings %q has characters of a pattern", dir).
			WithHint("set XDG_DATA_HOME to a directory without them")
	}
	layer, line, err := c.layer(h, args)
	if err != nil {
		return nil, err
	}
	f.Agent = layer
	if !f.dryRun {
		if err := c.createSettings(h, len(layer.Policy.Secrets) > 0); err != nil {
			return nil, err
		}
	}
	return append([]string{name}, line...), nil
}

// find returns the name of the agent's program.
func (c *codingAgent) find(env []string) (string, error) {
	for _, name := range c.programs {
		if host.IsInPath(env, name) {
			return name, nil
		}
	}
	return "", sandbox.Errorf(sandbox.NotFound, "%s is not installed: no %s in PATH", c.title, strings.Join(c.programs, " or ")).
		WithHint("install it on this host: %s", c.install)
}

// layer returns the policy of the agent, and its arguments.
func (c *codingAgent) layer(h host.Host, args []string) (*sandbox.Layer, []string, error) {
	model, address := c.model, "https://"+c.model
	if text := console.Lookup(h.Env, c.address); c.address != "" && text != "" {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || strings.ContainsAny(text, "\"\\") {
			return nil, nil, sandbox.Errorf(sandbox.Invalid, "%s: found %q, expected an address such as https://HOST", c.address, text)
		}
		if addr, err := netip.ParseAddr(u.Hostname()); u.Hostname() == "localhost" || err == nil && addr.IsLoopback() {
			return nil, nil, sandbox.Errorf(sandbox.Unsupported, "%s: %s is loopback, and that of the sandbox is another one", c.address, u.Host).
				WithHint("name an address of this host, or a socket: see examples/claude.jsonc")
		}
		address = strings.TrimSuffix(strings.TrimSuffix(text, "/"), "/v1")
		model = u.Host
		if u.Scheme == "http" {
			model = "http://" + u.Host
		}
	}
	p := sandbox.Policy{
		Backend: host.Default,
		Network: sandbox.Network{Mode: sandbox.NetworkAllow, Allow: append([]string{model}, c.hosts...)},
		Filesystem: sandbox.Filesystem{
			Presets: []string{"!@agents"}, // the agent of the host reads those directories
			RW:      []string{c.settingsDir(h)}, RO: existing(h.Home, hostPrograms), Exclude: hostSettings,
		},
		Env: sandbox.Env{Set: maps.Clone(c.env)},
	}
	if p.Env.Set == nil {
		p.Env.Set = map[string]string{}
	}
	p.Env.Set[c.settings] = c.settingsDir(h)
	for _, name := range c.keys {
		if console.Lookup(h.Env, name) == "" {
			continue
		}
		inside := name
		if c.withKey != nil {
			inside, args = c.withKey(name, address, args)
		}
		p.Secrets = map[string]sandbox.Secret{name: {FromEnv: name, Env: inside, Hosts: []string{model}}}
		break
	}
	return &sandbox.Layer{Name: c.name, Trusted: true, Policy: p}, append(slices.Clone(c.always), args...), nil
}

// hostSettings are the directories and files of the agents of the host, with sessions of all projects, and keys. hostPrograms are parts
// of them that have the agents' programs.
var (
	hostSettings = []string{"~/.claude", "~/.claude.json", "~/.claude.json.backup", "~/.codex", "~/.cursor"}
	hostPrograms = []string{".claude/local", ".codex/packages"}
)

// existing returns those of the names in a directory that exist, as paths.
func existing(dir string, names []string) (found []string) {
	for _, name := range names {
		if path := filepath.Join(dir, name); hasEntry(path) {
			found = append(found, path)
		}
	}
	return found
}

func hasEntry(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// settingsDir returns the directory with the settings of the agent.
func (c *codingAgent) settingsDir(h host.Host) string {
	return filepath.Join(h.Data, policy.AgentsDir, c.name)
}

// createSettings creates the directory of settings unless it exists.
func (c *codingAgent) createSettings(h host.Host, hasKey bool) error {
	dir := c.settingsDir(h)
	err := os.MkdirAll(filepath.Dir(dir), 0o700)
	if err == nil {
		err = os.Mkdir(dir, 0o700)
	}
	isNew := err == nil
	if err != nil && !os.IsExist(err) {
		return sandbox.Errorf(sandbox.Denied, "create the directory of settings: %w", err)
	}
	for _, path := range []string{filepath.Dir(dir), dir} { // a link would open another directory
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() {
			return sandbox.Errorf(sandbox.Denied, "%q is not a directory", path).WithHint("move it away")
		}
	}
	if !isNew || !hasKey {
		return nil
	}
	for name, text := range c.first { // another start may have created it at the same moment, and commands have run in its sandbox
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if os.IsExist(err) {
			continue
		}
		if err == nil {
			_, err = f.WriteString(text)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return sandbox.Errorf(sandbox.Denied, "%w", err)
		}
	}
	return nil
}
