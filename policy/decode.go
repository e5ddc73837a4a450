package policy

import (
	"bytes"
	"encoding/json"
	"reflect"
	"sort"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// MaxConfig is the size in bytes above which a configuration file is refused.
const MaxConfig = 1 << 20

// Decode reads a configuration file, JSON with or without comments and trailing
// commas. file is its name for messages. The map tells on which line, from 1,
// each key and list entry stands: "network", "filesystem.ro[0]", "commands.git".
//
// It is strict: an unknown or repeated key, a value of a wrong type, a value
// that cannot be meant, or anything after the object is an error with code
// Invalid and one line of text, "FILE:LINE: KEY: what was found, expected what".
// So is a file with nothing in it: an editor that failed to save must not look
// like a policy that asks for nothing.
func Decode(file string, data []byte) (sandbox.Policy, map[string]int, error) {
	d := &configDecoder{file: file, at: map[string]int{}}
	top, err := d.parse(data)
	if err != nil {
		return sandbox.Policy{}, nil, err
	}
	var p sandbox.Policy
	if err := d.value(reflect.ValueOf(&p).Elem(), top, ""); err != nil {
		return sandbox.Policy{}, nil, err
	}
	if err := checkLayer(sandbox.Layer{File: file, Policy: p, Lines: d.at}); err != nil {
		return sandbox.Policy{}, nil, err
	}
	return p, d.at, nil
}

// configDecoder puts the syntax tree of one file into a Policy.
type configDecoder struct {
	file     string
	newlines []int          // offsets
	at       map[string]int // key path → line
}

func (d *configDecoder) errorf(line int, key, format string, args ...any) *sandbox.Error {
	return configErrorf(d.file, line, key, format, args...)
}

func (d *configDecoder) line(offset int) int {
	return 1 + sort.SearchInts(d.newlines, offset)
}

func (d *configDecoder) parse(data []byte) (hujson.Value, error) {
	for i, c := range data {
		if c == '\n' {
			d.newlines = append(d.newlines, i)
		}
	}
	switch {
	case len(data) > MaxConfig:
		return hujson.Value{}, d.errorf(1, "", "found more than %s, expected a smaller file", sandbox.Bytes(MaxConfig))
	case len(bytes.TrimSpace(data)) == 0:
		return hujson.Value{}, d.errorf(1, "", "found an empty file, expected an object such as {}")
	case bytes.HasPrefix(data, []byte("\ufeff")):
		return hujson.Value{}, d.errorf(1, "", "found a byte order mark, expected an object")
	}
	if i := invalidUTF8(data); i >= 0 {
		return hujson.Value{}, d.errorf(d.line(i), "", "found invalid UTF-8, expected UTF-8 text")
	}
	if i := tooDeep(data); i >= 0 {
		return hujson.Value{}, d.errorf(d.line(i), "", "found more than %d brackets inside each other, expected at most 4", maxNesting)
	}
	// The parser wants a newline after a last line that is a comment.
	v, err := hujson.Parse(append(bytes.Clone(data), '\n'))
	if err != nil {
		return hujson.Value{}, d.syntaxError(err)
	}
	return v, nil
}

var hujsonError = lazyRegexp(`(?s)^hujson: line (\d+), column \d+: (.*)$`)

func (d *configDecoder) syntaxError(err error) error {
	line, text := 1, err.Error()
	if m := hujsonError().FindStringSubmatch(text); m != nil {
		if n, convErr := strconv.Atoi(m[1]); convErr == nil {
			line = n
		}
		text = m[2]
	}
	if lit, ok := strings.CutPrefix(text, "invalid literal: "); ok {
		text = "invalid literal " + clip(lit)
	}
	if strings.HasSuffix(text, "unexpected EOF") {
		// The parser saw one more newline than the file has.
		line = min(line, 1+len(d.newlines))
		text = strings.TrimSuffix(text, ": unexpected EOF") + " met the end of the file"
	}
	return d.errorf(line, "", "found broken JSON (%s), expected an object", text)
}

// value stores jv into v, which stands at key.
func (d *configDecoder) value(v reflect.Value, jv hujson.Value, key string) error {
	line := d.line(jv.StartOffset)
	if _, ok := d.at[key]; !ok && key != "" {
		d.at[key] = line
	}
	if lit, ok := jv.Value.(hujson.Literal); ok && lit.Kind() == '"' && loneSurrogate(lit) {
		return d.errorf(line, key, "found half of a surrogate pair in %s, expected a whole character", clip(string(lit)))
	}
	mismatch := func() error {
		return d.errorf(line, key, "found %s, expected %s", found(jv), expectation(v.Type()))
	}
	if n, ok := reflect.TypeAssert[*sandbox.Network](v.Addr()); ok {
		if obj, ok := jv.Value.(*hujson.Object); ok {
			n.Mode = sandbox.NetworkAllow
			return d.object(v, obj, key)
		}
	}
	if u, ok := reflect.TypeAssert[json.Unmarshaler](v.Addr()); ok {
		if lit, ok := jv.Value.(hujson.Literal); !ok || u.UnmarshalJSON(lit) != nil {
			return mismatch()
		}
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return d.value(v.Elem(), jv, key)
	case reflect.Struct, reflect.Map:
		if obj, ok := jv.Value.(*hujson.Object); ok {
			return d.object(v, obj, key)
		}
		return mismatch()
	case reflect.Slice:
		if arr, ok := jv.Value.(*hujson.Array); ok {
			return d.array(v, arr, key)
		}
		return mismatch()
	default:
		lit, ok := jv.Value.(hujson.Literal)
		// null would leave the zero value, which is not what anybody wrote.
		if !ok || lit.Kind() == 'n' || json.Unmarshal(lit, v.Addr().Interface()) != nil {
			return mismatch()
		}
		return nil
	}
}

func (d *configDecoder) array(v reflect.Value, arr *hujson.Array, key string) error {
	for i, e := range arr.Elements {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(item, e, key+"["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
		v.Set(reflect.Append(v, item))
	}
	return nil
}

func (d *configDecoder) object(v reflect.Value, obj *hujson.Object, key string) error {
	first := map[string]int{}
	for _, m := range obj.Members {
		lit, _ := m.Name.Value.(hujson.Literal)
		name, line := lit.String(), d.line(m.Name.StartOffset)
		path := joinKey(key, name)
		if at, ok := first[name]; ok {
			return d.errorf(line, path, "found a second time, expected once (first on line %d)", at)
		}
		first[name] = line
		d.at[path] = line
		if loneSurrogate(lit) {
			return d.errorf(line, path, "found half of a surrogate pair in %s, expected a whole character", clip(string(lit)))
		}
		if err := d.member(v, m.Value, name, path); err != nil {
			return err
		}
	}
	return nil
}

func (d *configDecoder) member(v reflect.Value, jv hujson.Value, name, path string) error {
	if v.Kind() == reflect.Map {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := d.value(item, jv, path); err != nil {
			return err
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf(name), item)
		return nil
	}
	for i := range v.NumField() {
		if key := jsonKey(v.Type().Field(i)); key == name && key != noKey {
			return d.value(v.Field(i), jv, path)
		}
	}
	keys := structKeys(v.Type())
	err := d.errorf(d.at[path], path, "found an unknown key, expected one of %s", strings.Join(keys, ", "))
	if hint := keyHint(name, keys); hint != "" {
		return err.WithHint("%s", hint)
	}
	return err
}

// expectation says in words what a value of type t looks like.
func expectation(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[sandbox.Network]():
		return expectedNetwork
	case reflect.TypeFor[sandbox.CommandRule]():
		return `true, false, "@preset" or the path of a script`
	case reflect.TypeFor[sandbox.Duration]():
		return `a positive duration such as "90s" or "10m"`
	case reflect.TypeFor[sandbox.Bytes]():
		return `a positive size such as "512MiB"`
	}
	switch t.Kind() {
	case reflect.Pointer:
		return expectation(t.Elem())
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "an array of strings"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number of at least 1"
	case reflect.Float64:
		return "a positive number"
	default:
		return "a string"
	}
}

// found says in words what stands in the file.
func found(v hujson.Value) string {
	switch t := v.Value.(type) {
	case *hujson.Object:
		return "an object"
	case *hujson.Array:
		return "an array"
	case hujson.Literal:
		if t.Kind() == '"' {
			return clip(t.String())
		}
		return string(t[:min(len(t), maxClip)])
	}
	return "nothing"
}
