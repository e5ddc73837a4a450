package redact

import (
	"encoding/json"
	"strings"
)

// parseYarnClassic reads a .yarnrc, the file of Yarn 1: a key and its value on a line, each a word or a string of JSON. The options are
// those of npm and some of its own. A file with nested values is a fault.
func parseYarnClassic(f *File, text string, s Source) error {
	lines, err := yarnClassicLines(text)
	if err != nil {
		return err
	}
	n := newNpm(f, lines, s)
	for _, l := range lines {
		v, err := n.classic(l)
		if err != nil {
			return lineFault(l.number, err.(fault)) //nolint:errorlint,forcetypeassert // every error of classic is one
		}
		if v == nil {
			continue
		}
		f.write(`"`, quoteTOML(l.key), `" `)
		if npmPlain().MatchString(l.value) {
			f.writeValue(v, unquote) // in quotes it would be a text
		} else {
			f.write(`"`)
			f.writeValue(v, quoteTOML)
			f.write(`"`)
		}
		f.write("\n")
	}
	return nil
}

// classic is like value for a line of a .yarnrc.
func (n npm) classic(l npmLine) (value, error) {
	v, err := literal(l.value), error(nil)
	flag := strings.HasPrefix(l.key, "--") // an argument for each call of a command
	if !flag {
		v, err = n.value(l)
	}
	switch {
	case err != nil || v != nil && !flag:
		return v, err
	case isSecretName(strings.TrimLeft(l.key, "-_")), strings.Contains(l.key, "_"), isToken(l.key), !isPlain(l.value), strings.Contains(l.value, "@"):
		return nil, nil
	}
	return literal(l.value), nil
}

func yarnClassicLines(text string) ([]npmLine, error) {
	var out []npmLine
	for i, line := range regexpLines().Split(text, -1) {
		if strings.TrimSpace(line) == "" || line[0] == '#' {
			continue
		}
		key, rest, ok := yarnClassicWord(line)
		val, rest, ok2 := yarnClassicWord(strings.TrimLeft(rest, " "))
		if !ok || !ok2 || strings.TrimSpace(rest) != "" {
			return nil, lineFault(i+1, errSyntax)
		}
		out = append(out, npmLine{number: i + 1, key: key, value: val})
	}
	return out, nil
}

// yarnClassicWord splits the first word or string from a line.
func yarnClassicWord(line string) (word, rest string, ok bool) {
	if line == "" || line[0] == ' ' || line[0] == '\t' {
		return "", "", false
	}
	if line[0] != '"' {
		word, rest, _ = strings.Cut(line, " ")
		return word, rest, isPrintable(word) && !strings.ContainsAny(word, "\"'\\,#\t") && !strings.HasSuffix(word, ":")
	}
	d := json.NewDecoder(strings.NewReader(line))
	if d.Decode(&word) != nil {
		return "", "", false
	}
	rest = line[d.InputOffset():]
	return word, rest, isPrintable(word) && (rest == "" || rest[0] == ' ')
}
