package policies

import (
	"net/url"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/cli/host"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// planDocument is the JSON of a plan for explain --json. It lists only the names of
// the environment.
type planDocument struct {
	Workspace string             `json:"workspace"`
	Dir       string             `json:"dir"`
	Home      string             `json:"home"`
	Backend   string             `json:"backend,omitempty"` // from the flags or the configuration
	Files     place              `json:"files"`             // "host"; "image" with the workspace and the paths that the policy names; "copy" of the workspace in an image
	Network   sandbox.Network    `json:"network"`           // without the password of an upstream proxy
	NetworkBy string             `json:"network_source"`
	Rules     []ruleDocument     `json:"network_rules"`
	Secrets   []secretDocument   `json:"secrets"`
	Redacted  []redactedDocument `json:"redacted,omitempty"`
	Docker    bool               `json:"docker"`
	Userns    bool               `json:"userns"`
	Debuggers bool               `json:"debuggers"`
	Tmp       string             `json:"tmp"`                 // "fresh" or "keep"
	SSHAgent  string             `json:"ssh_agent,omitempty"` // the socket of the agent that commands can use in part
	GPGAgent  string             `json:"gpg_agent,omitempty"` // the same
	Layers    []layerDocument    `json:"layers"`
	Paths     []pathDocument     `json:"paths"` // differences from the parent directory; on the host / is ro
	Names     []nameDocument     `json:"names"` // that cannot be created
	NoRepos   []string           `json:"no_new_repositories"`
	Nested    nestedDocument     `json:"names_in_any_directory"`
	Sockets   []string           `json:"sockets"`
	Commands  []commandDocument  `json:"commands"`
	Env       []string           `json:"env"`
	Dropped   []droppedDocument  `json:"env_dropped"`
	Limits    map[string]string  `json:"limits"`
	Requests  sandbox.Requests   `json:"requests,omitzero"`
	Required  map[string]string  `json:"limits_required,omitempty"` // limit to the source that asks for it
}

type layerDocument struct {
	Name    string `json:"name"`
	File    string `json:"file,omitempty"`
	Trusted bool   `json:"trusted"`
}

type pathDocument struct {
	Path   string `json:"path"`
	Access string `json:"access"`
	Pinned bool   `json:"pinned,omitempty"` // cannot be renamed or removed
	Rule   string `json:"rule"`
	Preset string `json:"preset,omitempty"`
	Layer  string `json:"layer"`
	Source string `json:"source"`
}

type nameDocument struct {
	Dir    string   `json:"dir"`
	Name   string   `json:"name"` // "*": all but
	Except []string `json:"except,omitempty"`
	Source string   `json:"source"`
}

type ruleDocument struct {
	List   string `json:"list"`
	Rule   string `json:"rule"`
	Layer  string `json:"layer"`
	Source string `json:"source"`
}

// secretDocument describes where a value comes from and goes to, never the value.
type secretDocument struct {
	Name    string   `json:"name"`
	From    string   `json:"from"`
	Env     string   `json:"env,omitempty"`
	File    string   `json:"file,omitempty"`
	Hosts   []string `json:"hosts"`
	Header  string   `json:"header,omitempty"`
	Layer   string   `json:"layer"`
	Source  string   `json:"source"`
	Missing string   `json:"missing,omitempty"` // why it is left out
}

// redactedDocument is a configuration file that is shown without its credentials.
type redactedDocument struct {
	Path  string   `json:"path"`
	Hosts []string `json:"hosts,omitempty"` // that receive their credentials
	Fault string   `json:"fault,omitempty"` // why it stays hidden
}

type nestedDocument struct {
	Roots        []string `json:"roots"`
	Names        []string `json:"names"`
	Dependencies []string `json:"except_below"`
	Open         []string `json:"allowed"`
}

type commandDocument struct {
	Name    string   `json:"name"`
	Rule    string   `json:"rule"`
	Targets []string `json:"targets"`
	Source  string   `json:"source"`
}

type droppedDocument struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// tmpMode returns the value of filesystem.tmp that holds.
func tmpMode(p *policy.Plan) string {
	if p.KeepTmp {
		return sandbox.TmpKeep
	}
	return sandbox.TmpFresh
}

func newPlanDocument(p *policy.Plan, backend string, in place) planDocument {
	d := planDocument{
		Workspace: p.Workspace, Dir: p.Dir, Home: p.Home, Backend: backend, Files: in,
		Network: p.Network, NetworkBy: p.NetworkSource, Docker: p.Docker, Userns: p.Userns, Debuggers: p.Debug,
		Tmp: tmpMode(p), SSHAgent: p.SSHAgent, GPGAgent: p.GPGAgent.Socket, Layers: []layerDocument{}, Paths: []pathDocument{}, Names: []nameDocument{}, Commands: []commandDocument{},
		Dropped: []droppedDocument{}, Env: []string{}, Rules: []ruleDocument{}, Secrets: []secretDocument{},
		NoRepos: append([]string{}, p.NoRepos...), Sockets: append([]string{}, p.Sockets...),
		Limits: map[string]string{}, Required: p.Limits.Required, Requests: p.Requests,
	}
	if n := p.Nested; len(n.Roots) > 0 {
		d.Nested = nestedDocument{n.Roots, n.Names, n.Dependencies, n.Open}
	}
	d.Network.Upstream = withoutPassword(p.Network.Upstream)
	for _, r := range p.NetworkRules {
		d.Rules = append(d.Rules, ruleDocument(r))
	}
	for _, s := range p.Secrets {
		d.Secrets = append(d.Secrets, secretDocument{
			Name: s.Name, From: secretSource(s), Env: s.Env, File: s.File, Hosts: s.Hosts, Header: s.Header,
			Layer: s.Layer, Source: s.Source, Missing: s.Missing,
		})
	}
	for _, r := range p.Redacted {
		d.Redacted = append(d.Redacted, redactedDocument{r.Path, r.Hosts, r.Fault})
	}
	for _, l := range p.Layers {
		d.Layers = append(d.Layers, layerDocument(l))
	}
	for _, m := range p.Mounts {
		r := p.Rules[m.Rule]
		d.Paths = append(d.Paths, pathDocument{
			Path: m.Path, Access: m.Access.String(), Pinned: m.Pin,
			Rule: r.Pattern, Preset: r.Preset, Layer: r.Layer, Source: r.Source,
		})
	}
	for _, g := range p.Guards {
		d.Names = append(d.Names, nameDocument{Dir: g.Dir, Name: g.Name, Except: g.Except, Source: p.Rules[g.Rule].Source})
	}
	for _, c := range p.Commands {
		d.Commands = append(d.Commands, commandDocument{c.Name, c.Rule, append([]string{}, c.Targets...), c.Source})
	}
	for _, x := range p.Dropped {
		d.Dropped = append(d.Dropped, droppedDocument(x))
	}
	for _, kv := range p.Env {
		name, _, _ := strings.Cut(kv, "=")
		d.Env = append(d.Env, name)
	}
	for _, name := range host.LimitNames {
		if v := host.LimitValue(p.Limits.Limits, name); v != "" {
			d.Limits[name] = v
		}
	}
	return d
}

// withoutPassword removes the login of an upstream proxy.
func withoutPassword(upstream string) string {
	u, err := url.Parse(upstream)
	if err != nil {
		return ""
	}
	u.User = nil
	return u.String()
}

// secretSource describes where a secret's value comes from. It leaves out the arguments of a
// command: one of them may be another secret.
func secretSource(s policy.Secret) string {
	switch {
	case s.FromEnv != "":
		return "variable " + s.FromEnv
	case s.FromFile != "":
		return "file " + s.FromFile
	}
	return "command " + s.FromCommand[0]
}
