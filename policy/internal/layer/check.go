package layer

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy/internal/variable"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// The bounds of limits.cpu, in processors: the smallest quota that the kernel takes, and more than any machine has.
const (
	MinCPU = 0.01
	MaxCPU = 65536
)

// ExpectedNetwork describes the valid values of "network".
const ExpectedNetwork = `"none", "host", true, false or an object such as {"allow": ["example.com"]}`

var (
	// BackendNames are the names that "backend" may have.
	BackendNames   = []string{"virtual", "bwrap", "docker", "kube"}
	commandPresets = []string{"git"} // the commands that have a preset, "@" and their name
	presetSyntax   = compileLater(`^!?@[a-z][a-z0-9]*([-/][a-z0-9]+)*$`)
)

// Check refuses values of a layer that are wrong on every host. The error is
// one line that names the layer's file and line, or the layer.
func Check(l sandbox.Layer) error {
	for _, check := range []func(sandbox.Layer) *sandbox.Error{
		checkChoices, checkNetwork, checkSecrets, checkFilesystem, checkCommands, checkEnv, checkLimits, checkRequests,
	} {
		if err := check(l); err != nil {
			return err
		}
	}
	return nil
}

func checkChoices(l sandbox.Layer) *sandbox.Error {
	b, written := l.Policy.Backend, l.Lines["backend"] > 0
	if (b != "" || written) && !slices.Contains(BackendNames, b) {
		err := Errorf(l, "backend", "found %s, expected one of %s", jsonc.Clip(b), strings.Join(BackendNames, ", "))
		return hintNearest(err, b, BackendNames)
	}
	return nil
}

func hintNearest(err *sandbox.Error, word string, words []string) *sandbox.Error {
	if near := jsonc.Nearest(word, words); near != "" {
		return err.WithHint("did you mean %q?", near)
	}
	return err
}

func checkFilesystem(l sandbox.Layer) *sandbox.Error {
	fs := l.Policy.Filesystem
	for i, p := range fs.Presets {
		if !presetSyntax().MatchString(p) {
			return Errorf(l, jsonc.IndexKey("filesystem.presets", i), `found %s, expected "@name" or "!@name"`, jsonc.Clip(p))
		}
	}
	if l.Lines["filesystem.tmp"] > 0 && fs.Tmp == "" || !slices.Contains([]string{"", sandbox.TmpFresh, sandbox.TmpKeep}, fs.Tmp) {
		return Errorf(l, "filesystem.tmp", "found %s, expected fresh or keep", jsonc.Clip(fs.Tmp))
	}
	for _, list := range []struct {
		key   string
		paths []string
	}{
		{"filesystem.ro", fs.RO},
		{"filesystem.rw", fs.RW},
		{"filesystem.exclude", fs.Exclude},
		{"filesystem.sockets", fs.Sockets},
	} {
		for i, p := range list.paths {
			if p == "" || strings.ContainsRune(p, 0) {
				return Errorf(l, jsonc.IndexKey(list.key, i), "found %s, expected a path", jsonc.Clip(p))
			}
		}
	}
	return nil
}

func checkCommands(l sandbox.Layer) *sandbox.Error {
	for _, name := range slices.Sorted(maps.Keys(l.Policy.Commands)) {
		key := "commands." + name
		if !isCommandName(name) {
			return Errorf(l, key, "found %s, expected the name of a command without a directory", jsonc.Clip(name))
		}
		rule := string(l.Policy.Commands[name])
		preset, isPreset := strings.CutPrefix(rule, "@")
		switch {
		case rule == "" || strings.ContainsRune(rule, 0):
			return Errorf(l, key, `found %s, expected true, false, "@preset" or the path of a script`, jsonc.Clip(rule))
		case !isPreset:
		case !slices.Contains(commandPresets, preset):
			err := Errorf(l, key, "found the unknown preset %s, expected %s", jsonc.Clip(rule), presetList())
			return hintNearest(err, rule, []string{"@git"})
		case preset != name:
			return Errorf(l, key, `found %s, which is only for %s, expected true, false or the path of a script`, rule, preset)
		}
	}
	return nil
}

func presetList() string {
	names := make([]string, len(commandPresets))
	for i, n := range commandPresets {
		names[i] = strconv.Quote("@" + n)
	}
	return strings.Join(names, " or ")
}

// isCommandName reports whether a file of this name can be a command. A leading dash
// would be an option wherever the name is passed on.
func isCommandName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= 255 && !strings.HasPrefix(s, "-") &&
		!strings.ContainsRune(s, '/') && !strings.ContainsFunc(s, unicode.IsControl)
}

func checkEnv(l sandbox.Layer) *sandbox.Error {
	env := l.Policy.Env
	for _, list := range []struct {
		key      string
		patterns []string
	}{{"env.pass", env.Pass}, {"env.deny", env.Deny}} {
		for i, p := range list.patterns {
			if name := strings.TrimSuffix(p, "*"); p == "" || (name != "" && !variable.IsName(name)) {
				return Errorf(l, jsonc.IndexKey(list.key, i), "found %s, expected a variable's name, or its beginning and *", jsonc.Clip(p))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(env.Set)) {
		if !variable.IsName(name) {
			return Errorf(l, "env.set."+name, "found %s, expected a variable's name", jsonc.Clip(name))
		}
		if strings.ContainsRune(env.Set[name], 0) {
			return Errorf(l, "env.set."+name, "found a NUL character, expected a value without")
		}
	}
	return nil
}

func checkLimits(l sandbox.Layer) *sandbox.Error {
	lim := l.Policy.Limits
	for _, size := range []struct {
		key      string
		negative bool
		expected string
	}{
		{"limits.wall", lim.Wall < 0, `a positive duration such as "90s" or "10m"`},
		{"limits.output", lim.Output < 0, `a positive size such as "512MiB"`},
		{"limits.memory", lim.Memory < 0, `a positive size such as "512MiB"`},
		{"limits.tmp", lim.Tmp < 0, `a positive size such as "512MiB"`},
		{"limits.disk", lim.Disk < 0, `a positive size such as "512MiB"`},
		{"limits.file", lim.File < 0, `a positive size such as "512MiB"`},
	} {
		if size.negative {
			return Errorf(l, size.key, "found a negative value, expected %s", size.expected)
		}
	}
	// A zero in a file is intended, one in a struct is an unset field.
	written := func(key string) bool { return l.Lines[key] > 0 }
	if lim.Pids < 0 || (lim.Pids == 0 && written("limits.pids")) {
		return Errorf(l, "limits.pids", "found %d, expected a whole number of at least 1", lim.Pids)
	}
	if lim.Nodes < 0 || (lim.Nodes == 0 && written("limits.nodes")) {
		return Errorf(l, "limits.nodes", "found %d, expected a whole number of at least 1", lim.Nodes)
	}
	// Written so that NaN, which compares false with everything, is refused.
	if ok := lim.CPU >= MinCPU && lim.CPU <= MaxCPU; !ok && (lim.CPU != 0 || written("limits.cpu")) {
		return Errorf(l, "limits.cpu", "found %v, expected a number of processors from %v to %d", lim.CPU, MinCPU, MaxCPU)
	}
	return nil
}

func compileLater(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

func checkRequests(l sandbox.Layer) *sandbox.Error {
	asked := l.Policy.Requests
	if asked.Memory < 0 {
		return Errorf(l, "requests.memory", `found a negative value, expected a positive size such as "512MiB"`)
	}
	// As in checkLimits.
	if ok := asked.CPU >= MinCPU && asked.CPU <= MaxCPU; !ok && (asked.CPU != 0 || l.Lines["requests.cpu"] > 0) {
		return Errorf(l, "requests.cpu", "found %v, expected a number of processors from %v to %d", asked.CPU, MinCPU, MaxCPU)
	}
	return nil
}
