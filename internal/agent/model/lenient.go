package model

import (
	"encoding/json"
	"errors"
	"strconv"
)

// decode reads one event of a stream into a wire type. A member of a type that the API does not have there is left
// out, because servers that are compatible with an API differ from it in details: only invalid JSON is refused.
func decode(data []byte, into any) bool {
	err := json.Unmarshal(data, into)
	_, mismatch := errors.AsType[*json.UnmarshalTypeError](err)
	return err == nil || mismatch
}

// looseString is a string of a stream. Another value is taken as its JSON; null leaves it empty.
type looseString string

// UnmarshalJSON implements [json.Unmarshaler]. It returns no error.
func (s *looseString) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
	case data[0] == '"':
		return json.Unmarshal(data, (*string)(s))
	default:
		*s = looseString(data)
	}
	return nil
}

// looseInt is a whole number of a stream. A number in quotes counts, a fraction is cut off, and a value that is not a number, or does
// not fit, is 0.
type looseInt int64

// UnmarshalJSON implements [json.Unmarshaler]. It returns no error.
func (n *looseInt) UnmarshalJSON(data []byte) error {
	raw := string(data)
	if raw == "null" {
		return nil
	}
	*n = 0
	if unquoted, err := strconv.Unquote(raw); err == nil {
		raw = unquoted
	}
	if i, err := strconv.ParseInt(raw, 10, 64); err == nil {
		*n = looseInt(i)
	} else if f, err := strconv.ParseFloat(raw, 64); err == nil && f > -1<<63 && f < 1<<63 {
		*n = looseInt(f)
	}
	return nil
}
