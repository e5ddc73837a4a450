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

// object writes a JSON object of names and values in their order. A value that is nil is left out; a nil pointer and an
// empty raw message are nil, too.
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

// array writes a JSON array of values that are JSON already.
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

// null is the value null.
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
	if err != nil { // nothing is written here that cannot be
		return null()
	}
	return data
}

// appendString writes a JSON string. Most need no escapes.
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

// written is one event as bytes.
func written(name string, data json.RawMessage) []byte {
	return sse.Append(make([]byte, 0, len(data)+len(name)+24), sse.Event{Name: name, Data: data})
}

// lenient reads what a server wrote: values of a wrong type are as if they were not there, since APIs grow.
func lenient(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil
	}
	return err
}

// text is a string, or nothing where there is null or something else.
func text(raw json.RawMessage) (s string, ok bool) {
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}

// isNull reports that a value is missing or null.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// isObject reports that a text is one JSON object.
func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimSpace(s), "{") && json.Valid([]byte(s))
}

// arguments are those of a call as an object, whatever the model wrote.
func arguments(s string) json.RawMessage {
	if isObject(s) {
		return json.RawMessage(s)
	}
	if strings.TrimSpace(s) == "" {
		return object()
	}
	return object("input", s)
}

// free is the text that is the argument of a free tool.
func free(s string) string {
	var v struct {
		Input *string `json:"input"`
	}
	if json.Unmarshal([]byte(s), &v) != nil || v.Input == nil {
		return s
	}
	return *v.Input
}

// count is a number of tokens that somebody told: any JSON is one, and what is no number is zero.
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

// dataURL takes a data URL apart; ok is false for every other URL.
func dataURL(url string) (mediaType, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	mediaType, data, ok = strings.Cut(rest, ";base64,")
	return mediaType, data, ok
}

// source is the URL of an image or a file.
func (p Part) source() string {
	if p.URL != "" {
		return p.URL
	}
	return "data:" + p.MediaType + ";base64," + p.Data
}
