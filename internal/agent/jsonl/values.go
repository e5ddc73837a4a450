package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Object reads one JSON object into v, as [Decode] does; ok is false if data is not an object.
func Object(data []byte, v any) (malformed, ok bool) {
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' {
		return false, false
	}
	malformed, err := Decode(data, v)
	return malformed, err == nil
}

// Decode reads one JSON value into v. A value of a wrong type leaves its field unchanged and sets
// malformed; any other fault is an error.
func Decode(data []byte, v any) (malformed bool, err error) {
	err = json.Unmarshal(data, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return true, nil
	}
	return false, err
}

// Elements decodes the first limit elements of an array, one by one, so that an array of millions
// of empty objects does not become millions of structs. It omits elements of a wrong type. It
// returns nil for a value that is not an array.
func Elements[T any](array json.RawMessage, limit int) []T {
	dec := json.NewDecoder(bytes.NewReader(array))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	var out []T
	for n := 0; n < limit && dec.More(); n++ {
		if v, ok := decodeValue[T](dec); ok {
			out = append(out, v)
		}
	}
	return out
}

// Members returns the first limit members of an object, in their order.
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
		if v, ok := decodeValue[T](dec); ok {
			names, values = append(names, name), append(values, v)
		}
	}
	return names, values
}

func decodeValue[T any](dec *json.Decoder) (v T, ok bool) {
	var raw json.RawMessage
	if dec.Decode(&raw) != nil {
		return v, false
	}
	return v, json.Unmarshal(raw, &v) == nil
}

// Text returns the string in raw, or "" if raw is not a string.
func Text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// Small is the maximum length, in bytes, of a value that decoders store beyond its line: a few
// thousand of the longest lines would fill the memory.
const Small = 4 << 10

// maxCount is the highest count: above it a JSON number is not exact.
const maxCount = 1 << 53

// Count converts a number to a count from 0 to 2^53, so that the sum of several stays within an
// int64.
func Count(f float64) int64 { return int64(min(max(f, 0), maxCount)) }

// Clip returns at most the first limit bytes of s as valid UTF-8.
func Clip(s string, limit int) string {
	return strings.ToValidUTF8(s[:min(len(s), limit)], "\uFFFD")
}
