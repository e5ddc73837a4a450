package guest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// git applies the rules for git to args and, when they agree, becomes the real git
// with argv 0, options and environment as they were given.
func (p process) git(args []string) int {
	dir, err := syscall.Getwd() // the kernel's answer: PWD may claim /tmp
	if err != nil {
		dir = ""
	}
	line := args[1:]
	if command, ok := strings.CutPrefix(filepath.Base(args[0]), "git-"); ok {
		line = append([]string{command}, line...) // an exec-path link such as git-upload-pack
	}
	call := gitCall{args: line, env: p.env, dir: dir, alias: askAlias}
	if r := call.check(); r != nil && !startedByGit(os.Getppid(), call) {
		tellDenied("git", r.what)
		return p.fail(exitRefused, r.what+" is blocked: "+r.why, r.instead)
	}
	return p.real("git", args)
}

// gitCall is one invocation of git.
type gitCall struct {
	args  []string                                    // what follows git's name
	env   []string                                    // its environment
	dir   string                                      // working directory as the kernel names it; empty: unknown
	alias func(c gitCall, name string) (string, bool) // the value of alias.NAME; nil: there are no aliases
}

// maxAliases bounds aliases of aliases.
const maxAliases = 10

// check returns why the call is refused, or nil.
func (c gitCall) check() *refusal {
	argv := parseGit(c.args)
	if argv.command == "" || argv.command == "help" || argv.asksHelp() || c.temporary(argv) {
		return nil
	}
	if r := c.checkSettings(argv); r != nil {
		return r
	}
	argv = c.expand(argv)
	return checkGitCommand(argv.command, argv.args)
}

// expand replaces aliases by what they stand for. One that runs a shell stays: what
// it starts comes by here again.
func (c gitCall) expand(argv gitArgv) gitArgv {
	for range maxAliases {
		if c.alias == nil || gitCommands.has(argv.command) || argv.command == "" {
			break
		}
		value, ok := c.alias(c, argv.command)
		if !ok || strings.HasPrefix(value, "!") {
			break
		}
		next := parseGit(append(splitAlias(value), argv.args...))
		if next.command == argv.command { // git refuses such a loop
			break
		}
		argv.command, argv.args = next.command, next.args
	}
	return argv
}

// checkSettings looks at configuration that comes with this one call: -c,
// --config-env and the variables that carry the same.
func (c gitCall) checkSettings(argv gitArgv) *refusal {
	const instead = "run git without this setting"
	for _, s := range argv.settings {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			value = "true"
		}
		if why := checkOnce(argv.command, key, value); why != "" {
			return &refusal{"git -c " + key, why, instead}
		}
	}
	for _, s := range argv.fromEnv {
		at := strings.LastIndexByte(s, '=')
		if at < 0 {
			continue
		}
		if why := checkOnce(argv.command, s[:at], variable(c.env, s[at+1:])); why != "" {
			return &refusal{"git --config-env " + s[:at], why, instead}
		}
	}
	for _, kv := range c.env {
		name, key, _ := strings.Cut(kv, "=")
		n, ok := strings.CutPrefix(name, "GIT_CONFIG_KEY_")
		if !ok || !counted(c.env, n) {
			continue
		}
		if why := checkOnce(argv.command, key, variable(c.env, "GIT_CONFIG_VALUE_"+n)); why != "" {
			return &refusal{"git with " + name + "=" + key, why, "unset GIT_CONFIG_COUNT"}
		}
	}
	for _, s := range parameterSettings(variable(c.env, "GIT_CONFIG_PARAMETERS")) {
		if why := checkOnce(argv.command, s[0], s[1]); why != "" {
			return &refusal{"git with GIT_CONFIG_PARAMETERS of " + s[0], why, "unset GIT_CONFIG_PARAMETERS"}
		}
	}
	return nil
}

// counted reports whether git reads GIT_CONFIG_KEY_<n>.
func counted(env []string, n string) bool {
	i, err := strconv.Atoi(n)
	count, err2 := strconv.Atoi(strings.TrimSpace(variable(env, "GIT_CONFIG_COUNT")))
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

// temporary reports whether all that the call touches lies under /tmp, where no
// rule applies: there is nothing that a person would miss.
func (c gitCall) temporary(argv gitArgv) bool {
	dir := c.dir
	for _, d := range argv.dirs {
		if d != "" {
			dir = absolute(dir, d)
		}
	}
	places := []string{
		argv.gitDir, argv.workTree,
		variable(c.env, "GIT_DIR"), variable(c.env, "GIT_WORK_TREE"), variable(c.env, "GIT_COMMON_DIR"),
		variable(c.env, "GIT_OBJECT_DIRECTORY"), variable(c.env, "GIT_INDEX_FILE"),
	}
	for _, place := range places {
		if place != "" && !underTmp(absolute(dir, place)) {
			return false
		}
	}
	return underTmp(dir)
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return dir + "/" + name
}

// underTmp resolves links first: one in /tmp may lead anywhere. For what does not
// exist yet its directory decides.
func underTmp(name string) bool {
	resolved, err := filepath.EvalSymlinks(name)
	if err != nil {
		resolved, err = filepath.EvalSymlinks(filepath.Dir(name))
	}
	return err == nil && (resolved == "/tmp" || strings.HasPrefix(resolved, "/tmp/"))
}
