package interpreter

import (
	"encoding/base32"
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"
)

// formatNamed is format("name").
func (vm *machine) formatNamed(in, name Value) (Value, error) {
	s, ok := name.(string)
	if !ok {
		return nil, errorf("%s (%s) is not a valid format", kind(name), shortJSON(name))
	}
	return vm.formatValue("@"+s, in)
}

// formatValue is @name.
func (vm *machine) formatValue(name string, v Value) (Value, error) {
	switch name {
	case "@json":
		return vm.json(v)
	case "@csv", "@tsv":
		return formatRow(name[1:], v)
	case "@sh":
		return formatShell(v)
	}
	text, ok := v.(string)
	if !ok {
		var err error
		if text, err = vm.json(v); err != nil {
			return nil, err
		}
	}
	if err := vm.hold(formatGrowth[name] * len(text)); err != nil {
		return nil, err
	}
	switch name {
	case "@text":
		return text, nil
	case "@html":
		return htmlEscapes.Replace(text), nil
	case "@uri":
		return escapeURI(text), nil
	case "@urid":
		s, err := url.PathUnescape(text)
		if err != nil {
			return nil, errorf("%s (%s) is not a valid uri encoding", kind(v), shortJSON(v))
		}
		return s, nil
	case "@base64":
		return base64.StdEncoding.EncodeToString([]byte(text)), nil
	case "@base64d":
		return decodeBase64(v, text)
	case "@base32":
		return base32.StdEncoding.EncodeToString([]byte(text)), nil
	case "@base32d":
		b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(text, "="))
		if err != nil {
			return nil, errorf("%s (%s) is not valid base32 data", kind(v), shortJSON(v))
		}
		return strings.ToValidUTF8(string(b), "\uFFFD"), nil
	}
	return nil, errorf("%s is not a valid format", strings.TrimPrefix(name, "@"))
}

// formatGrowth is how many times as long as a text its format can be. Escapes for HTML are rarely dense.
var formatGrowth = map[string]int{"@html": 3, "@uri": 3, "@urid": 1, "@base64": 2, "@base64d": 1, "@base32": 2, "@base32d": 2}

var htmlEscapes = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", "'", "&#39;", `"`, "&quot;")

func escapeURI(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if isWord(c) || strings.IndexByte("-.~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const upper = "0123456789ABCDEF"
		b.Write([]byte{'%', upper[c>>4], upper[c&15]})
	}
	return b.String()
}

func formatRow(name string, v Value) (Value, error) {
	a, ok := v.(*Array)
	if !ok {
		return nil, errorf("%s (%s) cannot be %s-formatted, only array", kind(v), shortJSON(v), name)
	}
	var b strings.Builder
	for i, item := range a.v {
		if i > 0 {
			b.WriteByte(map[string]byte{"csv": ',', "tsv": '\t'}[name])
		}
		switch x := item.(type) {
		case nil:
		case bool, float64, *Number:
			b.WriteString(toJSON(x))
		case string:
			if name == "csv" {
				b.WriteString(`"` + strings.ReplaceAll(x, `"`, `""`) + `"`)
			} else {
				b.WriteString(tsvEscapes.Replace(x))
			}
		default:
			return nil, errorf("%s (%s) is not valid in a csv row", kind(item), shortJSON(item))
		}
	}
	return b.String(), nil
}

var tsvEscapes = strings.NewReplacer("\t", `\t`, "\r", `\r`, "\n", `\n`, `\`, `\\`)

func formatShell(v Value) (Value, error) {
	items := []Value{v}
	if a, ok := v.(*Array); ok {
		items = a.v
	}
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteByte(' ')
		}
		switch x := item.(type) {
		case string:
			b.WriteString("'" + strings.ReplaceAll(x, "'", `'\''`) + "'")
		case *Array, *Object:
			return nil, errorf("%s (%s) can not be escaped for shell", kind(item), shortJSON(item))
		default:
			b.WriteString(toJSON(x))
		}
	}
	return b.String(), nil
}

func decodeBase64(v Value, s string) (Value, error) {
	trimmed := strings.TrimRight(s, "=")
	b, err := base64.RawStdEncoding.DecodeString(trimmed)
	if err != nil && (len(b) == 0 || len(trimmed)%4 == 1 && len(b) == 0) {
		if trimmed == "" {
			return "", nil
		}
		return nil, errorf("%s (%s) is not valid base64 data", kind(v), shortJSON(v))
	}
	if !utf8.Valid(b) {
		return strings.ToValidUTF8(string(b), "\uFFFD"), nil
	}
	return string(b), nil
}
