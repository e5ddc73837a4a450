package redact

import (
	"slices"
	"strings"
)

// cargoSecrets are the last parts of keys that hold credentials.
var cargoSecrets = []string{"token", "secret-key", "password", "passphrase"}

// parseCargo reads a config.toml of Cargo.
func parseCargo(f *File, text string, s Source) error {
	entries, err := parseTOML(text)
	if err != nil {
		return err
	}
	return f.cargo(entries, cargoRegistries(entries, s))
}

// parseCargoCredentials reads a credentials.toml, whose registries config.toml describes.
func parseCargoCredentials(f *File, text string, s Source) error {
	entries, err := parseTOML(text)
	if err != nil {
		return err
	}
	others, err := parseTOML(string(s.beside("config.toml")))
	if err != nil {
		others = nil // the tokens are bound to no host then
	}
	return f.cargo(entries, cargoRegistries(others, s))
}

// cargoRegistries returns the hosts of the registries, by the paths of their tables.
func cargoRegistries(entries []entry, s Source) func(table []string) []string {
	found := map[string][]string{}
	for _, e := range entries {
		if index, ok := e.value.(string); ok && len(e.path) == 3 && e.path[0] == "registries" && e.path[2] == "index" {
			found[e.path[1]] = bindAddress(index)
		}
	}
	return func(table []string) []string {
		if len(table) != 2 || table[0] != "registries" {
			return nil // the token of the default registry names no host
		}
		name := strings.ToUpper(strings.ReplaceAll(table[1], "-", "_"))
		if index, ok := s.env("CARGO_REGISTRIES_" + name + "_INDEX"); ok {
			return bindAddress(index)
		}
		return found[table[1]]
	}
}

func (f *File) cargo(entries []entry, hosts func(table []string) []string) error {
	for _, e := range entries {
		if slices.ContainsFunc(e.path, isToken) {
			return lineFault(e.line, errTokenShape)
		}
		last := e.path[len(e.path)-1]
		var v value
		switch x := e.value.(type) {
		case string:
			v = f.cargoString(e.path, x, hosts)
		case scalar:
			v = literal(string(x))
		case []any:
			v = cargoList(x)
		}
		if _, isText := e.value.(string); !isText && isSecretName(last) || v == nil {
			continue
		}
		f.write(keyTOML(e.path), " = ")
		if _, isText := e.value.(string); isText {
			f.write(`"`)
			f.writeValue(v, quoteTOML)
			f.write("\"\n")
		} else {
			f.writeValue(v, unquote)
			f.write("\n")
		}
	}
	return nil
}

// cargoString returns what is shown of a string; nil: the key is left out.
func (f *File) cargoString(path []string, text string, hosts func([]string) []string) value {
	last := path[len(path)-1]
	if slices.Contains(cargoSecrets, last) {
		if !isPrintable(text) {
			return nil
		}
		return f.add(text, hosts(path[:len(path)-1])...)
	}
	switch {
	case isSecretName(last), !isPrintable(text):
		return nil
	case strings.Contains(text, "://"):
		v, err := f.url(text, nil)
		if err != nil {
			return nil
		}
		return v
	case isToken(text), last == "proxy" && strings.Contains(text, "@"):
		return nil
	}
	return literal(text)
}

// cargoList returns a list as it is written; nil: something in it looks secret.
func cargoList(list []any) value {
	var items []string
	for _, item := range list {
		switch x := item.(type) {
		case string:
			if isToken(x) || !isPrintable(x) || strings.Contains(x, "://") && strings.Contains(x, "@") {
				return nil
			}
			items = append(items, `"`+quoteTOML(x)+`"`)
		case scalar:
			items = append(items, string(x))
		case []any:
			v := cargoList(x)
			if v == nil {
				return nil
			}
			items = append(items, v[0].text)
		}
	}
	return literal("[" + strings.Join(items, ", ") + "]")
}
