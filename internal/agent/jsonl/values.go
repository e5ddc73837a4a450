package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Object reads one JSON object into v, as [Decode] does; ok is false when data is none.
func Object(data []byte, v any) (malformed, ok bool) {
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' {
		return false, false
	}
	malformed, err := Decode(data, v)
	return malformed, err == nil
}

// Decode reads one JSON value into v. Values of a wrong type leave their fields as they are, and
// are reported by malformed; any other fault is an error.
func Decode(data []byte, v any) (malformed bool, err error) {
	err = json.Unmarshal(data, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return true, nil
	}
	return false, err
}

// Elements are the first limit elements of an array, decoded one by one, so that an array of
// millions of empty objects does not become millions of structs. Those of a wrong type are left
// out. A value that is not an array has none.
func Elements[T any](array json.RawMessage, limit int) []T {
	dec := json.NewDecoder(bytes.NewReader(array))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	var out []T
	for n := 0; n < limit && dec.More(); n++ {
		if v, ok := value[T](dec); ok {
			out = append(out, v)
		}
	}
	return out
}

// Members are the first limit members of an object, in its order.
func Members[T any](object json.RawMessage, limit int) (names []string, values []T) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil
	}
	for n := 0; n < limit && dec.More(); n++ {
		key, err := dec.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			break
		}
		if v, ok := value[T](dec); ok {
			names, values = append(names, name), append(values, v)
		}
	}
	return names, values
}

func value[T any](dec *json.Decoder) (v T, ok bool) {
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		return v, false
	}
	return v, json.Unmarshal(raw, &v) == nil
}

// Text is the string that raw is, and "" when it is none.
func Text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Small is how long a value may be, in bytes, that is remembered beyond its line: a few thousand of
// the longest lines would fill the memory.
const Small = 4 << 10

// maxCount is the highest count: beyond it a JSON number is not exact.
const maxCount = 1 << 53

// Count makes a count of a number: from 0 to 2^53, so that sums of some stay within an int64.
func Count(f float64) int64 { return int64(min(max(f, 0), maxCount)) }

// Clip is at most the first limit bytes of s as valid UTF-8.
func Clip(s string, limit int) string {
	return strings.ToValidUTF8(s[:min(len(s), limit)], "\uFFFD")
}
