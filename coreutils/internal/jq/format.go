package jq

import (
	"encoding/base32"
	"encoding/base64"
	"net/url"
	"strings"
	"unicode/utf8"
)

// formatNamed is format("name").
func formatNamed(in, name Value) (Value, error) {
	s, ok := name.(string)
	if !ok {
		return nil, errorf("%s (%s) is not a valid format", kind(name), shortJSON(name))
	}
	return formatValue("@"+s, in)
}

// formatValue is @name.
func formatValue(name string, v Value) (Value, error) {
	str := func() string {
		if s, ok := v.(string); ok {
			return s
		}
		return toJSON(v)
	}
	switch name {
	case "@text":
		return str(), nil
	case "@json":
		return toJSON(v), nil
	case "@csv", "@tsv":
		return formatRow(name[1:], v)
	case "@html":
		return htmlEscapes.Replace(str()), nil
	case "@uri":
		return escapeURI(str()), nil
	case "@urid":
		s, err := url.PathUnescape(str())
		if err != nil {
			return nil, errorf("%s (%s) is not a valid uri encoding", kind(v), shortJSON(v))
		}
		return s, nil
	case "@sh":
		return formatShell(v)
	case "@base64":
		return base64.StdEncoding.EncodeToString([]byte(str())), nil
	case "@base64d":
		return decodeBase64(v, str())
	case "@base32":
		return base32.StdEncoding.EncodeToString([]byte(str())), nil
	case "@base32d":
		b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(str(), "="))
		if err != nil {
			return nil, errorf("%s (%s) is not valid base32 data", kind(v), shortJSON(v))
		}
		return strings.ToValidUTF8(string(b), "\uFFFD"), nil
	}
	return nil, errorf("%s is not a valid format", strings.TrimPrefix(name, "@"))
}

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
