package interpreter

import "slices"

// streamer turns a text into [path, leaf] events while it is read.
type streamer struct {
	charge func(n int) error // counts the memory of events

	out   []*Array // bounded: two events; charged when they are taken
	path  []Value  // bounded: maxParseDepth; where the value is that is being read
	kinds []byte   // bounded: maxParseDepth; '[' or '{' for each level
	last  bool     // a value was read since the last separator
	key   bool     // an object's key was read and not its colon
	wait  bool     // a value has to follow
	next  Value    // the key
}

func (s *streamer) open() bool { return len(s.kinds) > 0 }

func (s *streamer) take() (*Array, bool) {
	if len(s.out) == 0 {
		return nil, false
	}
	v := s.out[0]
	s.out = s.out[1:]
	return v, true
}

func (s *streamer) here() *Array { return &Array{v: slices.Clone(s.path)} }

func (s *streamer) leaf(v Value) { s.out = append(s.out, NewArray(s.here(), v)) }

func (s *streamer) value(v Value) string {
	n := len(s.kinds)
	if n > 0 && s.kinds[n-1] == '{' && !s.wait {
		if s.key || s.last {
			return "Expected separator between values"
		}
		s.key, s.next = true, v
		return ""
	}
	if s.last {
		return "Expected separator between values"
	}
	s.leaf(v)
	s.last, s.wait = n > 0, false
	return ""
}

func (s *streamer) structure(c byte) string {
	n := len(s.kinds)
	switch c {
	case '[', '{':
		if s.last || n > 0 && s.kinds[n-1] == '{' && !s.wait {
			if c == '{' || s.last {
				return "Expected separator between values"
			}
			return "Expected string key after '{', not '['"
		}
		if n >= maxParseDepth {
			return "Exceeds depth limit for parsing"
		}
		s.kinds = append(s.kinds, c)
		if c == '[' {
			s.path = append(s.path, 0.0)
		} else {
			s.path = append(s.path, nil)
		}
		s.last, s.wait = false, false
	case ':':
		if n == 0 || s.kinds[n-1] != '{' {
			return "':' not as part of an object"
		}
		if !s.key {
			return "Expected string key before ':'"
		}
		k, ok := s.next.(string)
		if !ok {
			return "Object keys must be strings"
		}
		s.path[n-1] = k
		s.key, s.wait = false, true
	case ',':
		return s.comma()
	default:
		return s.close(c)
	}
	return ""
}

func (s *streamer) comma() string {
	n := len(s.kinds)
	switch {
	case s.key:
		return "Objects must consist of key:value pairs"
	case !s.last:
		return "Expected value before ','"
	case n == 0:
		return "',' not as part of an object or array"
	}
	s.last = false
	if s.kinds[n-1] == '[' {
		i, _ := s.path[n-1].(float64)
		s.path[n-1] = i + 1
		s.wait = true
	}
	return ""
}

func (s *streamer) close(c byte) string {
	n := len(s.kinds)
	want := map[byte]byte{']': '[', '}': '{'}[c]
	switch {
	case n == 0 || s.kinds[n-1] != want:
		return "Unmatched '" + string(c) + "'"
	case s.key:
		return "Objects must consist of key:value pairs"
	case !s.last && s.wait && want == '[':
		return "Expected another array element"
	case !s.last && s.wait:
		return "Unmatched '}'"
	}
	first := !s.last && (want == '{' && s.path[n-1] == nil || want == '[' && s.path[n-1] == 0.0)
	if !s.last && !first {
		return "Expected another key-value pair"
	}
	s.kinds = s.kinds[:n-1]
	if first {
		// An empty one is a leaf.
		s.path = s.path[:n-1]
		s.leaf(map[byte]Value{']': &Array{}, '}': &Object{}}[c])
	} else {
		s.out = append(s.out, NewArray(s.here()))
		s.path = s.path[:n-1]
	}
	s.last, s.wait = len(s.kinds) > 0, false
	return ""
}
