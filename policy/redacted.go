package policy

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy/hosts"
	"github.com/seed434b0696/agent-sandbox/policy/internal/filesystem"
	"github.com/seed434b0696/agent-sandbox/policy/redact"
)

// Redacted is a configuration file that commands see without the credentials in it. The driver reads it again right before it
// starts the sandbox, and leaves the file hidden if it cannot.
type Redacted struct {
	Path   string        // absolute and resolved; the plan hides it
	Name   string        // the path as the preset has it: ~/.npmrc
	Format redact.Format // how it is read

	// Hosts are the hosts of its credentials that the network allows, as package hosts reads bindings. The proxy inserts a
	// credential into requests that read from its own host. The other credentials are replaced by nothing.
	Hosts []string
	Fault string // why the whole file stays hidden; empty: it is shown
}

// ReadRedacted reads a file of a plan with its credentials. env is the host's environment. An error repeats nothing of the file.
func ReadRedacted(r Redacted, env []string) (*redact.File, error) {
	all := map[string]string{}
	for _, kv := range env {
		if name, value, ok := strings.Cut(kv, "="); ok {
			all[name] = value
		}
	}
	return filesystem.ReadRedacted(r.Path, r.Format, all)
}

// addRedacted adds the files that are hidden by @base alone: what another rule hides stays hidden, and what it opens is as on
// the host.
func (p *Plan) addRedacted(files []filesystem.Redacted) error {
	rules, err := hosts.Compile(p.HostRules())
	if err != nil {
		return err
	}
	for _, f := range files {
		access, rule := p.Access(f.Path)
		if access != Exclude || rule == nil || rule.Path != f.Path || rule.Preset != "@base" {
			continue
		}
		r := Redacted{Path: f.Path, Name: rule.Pattern, Format: f.Format}
		if f.Err != nil {
			r.Fault = f.Err.Error()
		} else {
			r.Hosts = p.allowedHosts(rules, f.File.Credentials)
		}
		p.Redacted = append(p.Redacted, r)
		https := slices.ContainsFunc(r.Hosts, func(h string) bool { return strings.HasPrefix(h, "https://") })
		if https && p.Network.CA == "" {
			p.Network.CA = EphemeralCA
			p.NetworkRules = append(p.NetworkRules, NetworkRule{List: "ca", Rule: EphemeralCA, Layer: rule.Layer, Source: rule.Pattern})
		}
	}
	sort.Slice(p.Redacted, func(i, j int) bool { return p.Redacted[i].Path < p.Redacted[j].Path })
	return nil
}

// allowedHosts returns those hosts of credentials that the network allows, sorted.
func (p *Plan) allowedHosts(rules *hosts.Rules, credentials []redact.Credential) []string {
	found := map[string]bool{}
	for _, c := range credentials {
		for _, text := range c.Hosts {
			scheme, rest, _ := strings.Cut(text, "://")
			port := uint16(443)
			if scheme == "http" {
				port = 80
			}
			host, port, err := hosts.ParseHostPort(rest, port)
			if err != nil {
				continue
			}
			if _, err := hosts.ParseBinding(text); err == nil && rules.Check(host, port).Allowed {
				found[text] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// explainRedacted changes the explanation of a path that is such a file.
func (p *Plan) explainRedacted(e *Explanation) {
	for _, r := range p.Redacted {
		switch {
		case r.Path != e.Name || e.Verdict != Exclude.String():
		case r.Fault != "":
			e.Reason = "hidden: its credentials cannot be taken out: " + jsonc.OneLine(r.Fault)
		case len(r.Hosts) == 0:
			e.Verdict, e.Reason = VerdictMasked, "read-only, without its credentials; the network allows none of their hosts"
		default:
			e.Verdict, e.Reason = VerdictMasked, "read-only, without its credentials; the proxy inserts those for "+strings.Join(r.Hosts, ", ")+" into requests that read"
		}
	}
}
