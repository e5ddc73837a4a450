package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/sse"
)

// object writes a JSON object of names and values in their order. Nil values, nil pointers and empty raw messages are
// left out.
func object(pairs ...any) json.RawMessage {
	out := make([]byte, 1, 128)
	out[0] = '{'
	for i := 0; i+1 < len(pairs); i += 2 {
		value := encode(pairs[i+1])
		if value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendString(out, fmt.Sprint(pairs[i])), ':')
		out = append(out, value...)
	}
	return append(out, '}')
}

// array writes a JSON array of encoded values.
func array(values []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// null returns the JSON value null.
func null() json.RawMessage { return json.RawMessage("null") }

func encode(v any) []byte {
	switch v := v.(type) {
	case nil:
		return nil
	case json.RawMessage:
		if len(v) == 0 {
			return nil
		}
		return v
	case []json.RawMessage:
		return array(v)
	case string:
		return appendString(nil, v)
	case int:
		return strconv.AppendInt(nil, int64(v), 10)
	case int64:
		return strconv.AppendInt(nil, v, 10)
	case bool:
		return strconv.AppendBool(nil, v)
	case *bool:
		if v == nil {
			return nil
		}
		return strconv.AppendBool(nil, *v)
	case *float64:
		if v == nil {
			return nil
		}
		return strconv.AppendFloat(nil, *v, 'g', -1, 64)
	}
	data, err := json.Marshal(v)
	if err != nil { // every value passed here can be encoded
		return null()
	}
	return data
}

// appendString writes a JSON string. Most strings need no escapes.
func appendString(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			var quoted bytes.Buffer
			enc := json.NewEncoder(&quoted)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(s); err != nil {
				return append(to, `""`...)
			}
			return append(to, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
		}
	}
	return append(append(append(to, '"'), s...), '"')
}

// encodeEvent encodes one event.
func encodeEvent(name string, data json.RawMessage) []byte {
	return sse.Append(make([]byte, 0, len(data)+len(name)+24), sse.Event{Name: name, Data: data})
}

// decodeLenient decodes a server's JSON. It ignores values of a wrong type, since APIs grow.
func decodeLenient(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// decodeText returns a JSON string; ok is false for null and other types.
func decodeText(raw json.RawMessage) (s string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// isNull reports whether a value is missing or null.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// isObject reports whether a text is one JSON object.
func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s))
}

// decodeArguments returns the arguments of a call as a JSON object, even if the model wrote something else.
func decodeArguments(s string) json.RawMessage {
	if isObject(s) {
		return json.RawMessage(s)
	}
	if strings.TrimSpace(s) == "" {
		return object()
	}
	return object("input", s)
}

// decodeFreeText returns the text argument of a free-form tool.
func decodeFreeText(s string) string {
	var v struct {
		Input *string `json:"input"`
	}
	if json.Unmarshal([]byte(s), &v) != nil || v.Input == nil {
		return s
	}
	return *v.Input
}

// count is a number of tokens in a server's JSON. A value that is not a number counts as zero.
type count int64

// UnmarshalJSON implements [json.Unmarshaler].
func (c *count) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(string(data), 64)
	if err != nil || math.IsNaN(f) || f < 0 {
		f = 0
	}
	*c = count(min(f, 1<<53))
	return nil
}

// dataURL splits a data URL; ok is false for other URLs.
func dataURL(url string) (mediaType, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	mediaType, data, ok = strings.Cut(rest, ";base64,")
	return mediaType, data, ok
}

// source returns the URL of an image or a file.
func (p Part) source() string {
	if p.URL != "" {
		return p.URL
	}
	return "data:" + p.MediaType + ";base64," + p.Data
}
