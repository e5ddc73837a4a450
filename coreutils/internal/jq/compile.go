package jq

import (
	"fmt"
	"math"
)

// run is a compiled filter: it calls out for each result. An error of out ends it.
type run func(e *env, in Value, out func(Value) error) error

// trace is a filter that also tells the path of each result; p is the path of in.
type trace func(e *env, p *path, in Value, out func(*path, Value) error) error

// filter is an expression in both forms.
type filter struct {
	run   run
	trace trace
}

// env is what variables, labels and arguments stand for: a chain, innermost first.
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

// scope is what names mean while compiling.
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
}

func (c *compiler) errorAt(pos int, format string, args ...any) {
	c.errs = append(c.errs, syntaxError(c.src, "error: "+fmt.Sprintf(format, args...), pos))
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

// simple makes a filter of a function of the input; as a path it leads nowhere.
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
	return filter{r, lost(r)}
}

// lost is the trace of a filter that makes new values.
func lost(r run) trace {
	return func(e *env, p *path, in Value, out func(*path, Value) error) error {
		return r(e, in, func(v Value) error { return out(p.leave(in, v), v) })
	}
}

func (c *compiler) expr(s *scope, x expr) filter {
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
		return filter{r, lost(r)}
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
		return c.simple(func(_ *env, in Value) (Value, error) { return formatValue(name, in) })
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
		return filter{r, lost(r)}
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

func (c *compiler) index(s *scope, x index) filter {
	target := c.expr(s, x.target)
	vm := c.vm
	if k, ok := x.at.(literal); ok {
		key := k.v
		return filter{
			func(e *env, in Value, out func(Value) error) error {
				return target.run(e, in, func(v Value) error {
					if err := vm.tick(); err != nil {
						return err
					}
					v, err := getIndex(v, key)
					if err != nil {
						return err
					}
					return out(v)
				})
			},
			func(e *env, p *path, in Value, out func(*path, Value) error) error {
				return target.trace(e, p, in, func(p *path, v Value) error { return stepInto(vm, p, v, key, out) })
			},
		}
	}
	at := c.expr(s, x.at).run
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return at(e, in, func(key Value) error {
				return target.run(e, in, func(v Value) error {
					if err := vm.tick(); err != nil {
						return err
					}
					v, err := getIndex(v, key)
					if err != nil {
						return err
					}
					return out(v)
				})
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return at(e, in, func(key Value) error {
				return target.trace(e, p, in, func(p *path, v Value) error { return stepInto(vm, p, v, key, out) })
			})
		},
	}
}

// stepInto goes from v to its part at key.
func stepInto(vm *machine, p *path, v, key Value, out func(*path, Value) error) error {
	if err := vm.tick(); err != nil {
		return err
	}
	if err := p.check(v, key); err != nil {
		return err
	}
	w, err := getIndex(v, key)
	if err != nil {
		return err
	}
	return out(p.to(key), w)
}

func (c *compiler) slice(s *scope, x slice) filter {
	bound := func(e expr) run {
		if e == nil {
			return func(_ *env, _ Value, out func(Value) error) error { return out(nil) }
		}
		return c.expr(s, e).run
	}
	target, from, to := c.expr(s, x.target), bound(x.from), bound(x.to)
	vm := c.vm
	keys := func(e *env, in Value, use func(key Value) error) error {
		return from(e, in, func(f Value) error {
			return to(e, in, func(t Value) error {
				key := &Object{keys: []string{"start", "end"}, vals: []Value{f, t}}
				return use(key)
			})
		})
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return keys(e, in, func(key Value) error {
				return target.run(e, in, func(v Value) error {
					if err := vm.tick(); err != nil {
						return err
					}
					v, err := getIndex(v, key)
					if err != nil {
						return err
					}
					return out(v)
				})
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return keys(e, in, func(key Value) error {
				return target.trace(e, p, in, func(p *path, v Value) error { return stepInto(vm, p, v, key, out) })
			})
		},
	}
}

// each is .[].
func (c *compiler) each() filter {
	vm := c.vm
	return filter{
		func(_ *env, in Value, out func(Value) error) error {
			switch v := in.(type) {
			case *Array:
				for _, item := range v.v {
					if err := vm.tick(); err != nil {
						return err
					}
					if err := out(item); err != nil {
						return err
					}
				}
				return nil
			case *Object:
				for _, item := range v.vals {
					if err := vm.tick(); err != nil {
						return err
					}
					if err := out(item); err != nil {
						return err
					}
				}
				return nil
			}
			return iterError(in)
		},
		func(_ *env, p *path, in Value, out func(*path, Value) error) error {
			if err := p.checkEach(in); err != nil {
				return err
			}
			switch v := in.(type) {
			case *Array:
				for i, item := range v.v {
					if err := vm.tick(); err != nil {
						return err
					}
					if err := out(p.to(float64(i)), item); err != nil {
						return err
					}
				}
				return nil
			case *Object:
				for i, k := range v.keys {
					if err := vm.tick(); err != nil {
						return err
					}
					if err := out(p.to(k), v.vals[i]); err != nil {
						return err
					}
				}
				return nil
			}
			return iterError(in)
		},
	}
}

func iterError(v Value) error {
	return errorf("Cannot iterate over %s (%s)", kind(v), shortJSON(v))
}

func (c *compiler) try(s *scope, x try) filter {
	body := c.expr(s, x.body)
	handler := c.nothing()
	if x.handler != nil {
		handler = c.expr(s, x.handler)
	}
	caught := func(err error) (Value, error) {
		switch err := err.(type) { //nolint:errorlint // What carries an error out of here is not unwrapped.
		case *outside:
			return nil, err.err
		case *Error:
			return err.Value, nil
		default:
			return nil, err
		}
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			err := body.run(e, in, func(v Value) error { return behind(out(v)) })
			if err == nil {
				return nil
			}
			v, err := caught(err)
			if err != nil {
				return err
			}
			return handler.run(e, v, out)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			err := body.trace(e, p, in, func(p *path, v Value) error { return behind(out(p, v)) })
			if err == nil {
				return nil
			}
			v, err := caught(err)
			if err != nil {
				return err
			}
			return handler.run(e, v, func(w Value) error { return out(p.leave(in, w), w) })
		},
	}
}

func behind(err error) error {
	if err == nil {
		return nil
	}
	return &outside{err}
}

func (c *compiler) list(s *scope, x list) filter {
	if x.of == nil {
		return c.expr(s, literal{&Array{}})
	}
	of := c.expr(s, x.of).run
	return c.simple(func(e *env, in Value) (Value, error) {
		var v []Value
		err := of(e, in, func(w Value) error {
			if len(v) >= maxArray {
				return errTooBig
			}
			if len(v) == cap(v) {
				if err := c.vm.hold(16 * (len(v) + 4)); err != nil {
					return err
				}
			}
			v = append(v, w)
			return nil
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
	return filter{r, lost(r)}
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
			f, err := formatValue(name, v)
			if err != nil {
				return err
			}
			str, _ := f.(string)
			return join(e, in, i-1, str+tail, out)
		})
	}
	r := func(e *env, in Value, out func(Value) error) error { return join(e, in, len(parts)-1, "", out) }
	return filter{r, lost(r)}
}

func (c *compiler) branch(s *scope, x branch) filter {
	cond, then := c.expr(s, x.cond).run, c.expr(s, x.then)
	other := c.expr(s, identity{})
	if x.other != nil {
		other = c.expr(s, x.other)
	}
	pick := func(v Value) filter {
		if truth(v) {
			return then
		}
		return other
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return cond(e, in, func(v Value) error { return pick(v).run(e, in, out) })
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return cond(e, in, func(v Value) error { return pick(v).trace(e, p, in, out) })
		},
	}
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
	return filter{f, lost(f)}
}

func (c *compiler) logic(s *scope, x binary) filter {
	l, r := c.expr(s, x.l).run, c.expr(s, x.r).run
	short := x.op == "or"
	f := func(e *env, in Value, out func(Value) error) error {
		return l(e, in, func(a Value) error {
			if truth(a) == short {
				return out(short)
			}
			return r(e, in, func(b Value) error { return out(truth(b)) })
		})
	}
	return filter{f, lost(f)}
}

// alternative is l // r: the true results of l, or else those of r. Errors of l only end it.
func (c *compiler) alternative(s *scope, x binary) filter {
	l, r := c.expr(s, x.l), c.expr(s, x.r)
	passed := func(err error) error {
		switch err := err.(type) { //nolint:errorlint // What carries an error out of here is not unwrapped.
		case nil, *Error:
			return nil
		case *outside:
			return err.err
		default:
			return err
		}
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			found := false
			err := l.run(e, in, func(v Value) error {
				if !truth(v) {
					return nil
				}
				found = true
				return behind(out(v))
			})
			if err := passed(err); err != nil || found {
				return err
			}
			return r.run(e, in, out)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			found := false
			err := l.trace(e, p, in, func(p *path, v Value) error {
				if !truth(v) {
					return nil
				}
				found = true
				return behind(out(p, v))
			})
			if err := passed(err); err != nil || found {
				return err
			}
			return r.trace(e, p, in, out)
		},
	}
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
			return filter{r, lost(r)}
		}
	}
	c.errorAt(x.pos, "$%s is not defined", x.name)
	return c.nothing()
}

func (c *compiler) label(s *scope, x label) filter {
	body := c.expr(s.with(scopeLabel, x.name), x.body)
	ended := func(err error, mark *labelMark) error {
		if b, ok := err.(*broken); ok && b.to == mark { //nolint:errorlint // Only as it comes.
			return nil
		}
		return err
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			mark := &labelMark{}
			return ended(body.run(&env{up: e, val: mark}, in, out), mark)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			mark := &labelMark{}
			return ended(body.trace(&env{up: e, val: mark}, p, in, out), mark)
		},
	}
}

func (c *compiler) breakTo(s *scope, x breakTo) filter {
	depth := s.depthOf()
	for at := s; at != nil; at = at.up {
		if at.kind == scopeLabel && at.name == x.name {
			n := depth - at.depth
			stop := func(e *env) error {
				mark, _ := e.back(n).val.(*labelMark)
				return &broken{mark}
			}
			return filter{
				func(e *env, _ Value, _ func(Value) error) error { return stop(e) },
				func(e *env, _ *path, _ Value, _ func(*path, Value) error) error { return stop(e) },
			}
		}
	}
	c.errorAt(x.pos, "$*label-%s is not defined", x.name)
	return c.nothing()
}

// rangeOf is range($from; $upto; $by).
func rangeOf(vm *machine, from, upto, by float64, out func(Value) error) error {
	for x := from; by > 0 && x < upto || by < 0 && x > upto || by == 0 && from < upto; x += by {
		if err := vm.tick(); err != nil {
			return err
		}
		if err := out(x); err != nil {
			return err
		}
		if math.IsInf(x, 0) {
			return nil
		}
	}
	return nil
}
