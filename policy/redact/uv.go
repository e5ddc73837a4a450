package redact

import (
	"slices"
	"strings"
)

// parseUv reads a uv.toml. Its credentials are the logins of addresses.
func parseUv(f *File, text string, _ Source) error {
	entries, err := parseTables(text)
	if err != nil {
		return err
	}
	return f.tables(entries, func(e entry, text string) value { return nil })
}

// parseBun reads a .bunfig.toml. A token is bound to the address in its table.
func parseBun(f *File, text string, s Source) error {
	entries, err := parseTables(text)
	if err != nil {
		return err
	}
	servers := map[string][]string{}
	for _, e := range entries {
		if text, ok := e.value.(string); ok && e.path[len(e.path)-1] == "url" {
			servers[keyTOML(e.path[:len(e.path)-1])] = bindAddress(text)
		}
	}
	expand := func(text string) (string, bool) {
		name, ok := strings.CutPrefix(text, "$")
		if !ok {
			return text, true
		}
		return s.env(strings.Trim(name, "{}"))
	}
	return f.tables(entries, func(e entry, text string) value {
		last := e.path[len(e.path)-1]
		switch {
		case last != "token" && last != "password":
			return nil
		case bunVariable().MatchString(text):
			if _, ok := expand(text); !ok {
				return literal(text)
			}
		}
		expanded, _ := expand(text)
		return f.add(expanded, servers[keyTOML(e.path[:len(e.path)-1])]...)
	})
}

// bunVariable is a value that is a reference to a variable.
var bunVariable = compileLater(`^\$(?:[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})$`)

// parsePoetry reads an auth.toml of Poetry, whose repositories config.toml describes. The sources of a project do not count.
func parsePoetry(f *File, text string, s Source) error {
	entries, err := parseTables(text)
	if err != nil {
		return err
	}
	others, err := parseTables(string(s.beside("config.toml")))
	if err != nil {
		others = nil // the logins are bound to no host then
	}
	servers := map[string][]string{}
	for _, e := range others {
		if text, ok := e.value.(string); ok && len(e.path) == 3 && e.path[0] == "repositories" && e.path[2] == "url" {
			servers[e.path[1]] = bindAddress(text)
		}
	}
	return f.tables(entries, func(e entry, text string) value {
		switch {
		case len(e.path) == 3 && e.path[0] == "http-basic" && e.path[2] == "password", len(e.path) == 2 && slices.Contains([]string{"pypi-token", "bearer"}, e.path[0]):
			return f.add(text, servers[e.path[1]]...)
		}
		return nil
	})
}

// tables writes the entries of a document. credential returns what is shown of a string that holds a credential, and nil for others. A
// string that looks secret, or is an address that is not understood, is an error where the key names servers, and left out elsewhere.
func (f *File) tables(entries []entry, credential func(e entry, text string) value) error {
	for _, e := range slices.Concat(inTables(entries, false), inTables(entries, true)) {
		if slices.ContainsFunc(e.path, isToken) || !isPrintable(strings.Join(e.path, "")) {
			return lineFault(e.line, errTokenShape)
		}
		if e.header {
			f.write("[[", keyTOML(e.path), "]]\n")
			continue
		}
		v, err := f.tableValue(e, credential)
		if err != nil {
			return lineFault(e.line, *err)
		}
		if v == nil {
			continue
		}
		f.write(keyTOML(e.path[e.inside:]), " = ")
		if _, isText := e.value.(string); isText {
			f.write(`"`)
			f.writeValue(v, quoteTOML)
			f.write("\"\n")
			continue
		}
		f.writeValue(v, unquote)
		f.write("\n")
	}
	return nil
}

// inTables returns the entries in lists of tables, or the others.
func inTables(entries []entry, inside bool) []entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return (e.inside > 0) != inside })
}

func (f *File) tableValue(e entry, credential func(e entry, text string) value) (value, *fault) {
	last := e.path[len(e.path)-1]
	names := serverKey().MatchString(last)
	bad := errAddress
	switch x := e.value.(type) {
	case scalar:
		return literal(string(x)), nil
	case []any:
		return f.tableList(x, names)
	case string:
		if v := credential(e, x); v != nil || x == "" {
			return v, nil
		}
		switch {
		case isSecretName(last), !isPrintable(x):
			return nil, nil
		case strings.Contains(x, "://"):
			v, err := f.url(x, nil)
			if err != nil && names {
				return nil, &bad
			}
			return v, nil
		case isToken(x), strings.Contains(x, "@"):
			if names {
				return nil, &bad
			}
			return nil, nil
		}
		return literal(x), nil
	}
	return nil, nil
}

// serverKey matches keys that name servers: without one of them a program would ask another server.
var serverKey = compileLater(`(?i)(url|index|registry|links|mirror)$`)

// tableList writes a list of strings and scalars. A list of servers is shown whole or is an error.
func (f *File) tableList(list []any, names bool) (value, *fault) {
	out := literal("[")
	for i, item := range list {
		if i > 0 {
			out = append(out, part{text: ", "})
		}
		switch x := item.(type) {
		case string:
			v, err := f.url(x, nil)
			if !strings.Contains(x, "://") {
				v, err = plain(x)
			}
			if err != nil {
				if names {
					bad := errAddress
					return nil, &bad
				}
				return nil, nil
			}
			out = append(out, part{text: `"`})
			for _, p := range v {
				if p.credential == 0 {
					p.text = quoteTOML(p.text)
				}
				out = append(out, p)
			}
			out = append(out, part{text: `"`})
		case scalar:
			out = append(out, part{text: string(x)})
		default:
			return nil, nil
		}
	}
	return append(out, part{text: "]"}), nil
}
