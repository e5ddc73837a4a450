package broker

import "encoding/json"

// The functions here split JSON that json.Valid accepted; nothing is decoded that is not needed.

// skipSpace returns the position of the next byte that is not white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the position after the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// skipValue returns the position after the value that begins at i.
func skipValue(b []byte, i int) int {
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
	}
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] != ' ' && b[i] != '\t' && b[i] != '\n' && b[i] != '\r' {
		i++
	}
	return i
}

// member is a member of an object.
type member struct {
	name  string
	value []byte
	at    int // where the value begins in the object
}

// splitObject returns the members of an object in their order. The names are decoded.
func splitObject(b []byte) []member {
	var out []member
	for i := skipSpace(b, 1); b[i] != '}'; {
		end := skipString(b, i)
		name := decodeText(b[i:end])
		i = skipSpace(b, skipSpace(b, end)+1) // the colon
		end = skipValue(b, i)
		out = append(out, member{name, b[i:end], i})
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return out
}

// splitArray returns the elements of an array.
func splitArray(b []byte) [][]byte {
	var out [][]byte
	for i := skipSpace(b, 1); b[i] != ']'; {
		end := skipValue(b, i)
		out = append(out, b[i:end])
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return out
}

// decodeText decodes a JSON string. Most strings of a request's structure have no escapes.
func decodeText(raw []byte) string {
	inner := raw[1 : len(raw)-1]
	for _, c := range inner {
		if c == '\\' || c >= 0x80 {
			var s string
			if json.Unmarshal(raw, &s) != nil {
				return "" // does not happen with valid JSON
			}
			return s
		}
	}
	return string(inner)
}

// joinObject writes an object of members whose names need no escapes.
func joinObject(members []member) []byte {
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, '"'), m.name...), `":`...)
		out = append(out, m.value...)
	}
	return append(out, '}')
}
