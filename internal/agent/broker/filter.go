package broker

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/agent/connector"
	"github.com/seed434b0696/agent-sandbox/internal/agent/broker/dialect"
)

// shape says what a request may hold at one place. The zero value permits a text, a number, true, false and null.
type shape struct {
	any     bool              // everything: no server acts on what is in it
	members map[string]*shape // of an object
	kinds   map[string]*shape // of an object, by its member "type"; "" is an object without it
	list    *shape            // of each element of a list
	open    string            // with kinds: the list of [connector.Allow] that opens further ones
	omit    []string          // with list: prefixes of types of elements that are left out
	drop    []string          // with members: members that are left out
	behind  map[string]string // with members: a member, and the source that opens it
	only    []string          // the permitted values as JSON; nil: all
	why     string            // with only: what the agent can do instead
	inline  bool              // a text must be a data URL, or the source "url" open
}

// filter copies a request and refuses what its shape does not permit.
type filter struct {
	connector string
	allow     connector.Allow
	out       []byte
	omitted   [][]byte // elements that were left out
}

// admit copies a request of an API, without what the connector leaves closed.
func (a asked) admit(api connector.Protocol, to connector.Connector) (asked, *dialect.Fault) {
	f := filter{connector: to.ID, allow: to.Allow, out: make([]byte, 0, len(a.body)+64)}
	if fault := f.object(bytes.TrimSpace(a.body), tables[api], nil); fault != nil {
		return a, fault
	}
	members := splitObject(f.out)
	if len(f.omitted) > 0 {
		if fault := f.chosen(members); fault != nil {
			return a, fault
		}
		if slices.ContainsFunc(members, func(m member) bool { return m.name == "tools" && string(m.value) == "[]" }) {
			members = slices.DeleteFunc(members, func(m member) bool { return m.name == "tools" || m.name == "tool_choice" })
			f.out = joinObject(members)
			members = splitObject(f.out)
		}
	}
	a.locate(f.out, members)
	return a, nil
}

// chosen refuses a request that demands a tool which was left out.
func (f *filter) chosen(members []member) *dialect.Fault {
	name := func(members []member) string {
		for _, m := range members {
			if m.name == "name" && m.value[0] == '"' {
				return decodeText(m.value)
			}
		}
		return ""
	}
	for _, m := range members {
		if m.name != "tool_choice" || m.value[0] != '{' {
			continue
		}
		choice := name(splitObject(m.value))
		for _, element := range f.omitted {
			if tool := splitObject(element); choice != "" && choice == name(tool) {
				return f.closed(&place{name: "tool_choice"}, names["tools"], "tools", typeOf(tool))
			}
		}
	}
	return nil
}

// place is a position in a request, for messages.
type place struct {
	up    *place
	name  string
	index int // of a list's element, when name is empty
}

func (p *place) String() string {
	switch {
	case p == nil:
		return ""
	case p.name == "":
		return p.up.String() + "[" + strconv.Itoa(p.index) + "]"
	case p.up == nil:
		return p.name
	}
	return p.up.String() + "." + p.name
}

func notAllowed(at *place, format string, args ...any) *dialect.Fault {
	where := at.String()
	if where != "" {
		where += ": "
	}
	return &dialect.Fault{Status: http.StatusBadRequest, Code: "not_allowed", Message: clipText(where + fmt.Sprintf(format, args...))}
}

// closed is the fault of something that the connector's file can open.
func (f *filter) closed(at *place, what, list, entry string) *dialect.Fault {
	if !connector.CanOpen(list, entry) {
		return notAllowed(at, "the broker passes no %s %.100q", what, entry)
	}
	return notAllowed(at, `the broker passes no %s %.100q; to open it, write "allow": {%q: [%.100q]} in the file of connector %s`,
		what, entry, list, entry, f.connector)
}

// value copies a value of a shape.
func (f *filter) value(raw []byte, s *shape, at *place) *dialect.Fault {
	if s.only != nil && !slices.Contains(s.only, string(raw)) {
		return notAllowed(at, "%s", s.why)
	}
	switch {
	case s.any, raw[0] != '{' && raw[0] != '[' && raw[0] != '"':
	case raw[0] == '{':
		return f.object(raw, s, at)
	case raw[0] == '[':
		return f.array(raw, s, at)
	case s.inline && !bytes.HasPrefix(raw, []byte(`"data:`)) && !slices.Contains(f.allow.Sources, "url"):
		return f.closed(at, "source", "sources", "url")
	}
	f.out = append(f.out, raw...)
	return nil
}

func (f *filter) array(raw []byte, s *shape, at *place) *dialect.Fault {
	if s.list == nil {
		return notAllowed(at, "found a list, expected another value")
	}
	f.out = append(f.out, '[')
	begin := len(f.out)
	for i, element := range splitArray(raw) {
		if len(s.omit) > 0 && f.omits(element, s) {
			continue
		}
		if len(f.out) > begin {
			f.out = append(f.out, ',')
		}
		if fault := f.value(element, s.list, &place{up: at, index: i}); fault != nil {
			return fault
		}
	}
	f.out = append(f.out, ']')
	return nil
}

// omits reports whether an element of a list is left out: agents offer some tools of servers unasked.
func (f *filter) omits(element []byte, s *shape) bool {
	if element[0] != '{' {
		return false
	}
	kind := typeOf(splitObject(element))
	hosted := func(prefix string) bool { return strings.HasPrefix(kind, prefix) }
	if slices.Contains(f.allow.Tools, kind) || !slices.ContainsFunc(s.omit, hosted) {
		return false
	}
	f.omitted = append(f.omitted, element)
	return true
}

// typeOf returns the member "type", or "".
func typeOf(members []member) string {
	for _, m := range members {
		if m.name == "type" && m.value[0] == '"' {
			return decodeText(m.value)
		}
	}
	return ""
}

// names are the names in messages of the kinds that a list of [connector.Allow] opens.
var names = map[string]string{"tools": "tool of type", "blocks": "block of type", "sources": "source"}

func (f *filter) object(raw []byte, s *shape, at *place) *dialect.Fault {
	members := splitObject(raw)
	if fault := checkDuplicates(members, at); fault != nil {
		return fault
	}
	if s.kinds != nil {
		kind := typeOf(members)
		next, ok := s.kinds[kind]
		switch {
		case ok:
			s = next
		case s.open != "" && slices.Contains(f.opened(s.open), kind):
			s = &shape{any: true}
		case s.open != "":
			return f.closed(at, names[s.open], s.open, kind)
		default:
			return notAllowed(at, "the broker passes no type %.100q here", kind)
		}
		if s.any {
			f.out = append(f.out, raw...)
			return nil
		}
	}
	if s.members == nil {
		return notAllowed(at, "found an object, expected another value")
	}
	f.out = append(f.out, '{')
	begin := len(f.out)
	for _, m := range members {
		inner := &place{up: at, name: m.name}
		next, fault := f.member(m, s, inner)
		if fault != nil {
			return fault
		}
		if next == nil {
			continue
		}
		if len(f.out) > begin {
			f.out = append(f.out, ',')
		}
		f.out = append(strconv.AppendQuote(f.out, m.name), ':')
		if fault := f.value(m.value, next, inner); fault != nil {
			return fault
		}
	}
	f.out = append(f.out, '}')
	return nil
}

func (f *filter) opened(list string) []string {
	switch list {
	case "tools":
		return f.allow.Tools
	case "sources":
		return f.allow.Sources
	}
	return f.allow.Blocks
}

// member returns the shape of a member; nil: it is left out.
func (f *filter) member(m member, s *shape, at *place) (*shape, *dialect.Fault) {
	if next, ok := s.members[m.name]; ok {
		return next, nil
	}
	if slices.Contains(s.drop, m.name) {
		return nil, nil
	}
	if source, ok := s.behind[m.name]; ok {
		switch {
		case string(m.value) == "null":
			return nil, nil
		case slices.Contains(f.allow.Sources, source):
			return &shape{}, nil
		}
		return nil, f.closed(at, "source", "sources", source)
	}
	if isPlainName(m.name) && slices.Contains(f.allow.Members, m.name) {
		return &shape{any: true}, nil
	}
	return nil, f.closed(at, "member", "members", m.name)
}

// isPlainName reports whether a name needs no escapes in JSON.
func isPlainName(name string) bool {
	return !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c > '~' })
}

// checkDuplicates refuses an object that repeats a member, or spells one in two ways: two readers could take different values.
func checkDuplicates(members []member, at *place) *dialect.Fault {
	if len(members) < 2 {
		return nil
	}
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		name := strings.ToLower(m.name)
		if seen[name] {
			return notAllowed(&place{up: at, name: m.name}, "expected once, and in one spelling")
		}
		seen[name] = true
	}
	return nil
}
