package redact

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// npmVariable is a reference to a variable in an .npmrc.
var npmVariable = compileLater(`\$\{([^${}?]+)(\?)?\}`)

// npmKey is the name of an option.
var npmKey = compileLater(`^[A-Za-z@_][A-Za-z0-9@_./:-]*(\[\])?$`)

// npmWords are the options whose values are words, paths or ranges.
var npmWords = []string{
	"access", "audit-level", "auto-install-peers", "before", "bin-links", "ca-file", "cache", "cafile", "cert-file", "certfile", "child-concurrency", "color",
	"cpu", "depth", "diff", "editor", "engine-strict", "fund", "git", "git-checks", "git-tag-version", "globalconfig", "heading", "hoist-pattern", "ignore-scripts",
	"include", "init-license", "init-module", "init-version", "init.license", "init.module", "init.version", "install-strategy", "keyfile", "legacy-peer-deps", "libc",
	"link-workspace-packages", "loglevel", "logs-dir", "network-concurrency", "node-linker", "node-version", "noproxy", "omit", "only", "os",
	"package-import-method", "package-lock", "packageManager", "pnpmfile", "prefer-offline", "prefix", "public-hoist-pattern", "python", "resolution-mode", "save-exact",
	"save-prefix", "scope", "script-shell", "shamefully-hoist", "shell", "state-dir", "store-dir", "tag", "tag-version-prefix", "target", "umask", "update-notifier",
	"userconfig", "viewer", "virtual-store-dir", "workspace", "yarn-path",
}

// npmOption matches the name of an option that is shown if its value is one of npmPlain.
var npmOption = compileLater(`^[a-z][a-z.-]{1,40}$`)

// npmPlain matches values that cannot be secret.
var npmPlain = compileLater(`^(true|false|null|undefined|-?[0-9]{1,9}(\.[0-9]{1,4})?)$`)

// npmLine is a key of an .npmrc and its value.
type npmLine struct {
	number     int
	key, value string
	bare       bool // without a value, which means true
}

// parseNpm reads an .npmrc: the syntax of the package ini, with references to variables.
func parseNpm(f *File, text string, s Source) error {
	lines, err := npmLines(text)
	if err != nil {
		return err
	}
	n := newNpm(f, lines, s)
	for _, l := range lines {
		v, err := n.value(l)
		if err != nil {
			return lineFault(l.number, err.(fault)) //nolint:errorlint,forcetypeassert // every error of value is one
		}
		if v == nil {
			continue
		}
		f.write(l.key, "=")
		f.writeValue(v, unquote)
		f.write("\n")
	}
	return nil
}

// newNpm returns what decides about the lines of one file.
func newNpm(f *File, lines []npmLine, s Source) npm {
	expand := func(text string) (string, bool) {
		ok := true
		out := npmVariable().ReplaceAllStringFunc(text, func(ref string) string {
			m := npmVariable().FindStringSubmatch(ref)
			v, isSet := s.env(m[1])
			ok = ok && (isSet || m[2] != "")
			return v
		})
		return out, ok
	}
	n := npm{file: f, expand: expand, plain: map[string]bool{}}
	for _, l := range lines {
		name, _, _ := strings.Cut(l.key, "[")
		if name != "registry" && !strings.HasSuffix(name, ":registry") {
			continue
		}
		for _, h := range bindAddress(l.value) {
			n.plain[h] = true
		}
		if name == "registry" {
			n.fallback = l.value
		}
	}
	return n
}

// npmLines returns the keys and values. Those of sections mean nothing to npm.
func npmLines(text string) ([]npmLine, error) {
	var out []npmLine
	section := false
	for i, line := range regexpLines().Split(text, -1) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == ';' || line[0] == '#':
			continue
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			section = true
			continue
		case section:
			continue
		}
		key, val, hasValue := strings.Cut(line, "=")
		key, ok := npmText(key)
		val, ok2 := npmText(val)
		if !ok || !ok2 {
			return nil, lineFault(i+1, errSyntax)
		}
		if !hasValue {
			val = "true"
		}
		out = append(out, npmLine{i + 1, key, val, !hasValue})
	}
	return out, nil
}

var regexpLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\r\n|\n|\r`) })

// npmText removes quotes, escapes and a comment at the end. Texts that programs read in different ways are refused.
func npmText(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return "", true
	}
	if q := s[0]; q == '"' || q == '\'' {
		if len(s) < 2 || s[len(s)-1] != q || strings.IndexByte(s[1:len(s)-1], q) >= 0 {
			return "", false
		}
		if q == '\'' {
			s = s[1 : len(s)-1]
			return s, !strings.ContainsAny(s, `\"`)
		}
		var out string
		if json.Unmarshal([]byte(s), &out) != nil {
			return "", false
		}
		return out, isPrintable(out)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && strings.IndexByte(`\;#`, s[i+1]) >= 0:
			i++
			b.WriteByte(s[i])
		case c == ';' || c == '#':
			return strings.TrimSpace(b.String()), true
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String()), isPrintable(b.String())
}

// npm decides what is shown of the keys of one file.
type npm struct {
	file     *File
	expand   expander
	fallback string          // the registry of keys that name none; empty: they are bound to no host
	plain    map[string]bool // the bindings of the registries
}

// value returns what is shown of a key's value; nil: the key is left out.
func (n npm) value(l npmLine) (value, error) {
	if strings.HasPrefix(l.key, "//") {
		return n.hosted(l)
	}
	if !npmKey().MatchString(l.key) {
		return nil, errSyntax
	}
	name, _, _ := strings.Cut(l.key, "[")
	if isToken(name) {
		return nil, errTokenShape
	}
	option := strings.ReplaceAll(strings.TrimLeft(name, "_"), "_", "-")
	switch {
	case strings.HasPrefix(name, "_"), name == "username", name == "email":
		return n.login(name, l.value, bindAddress(n.fallback))
	case name == "registry", strings.HasSuffix(name, ":registry"), slices.Contains([]string{"proxy", "https-proxy", "http-proxy", "noproxy"}, option),
		strings.HasSuffix(option, "-mirror"), strings.HasSuffix(option, "-url"), strings.HasSuffix(option, "-binary-host"), option == "disturl":
		switch {
		case reference().MatchString(l.value):
			return literal(l.value), nil
		case strings.Contains(l.value, "://"):
			return n.file.url(l.value, n.expand)
		case strings.Contains(l.value, "@"): // a login without a scheme
			return nil, errAddress
		}
		return plain(l.value)
	case isSecretName(option):
		return nil, nil
	case !l.bare && npmOption().MatchString(name) && npmPlain().MatchString(l.value), slices.Contains(npmWords, option) && isPlain(strings.Replace(l.value, "${HOME}", "", 1)):
		return literal(l.value), nil
	}
	return nil, nil
}

// hosted returns what is shown of a key of a registry, such as //registry.example.com/path/:_authToken.
func (n npm) hosted(l npmLine) (value, error) {
	i := strings.LastIndexByte(l.key, ':')
	if i < 2 {
		return nil, errWithoutAHost
	}
	where, name := l.key[2:i], l.key[i+1:]
	host, rest, _ := strings.Cut(where, "/")
	if !server().MatchString(host) || !path().MatchString(rest) || isToken(where) {
		return nil, errWithoutAHost
	}
	to := bindings("https", host)
	// A registry without TLS receives the token as npm sends it there.
	if in := bindings("http", host); n.plain[in[0]] {
		to = append(to, in...)
	}
	return n.login(name, l.value, to)
}

// login returns what is shown of a key that npm logs in with.
func (n npm) login(name, text string, to []string) (value, error) {
	switch name {
	case "_authToken":
		return n.file.secret(text, n.expand, to...), nil
	case "_auth":
		if expanded, ok := n.expand(text); ok {
			text = expanded
		} else if reference().MatchString(text) {
			return literal(text), nil
		}
		return n.file.addLogin(text, to...), nil
	case "_password":
		expanded, ok := n.expand(text)
		if !ok && reference().MatchString(text) {
			return literal(text), nil
		}
		password, isEncoded := decode(expanded)
		if !isEncoded || password == "" {
			return n.file.add(text), nil
		}
		v := n.file.add(password, to...)
		v[0].encoded = true
		return v, nil
	case "username", "email", "always-auth", "certfile", "keyfile", "cafile":
		if !isPlain(text) {
			return n.file.secret(text, n.expand, to...), nil
		}
		return literal(text), nil
	}
	return nil, nil
}
