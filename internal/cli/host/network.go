package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// registerNetwork adds the flags for reachable hosts and secrets.
func registerNetwork(fs *pflag.FlagSet, p *sandbox.Policy) {
	n := &p.Network
	console.AddFlag(fs, "network", "host", "use no network, or the host's: `none|host`; without a value: host", func(s string) error {
		return setNetwork(n, s)
	})
	lists := func(name, usage string, list *[]string, split func(string) ([]string, error)) {
		console.AddFlag(fs, name, "", usage, func(s string) error {
			items, err := split(s)
			if err == nil {
				err = allowOnly(n)
			}
			*list = append(*list, items...)
			return err
		})
	}
	lists("allow", "reach what a `RULE`[,...] allows: example.com, *.example.com:8443,\n10.0.0.0/8, 'GET https://example.com/pub/**'", &n.Allow, splitRules)
	lists("deny", "refuse what a `RULE`[,...] names, whatever is allowed", &n.Deny, splitRules)
	lists("private-host", "let an allowed `NAME`[,...] stand for private addresses", &n.PrivateHosts, splitItems)
	lists("publish", "make a port of the sandbox one of 127.0.0.1: `[HOSTPORT:]PORT`[,...]", &n.Publish, splitItems)
	console.AddFlag(fs, "secret", "", "do not pass a variable, and put its value into requests to\nhosts: `NAME=HOST`[,...]", func(s string) error {
		return setSecret(&p.Secrets, s)
	})
	console.AddFlag(fs, "ca", "", "open TLS where a rule needs it, signed by an `ephemeral|FILE` CA", func(s string) error {
		if s == "" {
			return fmt.Errorf("expected ephemeral or a file, got an empty value")
		}
		n.CA = s
		return allowOnly(n)
	})
}

func setNetwork(n *sandbox.Network, s string) error {
	mode := sandbox.NetworkMode(s)
	switch s {
	case "none", "host":
	case "false":
		mode = sandbox.NetworkNone
	case "true":
		mode = sandbox.NetworkHost
	default:
		return fmt.Errorf("expected none or host, got %q", s)
	}
	if n.Mode == sandbox.NetworkAllow {
		return modeError(mode)
	}
	n.Mode = mode
	return nil
}

// allowOnly makes the network an allow-list, unless a flag set another mode.
func allowOnly(n *sandbox.Network) error {
	if n.Mode == sandbox.NetworkNone || n.Mode == sandbox.NetworkHost {
		return modeError(n.Mode)
	}
	n.Mode = sandbox.NetworkAllow
	return nil
}

func modeError(mode sandbox.NetworkMode) error {
	return fmt.Errorf("--network %s contradicts the flags of an allow-list (--allow, --deny, --private-host, --publish, --ca)", mode)
}

// AddFirewallFlag adds the flag --firewall, whose rules are appended to rules.
func AddFirewallFlag(fs *pflag.FlagSet, usage string, rules *[]string) {
	console.AddFlag(fs, "firewall", "", usage, func(s string) error {
		items, err := splitItems(s)
		*rules = append(*rules, items...)
		return err
	})
}

// splitItems splits a list at its commas.
func splitItems(s string) ([]string, error) {
	items := strings.Split(s, ",")
	if slices.Contains(items, "") {
		return nil, fmt.Errorf("expected a value, or several with commas in between, got %q", s)
	}
	return items, nil
}

// splitRules splits a list of rules. A rule with methods, which precede a space,
// is not split, nor is one with a path: a path may have commas, too.
func splitRules(s string) ([]string, error) {
	if strings.Contains(s, " ") || !strings.Contains(s, ",") {
		if strings.TrimSpace(s) == "" {
			return nil, fmt.Errorf("expected a rule, got an empty one")
		}
		return []string{s}, nil
	}
	items, err := splitItems(s)
	for _, item := range items {
		_, rest, ok := strings.Cut(item, "://")
		if !ok {
			rest = item
		}
		// After the slash of an address range follows its length.
		if _, path, ok := strings.Cut(rest, "/"); ok && strings.Trim(path, "0123456789]:-") != "" {
			return nil, fmt.Errorf("a rule with a path stands alone, and behind '* ' where it has a comma, got %q", s)
		}
	}
	return items, err
}

// setSecret parses NAME=HOST[,HOST...].
func setSecret(secrets *map[string]sandbox.Secret, s string) error {
	name, hosts, _ := strings.Cut(s, "=")
	items, err := splitItems(hosts)
	if name == "" || err != nil {
		return fmt.Errorf("expected NAME=HOST or NAME=HOST,HOST with the name of a variable, got %q", s)
	}
	if *secrets == nil {
		*secrets = map[string]sandbox.Secret{}
	}
	secret := (*secrets)[name]
	secret.Hosts = append(secret.Hosts, items...)
	(*secrets)[name] = secret
	return nil
}
