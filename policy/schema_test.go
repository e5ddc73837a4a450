package policy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/policy/internal/layer"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func schemaTree(t *testing.T) map[string]any {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal(Schema(), &tree); err != nil {
		t.Fatal(err)
	}
	return tree
}

func Test_Schema_And_Structs_Agree_On_Every_Key(t *testing.T) {
	root := schemaTree(t)
	var walk func(path string, typ reflect.Type, node map[string]any)
	walk = func(path string, typ reflect.Type, node map[string]any) {
		if ref, ok := node["$ref"].(string); ok {
			def, ok := root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
			if !ok {
				t.Fatalf("%s: %s does not exist", path, ref)
			}
			if node["description"] == nil {
				t.Errorf("%s has no description", path)
			}
			node = def
		}
		if node["description"] == nil && !strings.HasSuffix(path, "[]") && !strings.HasSuffix(path, ".*") {
			t.Errorf("%s has no description", path)
		}
		if typ == reflect.TypeFor[sandbox.Network]() {
			ref := node["anyOf"].([]any)[1].(map[string]any)["$ref"].(string)
			node = root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		}
		if want := schemaType(typ); want != "" && node["type"] != want {
			t.Errorf("%s has type %v, want %s", path, node["type"], want)
		}
		switch {
		case typ.Kind() == reflect.Struct:
			properties, _ := node["properties"].(map[string]any)
			if node["additionalProperties"] != false {
				t.Errorf("%s takes any key", path)
			}
			var inSchema []string
			for k := range properties {
				inSchema = append(inSchema, k)
			}
			inStruct := jsonc.Keys(typ)
			slices.Sort(inSchema)
			slices.Sort(inStruct)
			if !slices.Equal(inSchema, inStruct) {
				t.Fatalf("%s: schema has %v, struct has %v", path, inSchema, inStruct)
			}
			for f := range typ.Fields() {
				if jsonc.Key(f) == jsonc.NoKey {
					continue
				}
				walk(jsonc.JoinKey(path, jsonc.Key(f)), f.Type, properties[jsonc.Key(f)].(map[string]any))
			}
		case typ.Kind() == reflect.Slice:
			walk(path+"[]", typ.Elem(), node["items"].(map[string]any))
		case typ.Kind() == reflect.Map:
			walk(path+".*", typ.Elem(), node["additionalProperties"].(map[string]any))
		}
	}
	walk("", reflect.TypeFor[sandbox.Policy](), root)
}

// schemaType is the schema's type for a Go type, "" where it has no single one.
func schemaType(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[sandbox.Network](), reflect.TypeFor[sandbox.CommandRule](), reflect.TypeFor[sandbox.Bytes]():
		return ""
	case reflect.TypeFor[sandbox.Duration]():
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaType(t.Elem())
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice:
		return "array"
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.String:
		return "string"
	default:
		return "no schema type for " + t.String()
	}
}

func Test_Schema_Enums_Are_What_Decode_Takes(t *testing.T) {
	properties := schemaTree(t)["properties"].(map[string]any)
	for key, known := range map[string][]string{"backend": layer.BackendNames, "network": nil} {
		property := properties[key].(map[string]any)
		if forms, ok := property["anyOf"].([]any); ok {
			property = forms[0].(map[string]any)
		}
		values := property["enum"].([]any)
		if known != nil && len(values) != len(known) {
			t.Errorf("%s: schema has %v, code has %v", key, values, known)
		}
		for _, v := range values {
			text, err := json.Marshal(map[string]any{key: v})
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := Decode("schema.json", text); err != nil {
				t.Error(err)
			}
		}
	}
}

func Test_Schema_Examples_Are_Valid(t *testing.T) {
	examples := schemaTree(t)["examples"].([]any)
	if len(examples) < 3 {
		t.Fatalf("%d examples", len(examples))
	}
	seen := map[string]bool{}
	for i, e := range examples {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		_, lines, err := Decode(fmt.Sprintf("example %d", i), text)
		if err != nil {
			t.Error(err)
		}
		for key := range lines {
			seen[key] = true
		}
	}
	keys := keyPaths(reflect.TypeFor[sandbox.Policy](), "")
	for key := range seen {
		// A map has names of its own before the keys.
		if parts := strings.SplitN(key, ".", 3); parts[0] == "secrets" && len(parts) == 3 {
			seen["secrets.*."+parts[2]] = true
		}
	}
	for _, key := range append(keys, keyPaths(reflect.TypeFor[sandbox.Secret](), "secrets.*")...) {
		if !seen[key] && key != "$schema" {
			t.Errorf("no example shows %s", key)
		}
	}
}

func Test_Schema_Returns_A_Copy(t *testing.T) {
	Schema()[0] = 'x'
	if Schema()[0] != '{' {
		t.Error("a caller changed the schema of all others")
	}
}
