package proxy

import (
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/seed434b0696/agent-sandbox/internal/proxy/egress"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/policy/redact"
)

// redact adds the files that are shown without their credentials, and returns the credentials that the proxy inserts. A
// file stays hidden if it cannot be read, or if it would still show a credential.
func (g *Gateway) redact(env []string) []held {
	var out []held
	for _, r := range g.plan.Redacted {
		if r.Fault != "" || g.hasFile(r.Path) {
			continue
		}
		f, err := policy.ReadRedacted(r, env)
		if err != nil {
			continue
		}
		inserted, placeholders := splitCredentials(r, f)
		text := string(f.Text(placeholders))
		isShown := true
		for _, c := range f.Credentials {
			isShown = isShown && !hasValue(text, c.Value)
		}
		if !isShown {
			continue
		}
		for _, c := range f.Credentials {
			g.drop(held{Secret: egress.Secret{Name: r.Name, Value: c.Value}})
		}
		g.Files = append(g.Files, File{Path: r.Path, Data: []byte(text), Mode: 0o444})
		out = append(out, inserted...)
	}
	return out
}

func (g *Gateway) hasFile(path string) bool {
	for _, f := range g.Files {
		if f.Path == path {
			return true
		}
	}
	return false
}

// splitCredentials returns the credentials of a file that the proxy inserts, and a placeholder for each credential: an
// empty one for those that the proxy does not insert.
func splitCredentials(r policy.Redacted, f *redact.File) (inserted []held, placeholders []string) {
	placeholders = make([]string, len(f.Credentials))
	for i, c := range f.Credentials {
		var hosts []string
		for _, h := range c.Hosts {
			for _, allowed := range r.Hosts {
				if h == allowed {
					hosts = append(hosts, h)
				}
			}
		}
		if len(hosts) == 0 || strings.TrimSpace(c.Value) != c.Value || !httpguts.ValidHeaderFieldValue(c.Value) {
			continue
		}
		placeholders[i] = egress.NewPlaceholder(c.Value)
		inserted = append(inserted, held{Secret: egress.Secret{
			Name: r.Name, Placeholder: placeholders[i], Value: c.Value, Hosts: hosts, Reads: true,
		}})
	}
	return inserted, placeholders
}
