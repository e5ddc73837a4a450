package gitrules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/guest/process"
)

// Call is one invocation of git.
type Call struct {
	Args  []string                                 // the arguments after git's name
	Env   []string                                 // its environment
	Dir   string                                   // working directory as the kernel names it; empty: unknown
	Alias func(c Call, name string) (string, bool) // the value of alias.NAME; nil: there are no aliases

	// Ask runs the real git, in the repository that c selects, and returns its output; false: it failed. Nil: Check
	// refuses commands that may lose work without checking that there is any.
	Ask func(c Call, args ...string) (string, bool)

	// Private reports whether a file lies in a directory that exists only as long as the sandbox; nil: there is no such
	// directory. It resolves links, and for a missing file it looks at the directory.
	Private func(name string) bool
}

// maxAliases bounds aliases of aliases.
const maxAliases = 10

// Check returns why the call is refused, or nil.
func (c Call) Check() *Refusal {
	argv := parseCommandLine(c.Args)
	if argv.command == "" || argv.command == "help" || argv.isHelpRequest() {
		return nil
	}
	r := c.checkSettings(argv)
	if r == nil {
		expanded := c.expand(argv)
		r = checkCommand(expanded.command, expanded.args)
		if r != nil && c.Ask != nil && isHarmless(c.ask, expanded.command, expanded.args) {
			return nil
		}
	}
	if r != nil && c.isTemporary(argv) {
		return nil
	}
	return r
}

func (c Call) ask(args ...string) (string, bool) { return c.Ask(c, args...) }

// expand replaces aliases by their values. It does not expand one that runs a shell: each git
// that the shell starts is checked itself.
func (c Call) expand(argv commandLine) commandLine {
	for range maxAliases {
		if c.Alias == nil || builtinCommands.has(argv.command) || argv.command == "" {
			break
		}
		value, ok := c.Alias(c, argv.command)
		if !ok || strings.HasPrefix(value, "!") {
			break
		}
		next := parseCommandLine(append(splitAlias(value), argv.args...))
		if next.command == argv.command { // git itself refuses such a loop
			break
		}
		argv.command, argv.args = next.command, next.args
	}
	return argv
}

// checkSettings checks the configuration that applies to this call only: -c, --config-env and the corresponding
// variables.
func (c Call) checkSettings(argv commandLine) *Refusal {
	const instead = "run git without this setting"
	for _, s := range argv.settings {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			value = "true"
		}
		if why := checkCallSetting(argv.command, key, value); why != "" {
			return &Refusal{"git -c " + key, why, instead}
		}
	}
	for _, s := range argv.fromEnv {
		at := strings.LastIndexByte(s, '=')
		if at < 0 {
			continue
		}
		if why := checkCallSetting(argv.command, s[:at], process.Variable(c.Env, s[at+1:])); why != "" {
			return &Refusal{"git --config-env " + s[:at], why, instead}
		}
	}
	for _, kv := range c.Env {
		name, key, _ := strings.Cut(kv, "=")
		n, ok := strings.CutPrefix(name, "GIT_CONFIG_KEY_")
		if !ok || !isCounted(c.Env, n) {
			continue
		}
		if why := checkCallSetting(argv.command, key, process.Variable(c.Env, "GIT_CONFIG_VALUE_"+n)); why != "" {
			return &Refusal{"git with " + name + "=" + key, why, "unset GIT_CONFIG_COUNT"}
		}
	}
	for _, s := range parameterSettings(process.Variable(c.Env, "GIT_CONFIG_PARAMETERS")) {
		if why := checkCallSetting(argv.command, s[0], s[1]); why != "" {
			return &Refusal{"git with GIT_CONFIG_PARAMETERS of " + s[0], why, "unset GIT_CONFIG_PARAMETERS"}
		}
	}
	return nil
}

// isCounted reports whether git reads GIT_CONFIG_KEY_<n>.
func isCounted(env []string, n string) bool {
	i, err := strconv.Atoi(n)
	count, err2 := strconv.Atoi(strings.TrimSpace(process.Variable(env, "GIT_CONFIG_COUNT")))
	return err == nil && err2 == nil && i < count
}

// parameterSettings reads GIT_CONFIG_PARAMETERS: words in single quotes, each
// 'key=value', or 'key'='value' since git 2.31.
func parameterSettings(s string) [][2]string {
	var out [][2]string
	for {
		s = strings.TrimLeft(s, " \t\n")
		word, rest, ok := unquoteShell(s)
		if !ok {
			return out
		}
		key, value, joined := strings.Cut(word, "=")
		if after, found := strings.CutPrefix(rest, "="); found && !joined {
			value = ""
			rest = after
			if v, r, quoted := unquoteShell(after); quoted {
				value, rest = v, r
			}
		} else if !joined {
			value = "true"
		}
		out, s = append(out, [2]string{key, value}), rest
	}
}

// unquoteShell reads one word as git quotes it: 'text', with '\” and '\!' for the
// two characters that cannot stand inside.
func unquoteShell(s string) (word, rest string, ok bool) {
	var b strings.Builder
	if !strings.HasPrefix(s, "'") {
		return "", s, false
	}
	for s = s[1:]; ; {
		end := strings.IndexByte(s, '\'')
		if end < 0 {
			return "", "", false
		}
		b.WriteString(s[:end])
		s = s[end+1:]
		if len(s) < 3 || s[0] != '\\' || s[1] != '\'' && s[1] != '!' || s[2] != '\'' {
			return b.String(), s, true
		}
		b.WriteByte(s[1])
		s = s[3:]
	}
}

// isTemporary reports whether the call changes only files that the end of the sandbox removes. No rule applies to them,
// because the user would not miss them.
func (c Call) isTemporary(argv commandLine) bool {
	if c.Private == nil || c.Dir == "" {
		return false
	}
	dir := c.Dir
	for _, d := range argv.dirs {
		if d != "" {
			dir = absolute(dir, d)
		}
	}
	places := []string{
		argv.gitDir, argv.workTree,
		process.Variable(c.Env, "GIT_DIR"), process.Variable(c.Env, "GIT_WORK_TREE"), process.Variable(c.Env, "GIT_COMMON_DIR"),
		process.Variable(c.Env, "GIT_OBJECT_DIRECTORY"), process.Variable(c.Env, "GIT_INDEX_FILE"),
	}
	for _, place := range places {
		if place != "" && !c.Private(absolute(dir, place)) {
			return false
		}
	}
	return c.Private(dir) && c.hasPrivateRepository(dir)
}

// hasPrivateRepository reports whether the repository of dir is in a private directory, too: a linked work tree shares
// the refs and stashes of its main work tree.
func (c Call) hasPrivateRepository(dir string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for ; c.Private(dir); dir = filepath.Dir(dir) {
		name := filepath.Join(dir, ".git")
		info, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false
		case info.IsDir():
			return c.Private(name)
		default:
			at, ok := strings.CutPrefix(readBounded(name), "gitdir: ")
			return ok && c.Private(absolute(dir, strings.TrimRight(at, "\n")))
		}
		if dir == "/" {
			break
		}
	}
	return true
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return dir + "/" + name
}
