package proxy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
)

// minMasked is the length of the shortest value that is masked, because a shorter one, such
// as "1", could occur in a text by chance.
const minMasked = 8

// spellings returns the forms in which files and variables contain a value as text:
// unchanged, in JSON, and in a URL (.git-credentials). The longest come first.
func spellings(value string) []string {
	list := []string{value}
	for _, escape := range []bool{true, false} {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(escape)
		if e.Encode(value) == nil {
			list = append(list, strings.Trim(strings.TrimSpace(b.String()), `"`))
		}
	}
	list = append(list, strings.ReplaceAll(value, "/", `\/`)) // JSON may
	for _, s := range []string{url.PathEscape(value), url.QueryEscape(value), strings.TrimPrefix(url.UserPassword("", value).String(), ":")} {
		list = append(list, s, lowerEscapes(s))
	}
	sort.Slice(list, func(i, j int) bool {
		if len(list[i]) != len(list[j]) {
			return len(list[i]) > len(list[j])
		}
		return list[i] < list[j]
	})
	return slices.Compact(list)
}

var percent = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[0-9A-F]{2}`) })

func lowerEscapes(s string) string { return percent().ReplaceAllStringFunc(s, strings.ToLower) }

// encoded finds text that may be Base64, in both alphabets.
var encoded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[A-Za-z0-9+/]{8,}={0,2}|[A-Za-z0-9_-]{8,}={0,2}`)
})

// conceal replaces the value by the placeholder, also inside Base64: "auth" in Docker's
// config.json and "_auth" in .npmrc are user:password.
func conceal(data []byte, value, placeholder string) []byte {
	for _, s := range spellings(value) {
		data = bytes.ReplaceAll(data, []byte(s), []byte(placeholder))
	}
	return encoded().ReplaceAllFunc(data, func(text []byte) []byte {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.RawURLEncoding, base64.URLEncoding} {
			plain, err := enc.DecodeString(string(text))
			if err == nil && bytes.Contains(plain, []byte(value)) {
				return []byte(enc.EncodeToString(bytes.ReplaceAll(plain, []byte(value), []byte(placeholder))))
			}
		}
		return text
	})
}

// hasValue reports whether text contains a value, unchanged or inside Base64 with any bytes
// around it. It never finds values that are shorter than minMasked.
func hasValue(text, value string) bool {
	if len(value) < minMasked {
		return false
	}
	for _, s := range spellings(value) {
		if strings.Contains(text, s) {
			return true
		}
	}
	// Base64 may be cut into lines.
	text = strings.Join(strings.Fields(text), "")
	alike := strings.NewReplacer("-", "+", "_", "/").Replace(text)
	for before := range 3 {
		if strings.Contains(alike, encodedCore(value, before)) {
			return true
		}
	}
	return false
}

// encodedCore returns the part of value's Base64 that does not depend on the bytes around it.
// before is the number of bytes before it, modulo 3.
func encodedCore(value string, before int) string {
	text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("\x00", before) + value))
	return text[(before*8+5)/6 : (before+len(value))*8/6]
}
