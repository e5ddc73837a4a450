package interpreter

import (
	"fmt"
)

// run is a compiled filter: it calls out for each result. An error of out ends it.
type run func(e *env, in Value, out func(Value) error) error

// trace is a filter that also returns the path of each result; p is the path of in.
type trace func(e *env, p *path, in Value, out func(*path, Value) error) error

// filter is an expression in both forms.
type filter struct {
	run   run
	trace trace
}

// env holds the values of variables, labels and arguments: a chain, innermost first.
type env struct {
	up  *env
	val Value
	fn  *closure
}

// closure is a filter with the environment where it was written.
type closure struct {
	f   filter
	env *env
}

func (e *env) back(n int) *env {
	for ; n > 0; n-- {
		e = e.up
	}
	return e
}

// scope resolves names during compilation.
type scope struct {
	up    *scope
	depth int // of the environment
	kind  scopeKind
	name  string
	arity int
	fn    *compiledFunc
}

type scopeKind uint8

const (
	scopeVar scopeKind = iota
	scopeParam
	scopeFunc
	scopeLabel
)

// compiledFunc is a function: its body runs in the environment depth deep where it was
// defined, with its arguments on top.
type compiledFunc struct {
	depth  int
	params []string
	body   filter
}

// compiler turns a tree into filters.
type compiler struct {
	vm      *machine
	src     string
	builtin map[string]*compiledFunc
	errs    []error
	deep    int
	ended   error // why the process has to end
}

func (c *compiler) errorAt(pos int, format string, args ...any) {
	c.errs = append(c.errs, syntaxError(c.src, "error: "+fmt.Sprintf(format, args...), pos)) // bounded: by the tokens of the program, which are charged
}

func (s *scope) with(kind scopeKind, name string) *scope {
	n := &scope{up: s, kind: kind, name: name}
	n.depth = s.depthOf() + 1
	return n
}

func (s *scope) depthOf() int {
	if s == nil {
		return 0
	}
	return s.depth
}

// simple makes a filter of a function of the input. Its results are new values without a path.
func (c *compiler) simple(f func(e *env, in Value) (Value, error)) filter {
	vm := c.vm
	r := func(e *env, in Value, out func(Value) error) error {
		if err := vm.tick(); err != nil {
			return err
		}
		v, err := f(e, in)
		if err != nil {
			return err
		}
		return out(v)
	}
	return filter{r, traceNewValues(r)}
}

// traceNewValues returns the trace of a filter that makes new values.
func traceNewValues(r run) trace {
	return func(e *env, p *path, in Value, out func(*path, Value) error) error {
		return r(e, in, func(v Value) error { return out(p.leave(in, v), v) })
	}
}

func (c *compiler) expr(s *scope, x expr) filter {
	if c.ended != nil {
		return c.nothing()
	}
	if c.ended = c.vm.tick(); c.ended != nil {
		return c.nothing()
	}
	if c.deep++; c.deep > maxNesting {
		c.errorAt(0, "program is nested too deep")
		c.deep--
		return c.nothing()
	}
	defer func() { c.deep-- }()
	switch x := x.(type) {
	case identity:
		return filter{
			func(_ *env, in Value, out func(Value) error) error { return out(in) },
			func(_ *env, p *path, in Value, out func(*path, Value) error) error { return out(p, in) },
		}
	case recurse:
		return c.callNative(s, call{name: "recurse"})
	case literal:
		v := x.v
		r := func(_ *env, _ Value, out func(Value) error) error { return out(v) }
		return filter{r, traceNewValues(r)}
	case pipe:
		return c.pipe(c.expr(s, x.l), c.expr(s, x.r))
	case comma:
		return c.comma(c.expr(s, x.l), c.expr(s, x.r))
	case index:
		return c.index(s, x)
	case slice:
		return c.slice(s, x)
	case iter:
		return c.pipe(c.expr(s, x.target), c.each())
	case try:
		return c.try(s, x)
	case binary:
		return c.binary(s, x)
	case assign:
		return c.assign(s, x)
	case call:
		return c.call(s, x)
	}
	return c.more(s, x)
}

func (c *compiler) more(s *scope, x expr) filter {
	switch x := x.(type) {
	case list:
		return c.list(s, x)
	case object:
		return c.object(s, x)
	case text:
		return c.text(s, x)
	case format:
		name := x.name
		return c.simple(func(_ *env, in Value) (Value, error) { return c.vm.formatValue(name, in) })
	case negate:
		of := c.expr(s, x.of).run
		r := func(e *env, in Value, out func(Value) error) error {
			return of(e, in, func(v Value) error {
				f, ok := number(v)
				if !ok {
					return errorf("%s (%s) cannot be negated", kind(v), shortJSON(v))
				}
				return out(-f)
			})
		}
		return filter{r, traceNewValues(r)}
	case branch:
		return c.branch(s, x)
	case reduce:
		return c.reduce(s, x)
	case foreach:
		return c.foreach(s, x)
	case variable:
		return c.variable(s, x)
	case bind:
		return c.bind(s, x)
	case define:
		return c.expr(c.define(s, x.def), x.body)
	case label:
		return c.label(s, x)
	case breakTo:
		return c.breakTo(s, x)
	case location:
		o := NewObject()
		o.put("file", "<top-level>")
		o.put("line", float64(x.line))
		return c.expr(s, literal{o})
	}
	c.errorAt(0, "unknown expression")
	return c.nothing()
}

func (c *compiler) nothing() filter {
	return filter{
		func(*env, Value, func(Value) error) error { return nil },
		func(*env, *path, Value, func(*path, Value) error) error { return nil },
	}
}

func (c *compiler) pipe(l, r filter) filter {
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return l.run(e, in, func(v Value) error { return r.run(e, v, out) })
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return l.trace(e, p, in, func(p *path, v Value) error { return r.trace(e, p, v, out) })
		},
	}
}

func (c *compiler) comma(l, r filter) filter {
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			if err := l.run(e, in, out); err != nil {
				return err
			}
			return r.run(e, in, out)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			if err := l.trace(e, p, in, out); err != nil {
				return err
			}
			return r.trace(e, p, in, out)
		},
	}
}

func (c *compiler) list(s *scope, x list) filter {
	if x.of == nil {
		return c.expr(s, literal{&Array{}})
	}
	of := c.expr(s, x.of).run
	return c.simple(func(e *env, in Value) (Value, error) {
		var v []Value
		err := of(e, in, func(w Value) error {
			var err error
			v, err = c.vm.collect(v, w, 0)
			return err
		})
		return &Array{v: v}, err
	})
}

func (c *compiler) object(s *scope, x object) filter {
	type part struct{ key, value run }
	parts := make([]part, len(x.entries))
	for i, en := range x.entries {
		parts[i].key = c.expr(s, en.key).run
		if en.value != nil {
			parts[i].value = c.expr(s, en.value).run
		}
	}
	vm := c.vm
	var fill func(e *env, in Value, keys []string, vals []Value, i int, out func(Value) error) error
	fill = func(e *env, in Value, keys []string, vals []Value, i int, out func(Value) error) error {
		if i == len(parts) {
			if err := vm.tick(); err != nil {
				return err
			}
			o := &Object{keys: make([]string, 0, len(keys)), vals: make([]Value, 0, len(keys))}
			for k, key := range keys {
				o.put(key, vals[k])
			}
			return out(o)
		}
		return parts[i].key(e, in, func(k Value) error {
			key, ok := k.(string)
			if !ok {
				return errorf("Object keys must be strings")
			}
			keys[i] = key
			if parts[i].value == nil {
				v, err := getIndex(in, key)
				if err != nil {
					return err
				}
				vals[i] = v
				return fill(e, in, keys, vals, i+1, out)
			}
			return parts[i].value(e, in, func(v Value) error {
				keys[i], vals[i] = key, v
				return fill(e, in, keys, vals, i+1, out)
			})
		})
	}
	r := func(e *env, in Value, out func(Value) error) error {
		return fill(e, in, make([]string, len(parts)), make([]Value, len(parts)), 0, out)
	}
	return filter{r, traceNewValues(r)}
}

func (c *compiler) text(s *scope, x text) filter {
	parts := make([]run, len(x.parts))
	name := x.format
	if name == "" {
		name = "@text"
	}
	for i, part := range x.parts {
		if _, ok := part.(string); !ok {
			parts[i] = c.expr(s, part).run
		}
	}
	var join func(e *env, in Value, i int, tail string, out func(Value) error) error
	// The last interpolation is the outer loop.
	join = func(e *env, in Value, i int, tail string, out func(Value) error) error {
		if err := c.vm.hold(len(tail)); err != nil {
			return err
		}
		if i < 0 {
			return out(tail)
		}
		if parts[i] == nil {
			str, _ := x.parts[i].(string)
			return join(e, in, i-1, str+tail, out)
		}
		return parts[i](e, in, func(v Value) error {
			f, err := c.vm.formatValue(name, v)
			if err != nil {
				return err
			}
			str, _ := f.(string)
			return join(e, in, i-1, str+tail, out)
		})
	}
	r := func(e *env, in Value, out func(Value) error) error { return join(e, in, len(parts)-1, "", out) }
	return filter{r, traceNewValues(r)}
}

func (c *compiler) binary(s *scope, x binary) filter {
	switch x.op {
	case "and", "or":
		return c.logic(s, x)
	case "//":
		return c.alternative(s, x)
	}
	l, r := c.expr(s, x.l).run, c.expr(s, x.r).run
	op := operators[x.op]
	vm := c.vm
	f := func(e *env, in Value, out func(Value) error) error {
		return r(e, in, func(b Value) error {
			return l(e, in, func(a Value) error {
				if err := vm.tick(); err != nil {
					return err
				}
				v, err := op(vm, a, b)
				if err != nil {
					return err
				}
				return out(v)
			})
		})
	}
	return filter{f, traceNewValues(f)}
}

func (c *compiler) variable(s *scope, x variable) filter {
	if x.name == "ENV" {
		return c.simple(func(*env, Value) (Value, error) { return c.vm.environ(), nil })
	}
	depth := s.depthOf()
	for at := s; at != nil; at = at.up {
		if at.kind == scopeVar && at.name == x.name {
			n := depth - at.depth
			r := func(e *env, _ Value, out func(Value) error) error { return out(e.back(n).val) }
			return filter{r, traceNewValues(r)}
		}
	}
	c.errorAt(x.pos, "$%s is not defined", x.name)
	return c.nothing()
}
