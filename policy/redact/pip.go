package redact

import (
	"slices"
	"strings"
)

// pipAddresses are the options of pip that hold addresses, several in one value.
var pipAddresses = []string{"index-url", "extra-index-url", "index", "find-links", "proxy"}

// pipWords are the options whose values are words, paths or numbers.
var pipWords = []string{
	"abi", "break-system-packages", "build-dir", "cache-dir", "cert", "client-cert", "compile", "config-settings", "constraint", "default-timeout",
	"disable-pip-version-check", "exists-action", "format", "ignore-installed", "ignore-requires-python", "implementation", "isolated", "log",
	"no-binary", "no-build-isolation", "no-cache-dir", "no-color", "no-compile", "no-dependencies", "no-deps", "no-index", "no-input",
	"no-python-version-warning", "no-warn-script-location", "only-binary", "platform", "pre", "prefer-binary", "prefix", "progress-bar",
	"python-version", "quiet", "require-hashes", "require-virtualenv", "requirement", "resume-retries", "retries", "root", "root-user-action", "src",
	"target", "timeout", "trusted-host", "upgrade", "upgrade-strategy", "use-deprecated", "use-feature", "use-pep517", "user", "verbose",
}

// pipSection is the name of a section: global, or a command.
var pipSection = compileLater(`^[a-z:-]{1,20}$`)

// parsePip reads a pip.conf: the syntax of Python's RawConfigParser, without references.
func parsePip(f *File, text string, _ Source) error {
	key, section := "", false
	var words []value
	for i, line := range regexpLines().Split(text, -1) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
			continue
		case line[0] == ' ' || line[0] == '\t':
			if !section || key == "" {
				return lineFault(i+1, errSyntax)
			}
		case trimmed[0] == '[':
			f.pipOption(key, words)
			name := strings.TrimSuffix(trimmed[1:], "]")
			if len(name)+2 != len(trimmed) || !pipSection().MatchString(name) {
				return lineFault(i+1, errSyntax)
			}
			section, key, words = true, "", nil
			f.write("[", name, "]\n")
			continue
		default:
			f.pipOption(key, words)
			end := strings.IndexAny(trimmed, "=:")
			if !section || end < 1 {
				return lineFault(i+1, errSyntax)
			}
			key, words = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(trimmed[:end])), "_", "-"), nil
			trimmed = strings.TrimSpace(trimmed[end+1:])
		}
		more, err := f.pipWords(key, trimmed)
		if err != nil {
			return lineFault(i+1, *err)
		}
		words = append(words, more...)
	}
	f.pipOption(key, words)
	return nil
}

// pipOption writes an option that is known.
func (f *File) pipOption(key string, words []value) {
	if len(words) == 0 {
		return
	}
	f.write(key, " =")
	for _, w := range words {
		if len(words) == 1 {
			f.write(" ")
		} else {
			f.write("\n    ")
		}
		f.writeValue(w, unquote)
	}
	f.write("\n")
}

// pipWords returns the words of one line of a value; none for options that are not known.
func (f *File) pipWords(key, text string) ([]value, *fault) {
	addresses := slices.Contains(pipAddresses, key)
	if !addresses && !slices.Contains(pipWords, key) {
		return nil, nil
	}
	var out []value
	for w := range strings.FieldsSeq(text) {
		v, err := plain(w)
		if addresses && strings.Contains(w, "://") {
			v, err = f.url(w, nil)
		} else if addresses && strings.Contains(w, "@") {
			err = errAddress // a proxy with a login and without a scheme
		}
		if err != nil {
			bad := err.(fault) //nolint:errorlint,forcetypeassert // the errors of url and plain are faults
			return nil, &bad
		}
		out = append(out, v)
	}
	return out, nil
}
