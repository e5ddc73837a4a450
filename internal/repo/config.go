package repo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tailscale/hujson"

	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Config is the content of a repository's .agent-sandbox/config.json.
type Config struct {
	Protected []string          `json:"protected"`                      // read-only inside, relative to the repository
	Env       map[string]string `json:"env,omitempty"`                  // variables of commands
	Ports     []port            `json:"ports,omitempty"`                // published on the host's 127.0.0.1
	Egress    []string          `json:"egress_allow_domains,omitempty"` // further hosts that commands may reach
	Firewall  []string          `json:"firewall,omitempty"`             // hosts and presets of a packet filter, instead of the proxy
	Limits    sandbox.Limits    `json:"limits,omitzero"`                // of the sandbox
}

// port is a number, or "HOSTPORT:PORT".
type port string

// UnmarshalJSON accepts a number or a string.
func (p *port) UnmarshalJSON(data []byte) error {
	var n uint16
	if json.Unmarshal(data, &n) == nil && n > 0 {
		*p = port(fmt.Sprint(n))
		return nil
	}
	var s string
	if json.Unmarshal(data, &s) != nil || s == "" {
		return fmt.Errorf(`expected a port such as 8080 or "8080:80", got %s`, data)
	}
	*p = port(s)
	return nil
}

// protected returns the paths that are read-only inside by default: files that the host would execute, and their
// configuration.
func protected() []string {
	return []string{".git/hooks", ".husky", configDir, ".agent-precommit/user-context.json"}
}

// DefaultConfig is the configuration that init writes.
func DefaultConfig() Config { return Config{Protected: protected()} }

// ConfigFile returns the path of the repository's configuration, which need not exist.
func (r Repo) ConfigFile() string { return filepath.Join(r.Path, configFile) }

// CheckDir returns Invalid if the directory of the configuration and the Dockerfile is a symbolic link. With a link a
// repository could use the files of another one, and the user's trust in them.
func (r Repo) CheckDir() error {
	dir := filepath.Join(r.Path, configDir)
	// The code that reads the files reports missing ones.
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return sandbox.Errorf(sandbox.Invalid, "%s: found a symbolic link, expected a directory", dir)
	}
	return nil
}

// IsConfigFile reports whether a path is the path of a repository's configuration.
func IsConfigFile(path string) bool {
	return filepath.Base(path) == filepath.Base(configFile) && filepath.Base(filepath.Dir(path)) == configDir
}

// Decode decodes the content of a configuration file.
func Decode(file string, data []byte) (Config, error) {
	bad := func(err error) (Config, error) {
		return Config{}, sandbox.Errorf(sandbox.Invalid, "%s: %w", file, err)
	}
	text, err := hujson.Standardize(data)
	if err != nil {
		return bad(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var c Config
	if err := d.Decode(&c); err != nil {
		return bad(err)
	}
	if d.More() {
		return bad(errors.New("something follows the object"))
	}
	for _, name := range c.Protected {
		if !filepath.IsLocal(name) {
			return bad(fmt.Errorf("protected: %q is not below the repository", name))
		}
	}
	if len(c.Firewall) > 0 && len(c.Egress)+len(c.Ports) > 0 {
		return bad(errors.New("found firewall with egress_allow_domains or ports, which a proxy serves; expected one of both"))
	}
	return c, nil
}

// Policy returns the policy of a configuration, which always includes the default protections.
func (c Config) Policy() sandbox.Policy {
	var p sandbox.Policy
	p.Filesystem.RO = append(protected(), c.Protected...)
	p.Env.Set = c.Env
	for _, v := range c.Ports {
		p.Network.Publish = append(p.Network.Publish, string(v))
	}
	p.Network.Allow = c.Egress
	if len(c.Ports)+len(c.Egress) > 0 {
		p.Network.Mode = sandbox.NetworkAllow
	}
	p.Limits = c.Limits
	return p
}

// Layer returns the repository's configuration as a layer of a policy, and the rules of its packet filter. The layer is
// trusted if trust has exactly its content. Without a file it uses [DefaultConfig]. Denied: an untrusted configuration
// has rules of a packet filter.
func (r Repo) Layer(trust *policy.Trust) (sandbox.Layer, []string, error) {
	l := sandbox.Layer{Name: "repository", Trusted: true}
	l.Policy.Filesystem.RO = protected()
	if err := r.CheckDir(); err != nil {
		return l, nil, err
	}
	data, err := policy.ReadConfig(r.ConfigFile())
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil, nil
	}
	if err != nil {
		return l, nil, err
	}
	c, err := Decode(r.ConfigFile(), data)
	if err != nil {
		return l, nil, err
	}
	l.Policy, l.File = c.Policy(), r.ConfigFile()
	if l.Trusted, err = trust.Trusted(l.File, data); err != nil {
		return l, nil, err
	}
	if len(c.Firewall) > 0 && !l.Trusted {
		return l, nil, sandbox.Errorf(sandbox.Denied, "%s: firewall: a project file may only tighten the policy", l.File).
			WithHint("read it, then run: agent-sandbox trust %s", shellword.Quote(l.File))
	}
	return l, c.Firewall, nil
}
