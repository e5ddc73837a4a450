package interpreter

import (
	"strings"
	"unicode/utf8"

	"github.com/seed434b0696/agent-sandbox/internal/memory/regex"
)

// regexCall is a search with an expression and flags.
type regexCall struct {
	m         *regex.Matcher
	r         *regex.Regexp
	global    bool
	skipEmpty bool
}

// regexOf compiles an expression. re may be an array of it and its flags.
func (vm *machine) regexOf(in, re, flags Value, more string) (string, *regexCall, error) {
	if a, ok := re.(*Array); ok && flags == nil {
		if len(a.v) == 0 {
			return "", nil, errorf("%s not a string or array", kind(re))
		}
		re = a.v[0]
		if len(a.v) > 1 {
			flags = a.v[1]
		}
	}
	s, ok := in.(string)
	if !ok {
		return "", nil, errorf("%s (%s) cannot be matched, as it is not a string", kind(in), shortJSON(in))
	}
	pattern, ok := re.(string)
	if !ok {
		return "", nil, errorf("%s (%s) cannot be matched, as it is not a string", kind(re), shortJSON(re))
	}
	letters := more
	switch f := flags.(type) {
	case nil:
	case string:
		letters += f
	default:
		return "", nil, errorf("%s (%s) is not a string", kind(flags), shortJSON(flags))
	}
	c := &regexCall{}
	opts := regex.Perl
	var inline strings.Builder
	for _, l := range letters {
		switch l {
		case 'g':
			c.global = true
		case 'i':
			opts |= regex.IgnoreCase
		case 'x':
			inline.WriteString("x")
		case 'p':
			inline.WriteString("s")
		case 'n':
			c.skipEmpty = true
		case 's', 'l':
		default:
			return "", nil, errorf("%s is not a valid modifier string", letters)
		}
	}
	if inline.String() != "" {
		pattern = "(?" + inline.String() + ")" + pattern
	}
	key := regexKey{pattern, opts}
	known, ok := vm.regexes[key]
	if !ok {
		r, err := regex.Compile(pattern, opts)
		if err != nil {
			return "", nil, errorf("%s (at offset 0) is not a valid regex: %s", pattern, err.Error())
		}
		if err := vm.hold(4096 + r.Size()); err != nil {
			return "", nil, err
		}
		vm.gas -= r.Size() >> 4
		known = &regexCall{r: r, m: r.Matcher(vm.o.Spend)}
		if vm.regexes == nil || len(vm.regexes) > 100 {
			vm.regexes = map[regexKey]*regexCall{}
		}
		vm.regexes[key] = known
	}
	c.r, c.m = known.r, known.m
	return s, c, nil
}

type regexKey struct {
	pattern string
	flags   regex.Flags
}

// each calls use for the matches in s.
func (c *regexCall) each(vm *machine, s string, use func(caps []int) error) error {
	b := []byte(s)
	caps := make([]int, 2*(c.r.Groups()+1)) // bounded: two numbers for each group of an expression that is charged
	for at := 0; at <= len(b); {
		if err := vm.tick(); err != nil {
			return err
		}
		if !c.m.Find(b, at, caps) {
			if err := c.m.Err(); err != nil {
				return err
			}
			return nil
		}
		if at = caps[1]; caps[1] == caps[0] {
			_, size := utf8.DecodeRune(b[min(at, len(b)):])
			at += max(size, 1)
		}
		if c.skipEmpty && caps[0] == caps[1] {
			continue
		}
		if err := use(caps); err != nil {
			return err
		}
		if !c.global {
			return nil
		}
	}
	return nil
}

// counter turns offsets in bytes into offsets in characters.
type counter struct {
	s           string
	at, counted int
}

func (c *counter) chars(to int) float64 {
	if to < c.at {
		c.at, c.counted = 0, 0
	}
	c.counted += utf8.RuneCountInString(c.s[c.at:to])
	c.at = to
	return float64(c.counted)
}

// matchObject describes a match as match does.
func (c *regexCall) matchObject(n *counter, s string, caps []int) *Object {
	part := func(o *Object, i int) {
		from, to := caps[2*i], caps[2*i+1]
		if from < 0 {
			o.put("offset", -1.0)
			o.put("length", 0.0)
			o.put("string", nil)
			return
		}
		at := n.chars(from)
		o.put("offset", at)
		o.put("length", float64(utf8.RuneCountInString(s[from:to])))
		o.put("string", s[from:to])
	}
	m := NewObject()
	part(m, 0)
	groups := &Array{}
	names := c.names()
	for i := 1; i <= c.r.Groups(); i++ {
		g := NewObject()
		part(g, i)
		g.put("name", nil)
		if i < len(names) && names[i] != "" {
			g.put("name", names[i])
		}
		groups.v = append(groups.v, g) // bounded: a value for each group of an expression that is charged
	}
	m.put("captures", groups)
	return m
}

// regexArgs calls use with the values of an expression and, if there are, flags.
func regexArgs(e *env, in Value, re, flags filter, use func(re, flags Value) error) error {
	if flags.run == nil {
		return re.run(e, in, func(r Value) error { return use(r, nil) })
	}
	return flags.run(e, in, func(f Value) error {
		return re.run(e, in, func(r Value) error { return use(r, f) })
	})
}

func optional(a []filter, i int) filter {
	if i < len(a) {
		return a[i]
	}
	return filter{}
}

func matchFilter(c *compiler, a []filter) filter {
	vm := c.vm
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return regexArgs(e, in, a[0], optional(a, 1), func(re, flags Value) error {
			s, call, err := vm.regexOf(in, re, flags, "")
			if err != nil {
				return err
			}
			n := &counter{s: s}
			return call.collect(vm, s, func(caps []int) error { return out(call.matchObject(n, s, caps)) })
		})
	})
}

// collect finds all matches before it hands them on: what takes them may search too, with
// the same matcher.
func (c *regexCall) collect(vm *machine, s string, use func(caps []int) error) error {
	var all [][]int
	err := c.each(vm, s, func(caps []int) error {
		all = append(all, append([]int(nil), caps...))
		return vm.hold(16 * len(caps))
	})
	if err != nil {
		return err
	}
	for _, caps := range all {
		if err := use(caps); err != nil {
			return err
		}
	}
	return nil
}

func captureFilter(c *compiler, a []filter) filter {
	vm := c.vm
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return regexArgs(e, in, a[0], optional(a, 1), func(re, flags Value) error {
			s, call, err := vm.regexOf(in, re, flags, "")
			if err != nil {
				return err
			}
			return call.collect(vm, s, func(caps []int) error { return out(call.named(s, caps)) })
		})
	})
}

// names returns the names of groups by their numbers, 0 for the whole match.
func (c *regexCall) names() []string {
	names := c.r.Names()
	if len(names) == c.r.Groups() {
		return append([]string{""}, names...)
	}
	return names
}

// named returns the matches of named groups.
func (c *regexCall) named(s string, caps []int) *Object {
	o := NewObject()
	for i, name := range c.names() {
		if name == "" || i == 0 {
			continue
		}
		var v Value
		if from := caps[2*i]; from >= 0 {
			v = s[from:caps[2*i+1]]
		}
		o.put(name, v)
	}
	return o
}

func testFilter(c *compiler, a []filter) filter {
	vm := c.vm
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return regexArgs(e, in, a[0], optional(a, 1), func(re, flags Value) error {
			s, call, err := vm.regexOf(in, re, flags, "")
			if err != nil {
				return err
			}
			once := *call
			once.global = false
			matched := false
			err = once.each(vm, s, func([]int) error {
				matched = true
				return nil
			})
			if err != nil {
				return err
			}
			return out(matched)
		})
	})
}

func scanFilter(c *compiler, a []filter) filter {
	vm := c.vm
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return regexArgs(e, in, a[0], optional(a, 1), func(re, flags Value) error {
			s, call, err := vm.regexOf(in, re, flags, "g")
			if err != nil {
				return err
			}
			return call.collect(vm, s, func(caps []int) error {
				if call.r.Groups() == 0 {
					return out(s[caps[0]:caps[1]])
				}
				groups := &Array{}
				for i := 1; i <= call.r.Groups(); i++ {
					var v Value
					if caps[2*i] >= 0 {
						v = s[caps[2*i]:caps[2*i+1]]
					}
					groups.v = append(groups.v, v)
				}
				return out(groups)
			})
		})
	})
}

// pieces is the text between matches.
func (vm *machine) pieces(in, re, flags Value) (*Array, error) {
	s, call, err := vm.regexOf(in, re, flags, "g")
	if err != nil {
		return nil, err
	}
	out := &Array{}
	last := 0
	err = call.each(vm, s, func(caps []int) error {
		var err error
		out.v, err = vm.collect(out.v, s[last:caps[0]], 16)
		last = caps[1]
		return err
	})
	if err != nil {
		return nil, err
	}
	out.v, err = vm.collect(out.v, s[last:], 16)
	return out, err
}

func splitFilter(c *compiler, a []filter) filter {
	vm := c.vm
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return regexArgs(e, in, a[0], a[1], func(re, flags Value) error {
			v, err := vm.pieces(in, re, flags)
			if err != nil {
				return err
			}
			return out(v)
		})
	})
}

func splitsFilter(c *compiler, a []filter) filter {
	vm := c.vm
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return regexArgs(e, in, a[0], optional(a, 1), func(re, flags Value) error {
			v, err := vm.pieces(in, re, flags)
			if err != nil {
				return err
			}
			for _, s := range v.v {
				if err := out(s); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// subFilter replaces matches by what a filter makes of their named groups. A filter with
// several results gives several texts.
func subFilter(more string) func(c *compiler, a []filter) filter {
	return func(c *compiler, a []filter) filter {
		vm := c.vm
		return c.values(func(e *env, in Value, out func(Value) error) error {
			return regexArgs(e, in, a[0], optional(a, 2), func(re, flags Value) error {
				s, call, err := vm.regexOf(in, re, flags, more)
				if err != nil {
					return err
				}
				return vm.substitute(e, s, call, a[1], out)
			})
		})
	}
}

func (vm *machine) substitute(e *env, s string, call *regexCall, with filter, out func(Value) error) error {
	var all [][]int
	var texts [][]string
	err := call.collect(vm, s, func(caps []int) error {
		var each []string
		err := with.run(e, call.named(s, caps), func(v Value) error {
			t, ok := v.(string)
			if !ok {
				return binError(s[:caps[0]], v, "added")
			}
			each = append(each, t)
			return nil
		})
		all = append(all, caps)
		texts = append(texts, each)
		if err == nil {
			err = vm.hold(2*24 + 2*24 + 32*len(each))
		}
		return err
	})
	if err != nil {
		return err
	}
	variants := 1
	for _, t := range texts {
		variants = max(variants, len(t))
		if len(t) == 0 {
			return nil
		}
	}
	for v := range variants {
		var b strings.Builder
		last := 0
		for i, caps := range all {
			b.WriteString(s[last:caps[0]])
			b.WriteString(texts[i][min(v, len(texts[i])-1)])
			last = caps[1]
			if b.Len() > maxString {
				return errTooBig
			}
		}
		b.WriteString(s[last:])
		if err := vm.hold(b.Len()); err != nil {
			return err
		}
		if err := out(b.String()); err != nil {
			return err
		}
	}
	return nil
}
