package redact

import (
	"slices"
	"strings"
)

// bundlerWords are the settings of Bundler whose values are words, paths, numbers or lists of groups. Those of build and local
// carry the name of a gem.
var bundlerWords = []string{
	"allow_offline_install", "auto_clean_without_path", "auto_install", "bin", "cache_all", "cache_all_platforms", "cache_path", "clean", "console", "default_cli_command",
	"default_install_uses_path", "deployment", "disable_checksum_validation", "disable_exec_load", "disable_local_branch_check", "disable_local_revision_check",
	"disable_shared_gems", "disable_version_check", "force_ruby_platform", "frozen", "gem.changelog", "gem.ci", "gem.coc", "gem.linter", "gem.mit", "gem.rubocop", "gem.test",
	"gemfile", "global_gem_cache", "ignore_config", "ignore_funding_requests", "ignore_messages", "init_gems_rb", "jobs", "lockfile_checksums", "major_deprecations",
	"no_install", "no_prune", "only", "path", "path.system", "path_relative_to_cwd", "plugins", "prefer_patch", "prune", "redirect", "retry", "setup_makes_kernel_gem_public", "shebang",
	"silence_deprecations", "silence_root_warning", "ssl_ca_cert", "ssl_verify_mode", "system_bindir", "timeout", "trust-policy", "update_requires_all_flag",
	"version", "with", "without",
}

// parseBundler reads a configuration of Bundler: the lines of a mapping in YAML, whose keys are names of variables.
func parseBundler(f *File, text string, _ Source) error {
	f.write("---\n")
	for i, line := range regexpLines().Split(text, -1) {
		trimmed := strings.TrimRight(line, " ")
		if trimmed == "" || trimmed[0] == '#' || trimmed == "---" {
			continue
		}
		key, rest, ok := bundlerKey(trimmed)
		if !ok {
			return lineFault(i+1, errSyntax)
		}
		v, bad := f.bundlerValue(key, rest)
		if bad != nil {
			return lineFault(i+1, *bad)
		}
		if v == nil {
			continue
		}
		f.write(key, `: "`)
		f.writeValue(v, unquote)
		f.write("\"\n")
	}
	return nil
}

// bundlerKey splits a line. Lists and texts of several lines are not understood.
func bundlerKey(line string) (key, text string, ok bool) {
	if !isPrintable(line) || !strings.HasPrefix(line, "BUNDLE_") {
		return "", "", false
	}
	key, text, ok = strings.Cut(line+" ", ": ")
	if text = strings.TrimSpace(text); !ok || strings.ContainsAny(key, " \t#\"'") {
		return "", "", false
	}
	if text == "" {
		return key, "", true
	}
	if text, ok = yamlText(text); !ok {
		return "", "", false
	}
	return key, text, true
}

// bundlerName returns the name of a setting as "bundle config" prints it.
func bundlerName(key string) string {
	return strings.ToLower(strings.NewReplacer("___", "-", "__", ".").Replace(strings.TrimPrefix(key, "BUNDLE_")))
}

// bundlerValue returns what is shown of a setting; nil: it is left out. The other settings than those of Bundler are logins, whose
// names are hosts or addresses.
func (f *File) bundlerValue(key, text string) (value, *fault) {
	name := bundlerName(key)
	prefix, _, _ := strings.Cut(name, ".")
	switch {
	case text == "":
		return nil, nil
	case isToken(key):
		bad := errTokenShape
		return nil, &bad
	case prefix == "mirror":
		if !strings.Contains(text, "://") && isPlain(text) { // a time limit
			return literal(text), nil
		}
		v, err := f.url(text, nil)
		if err != nil {
			bad := errAddress
			return nil, &bad
		}
		return v, nil
	case slices.Contains(bundlerWords, name), prefix == "build", prefix == "local":
		if isPlain(text) {
			return literal(text), nil
		}
		return nil, nil
	}
	to := bindAddress(name)
	if to == nil && strings.Contains(name, ".") && server().MatchString(name) {
		to = bindings("https", name)
	}
	user, password, isLogin := strings.Cut(text, ":")
	if !isLogin || password == "" || !isPlain(user) {
		return f.add(text, to...), nil
	}
	return append(literal(user+":"), f.add(password, to...)...), nil
}
