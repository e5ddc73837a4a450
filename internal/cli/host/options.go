package host

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed434b0696/agent-sandbox/internal/cli/console"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Options are the flags that select and describe a sandbox.
type Options struct {
	Cwd      string         // -C
	config   string         // -c
	Backend  string         // --backend; empty: the configuration's choice
	image    string         // --image; empty: the backend's choice
	Firewall []string       // --firewall
	policy   sandbox.Policy // all other flags: the last layer
	Cluster  Cluster        // --context, --namespace, --guest-image, --runtime-class, --warm-pool
	debug    bool           // --debug
	Preview  bool           // the sandbox is only described: nothing on the host changes
	verbose  int            // how often -v was given

	Resident bool           // commands share one isolation; not a flag
	TmpLeft  func()         // is called when a command has left files in a /tmp that ends with it; nil: none; not a flag
	Agent    *sandbox.Layer // what a coding agent needs, below the flags; nil: nothing; not a flag
}

// Register adds the flags of o to fs.
func (o *Options) Register(fs *pflag.FlagSet) {
	p := &o.policy
	fs.SortFlags = false
	fs.StringVarP(&o.Cwd, "cwd", "C", "", "work in `DIR` instead of the current directory")
	fs.StringVarP(&o.config, "config", "c", "", "read `FILE` instead of the project's own configuration")
	AddBackendFlag(fs, &o.Backend)
	fs.StringVar(&o.image, "image", "", "make the sandbox of the container image `NAME` (docker, kube)")
	AddClusterFlags(fs, &o.Cluster)
	registerNetwork(fs, p)
	AddFirewallFlag(fs, "reach hosts and presets such as @default or @github over a packet filter\non addresses: `RULE`[,...] (docker, as root)", &o.Firewall)
	console.AddBoolFlag(fs, "docker", "let commands reach the Docker engine, which is root on the host", &p.Docker)
	console.AddBoolFlag(fs, "userns", "let commands create user namespaces, as browsers do", &p.Userns)
	console.AddBoolFlag(fs, "debuggers", "let commands trace each other, as gdb and strace do", &p.Debuggers)
	console.AddListFlag(fs, "preset", "add a preset with `@NAME`, remove one with '!@NAME'", &p.Filesystem.Presets)
	console.AddListFlag(fs, "ro", "make a `PATH` or glob readable", &p.Filesystem.RO)
	console.AddListFlag(fs, "rw", "make a `PATH` or glob readable and writable", &p.Filesystem.RW)
	console.AddListFlag(fs, "exclude", "hide a `PATH` or glob", &p.Filesystem.Exclude)
	console.AddListFlag(fs, "socket", "let commands connect to the host's Unix socket `PATH`", &p.Filesystem.Sockets)
	console.AddFlag(fs, "tmp", "", "`keep` what commands leave in /tmp for the next run in this directory;\nfresh, the default, gives each sandbox an empty one (bwrap)", func(s string) error {
		if s != sandbox.TmpKeep && s != sandbox.TmpFresh {
			return fmt.Errorf("expected keep or fresh, got %q", s)
		}
		p.Filesystem.Tmp = s
		return nil
	})
	console.AddFlag(fs, "cmd", "", "wrap a command: `NAME=RULE`[,...] where the rule is\nfalse, true, @preset or a script's path", func(s string) error {
		return setCommands(&p.Commands, s)
	})
	console.AddFlag(fs, "env", "", "pass a variable that looks secret; `NAME`, or a prefix*;\nNAME=VALUE sets it, '!NAME' keeps it out", func(s string) error {
		return setEnv(&p.Env, s)
	})
	console.AddFlag(fs, "limit", "", "bound a resource: `NAME=VALUE`[,...] of wall=90s output=1MiB\nmemory=2GiB tmp=1GiB file=1GiB pids=100 cpu=1.5, and for the\nbackend virtual disk=4GiB nodes=100000", func(s string) error {
		return setLimits(&p.Limits, s)
	})
	console.AddFlag(fs, "request", "", "reserve resources of the cluster: `NAME=VALUE`[,...] of memory=512MiB cpu=0.5 (kube)", func(s string) error {
		return setRequests(&p.Requests, s)
	})
	fs.CountVarP(&o.verbose, "verbose", "v", "print the configuration files, the plan and harmless denials on stderr;\n-vv: also how layers were merged, and the options of the isolation")
	fs.BoolVar(&o.debug, "debug", false, "the same as -vv")
}

// detailed are the phases that only -vv prints.
var detailed = map[string]bool{"version": true, "config-merge": true, "bwrap-args": true, "env": true}

// Limits returns the limits of the flags.
func (o *Options) Limits() sandbox.Limits { return o.policy.Limits }

// IsVerbose reports whether the user asked for more output.
func (o *Options) IsVerbose() bool { return o.verbose > 0 || o.debug }

// Trace returns the function that prints decisions and their reasons, as much as the user asked for; nil: nothing.
func (o *Options) Trace(a *console.App) func(phase, line string) {
	switch {
	case o.debug || o.verbose > 1:
		return a.Err.Debug
	case o.verbose == 0:
		return nil
	}
	return func(phase, line string) {
		if !detailed[phase] {
			a.Err.Debug(phase, line)
		}
	}
}

func setCommands(rules *map[string]sandbox.CommandRule, s string) error {
	for item := range strings.SplitSeq(s, ",") {
		name, rule, ok := strings.Cut(item, "=")
		if !ok || name == "" || rule == "" {
			return fmt.Errorf("expected NAME=true, NAME=false, NAME=@preset or NAME=SCRIPT, got %q", item)
		}
		if *rules == nil {
			*rules = map[string]sandbox.CommandRule{}
		}
		(*rules)[name] = sandbox.CommandRule(rule)
	}
	return nil
}

func setEnv(env *sandbox.Env, s string) error {
	name, value, set := strings.Cut(s, "=")
	denied, deny := strings.CutPrefix(name, "!")
	switch {
	case denied == "" || deny && set:
		return fmt.Errorf("expected NAME, NAME=VALUE or !NAME, got %q", s)
	case deny:
		env.Deny = append(env.Deny, denied)
	case set:
		if env.Set == nil {
			env.Set = map[string]string{}
		}
		env.Set[name] = value
	default:
		env.Pass = append(env.Pass, name)
	}
	return nil
}

func setLimits(l *sandbox.Limits, s string) error {
	for item := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			return fmt.Errorf("expected NAME=VALUE, got %q", item)
		}
		if err := setLimit(l, name, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func setRequests(r *sandbox.Requests, s string) error {
	for item := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(item, "=")
		var l sandbox.Limits
		if name != "memory" && name != "cpu" {
			return fmt.Errorf("expected memory=SIZE or cpu=NUMBER, got %q", item)
		}
		if err := setLimit(&l, name, value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.Memory, r.CPU = cmp.Or(l.Memory, r.Memory), cmp.Or(l.CPU, r.CPU)
	}
	return nil
}

func setLimit(l *sandbox.Limits, name, value string) (err error) {
	switch name {
	case "wall":
		l.Wall, err = sandbox.ParseDuration(value)
	case "output":
		l.Output, err = sandbox.ParseBytes(value)
	case "memory":
		l.Memory, err = sandbox.ParseBytes(value)
	case "tmp":
		l.Tmp, err = sandbox.ParseBytes(value)
	case "file":
		l.File, err = sandbox.ParseBytes(value)
	case "disk":
		l.Disk, err = sandbox.ParseBytes(value)
	case "nodes":
		l.Nodes, err = strconv.Atoi(value)
		if err != nil || l.Nodes <= 0 {
			err = fmt.Errorf("expected a positive number, got %q", value)
		}
	case "pids":
		l.Pids, err = strconv.Atoi(value)
		if err != nil || l.Pids <= 0 {
			err = fmt.Errorf("expected a positive number, got %q", value)
		}
	case "cpu":
		l.CPU, err = strconv.ParseFloat(value, 64)
		// NaN compares false with everything, so test for valid values.
		if err != nil || !(l.CPU > 0 && l.CPU <= 1e6) {
			err = fmt.Errorf("expected a number of processors such as 1.5, got %q", value)
		}
	default:
		err = fmt.Errorf("expected one of wall, output, memory, tmp, file, pids, cpu")
	}
	return err
}
