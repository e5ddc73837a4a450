package interpreter

import "strings"

// define compiles a function and returns the scope in which it is known; it knows itself.
func (c *compiler) define(s *scope, f *function) *scope {
	fn := &compiledFunc{depth: s.depthOf(), params: f.params}
	known := &scope{up: s, depth: s.depthOf(), kind: scopeFunc, name: f.name, arity: len(f.params), fn: fn}
	c.compileBody(known, fn, f)
	return known
}

// compileBody compiles the body with its parameters in scope; $x is a function x too.
func (c *compiler) compileBody(s *scope, fn *compiledFunc, f *function) {
	inner := s
	for _, p := range f.params {
		if name, ok := strings.CutPrefix(p, "$"); ok {
			inner = inner.with(scopeVar, name)
			inner = &scope{up: inner, depth: inner.depth, kind: scopeParam, name: name, fn: &compiledFunc{params: []string{p}}}
			continue
		}
		inner = inner.with(scopeParam, p)
	}
	fn.body = c.expr(inner, f.body)
}

func (c *compiler) call(s *scope, x call) filter {
	depth := s.depthOf()
	for at := s; at != nil; at = at.up {
		switch {
		case at.kind == scopeParam && at.name == x.name && len(x.args) == 0:
			n := depth - at.depth
			if at.fn != nil {
				r := func(e *env, _ Value, out func(Value) error) error { return out(e.back(n).val) }
				return filter{r, traceNewValues(r)}
			}
			return c.callParam(n)
		case at.kind == scopeFunc && at.name == x.name && at.arity == len(x.args):
			return c.callFunc(s, at.fn, x.args)
		}
	}
	if f, ok := c.prelude(x.name, len(x.args)); ok {
		return c.callFunc(s, f, x.args)
	}
	return c.callNative(s, x)
}

// callParam calls an argument in the environment where it was written.
func (c *compiler) callParam(n int) filter {
	vm := c.vm
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			if err := vm.enter(); err != nil {
				return err
			}
			defer vm.leave()
			fn := e.back(n).fn
			return fn.f.run(fn.env, in, out)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			if err := vm.enter(); err != nil {
				return err
			}
			defer vm.leave()
			fn := e.back(n).fn
			return fn.f.trace(fn.env, p, in, out)
		},
	}
}

// callFunc calls a function that is written in jq. The values of $ parameters are computed
// first, the first one in the outermost loop.
func (c *compiler) callFunc(s *scope, fn *compiledFunc, args []expr) filter {
	up := s.depthOf() - fn.depth
	params := make([]filter, len(args))
	for i, a := range args {
		params[i] = c.expr(s, a)
	}
	vm := c.vm
	var bindArgs func(e, inner *env, in Value, i int, use func(*env) error) error
	bindArgs = func(e, inner *env, in Value, i int, use func(*env) error) error {
		for ; i < len(params); i++ {
			if !strings.HasPrefix(fn.params[i], "$") {
				inner = &env{up: inner, fn: &closure{params[i], e}}
				continue
			}
			return params[i].run(e, in, func(v Value) error {
				return bindArgs(e, &env{up: inner, val: v}, in, i+1, use)
			})
		}
		return use(inner)
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			if err := vm.enter(); err != nil {
				return err
			}
			defer vm.leave()
			return bindArgs(e, e.back(up), in, 0, func(inner *env) error { return fn.body.run(inner, in, out) })
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			if err := vm.enter(); err != nil {
				return err
			}
			defer vm.leave()
			return bindArgs(e, e.back(up), in, 0, func(inner *env) error { return fn.body.trace(inner, p, in, out) })
		},
	}
}

// callNative calls a function that is written in Go.
func (c *compiler) callNative(s *scope, x call) filter {
	if f := nativeFilter(arityName(x.name, len(x.args))); f != nil {
		args := make([]filter, len(x.args))
		for i, a := range x.args {
			args[i] = c.expr(s, a)
		}
		return f(c, args)
	}
	f := nativeFunction(arityName(x.name, len(x.args)))
	if f == nil {
		c.errorAt(x.pos, "%s/%d is not defined", x.name, len(x.args))
		return c.nothing()
	}
	if len(x.args) == 0 {
		return c.simple(func(_ *env, in Value) (Value, error) { return f(c.vm, in, nil) })
	}
	args := make([]run, len(x.args))
	for i, a := range x.args {
		args[i] = c.expr(s, a).run
	}
	vm := c.vm
	// The last argument is the outermost loop.
	var fill func(e *env, in Value, vals []Value, i int, out func(Value) error) error
	fill = func(e *env, in Value, vals []Value, i int, out func(Value) error) error {
		if i < 0 {
			if err := vm.tick(); err != nil {
				return err
			}
			v, err := f(vm, in, vals)
			if err != nil {
				return err
			}
			return out(v)
		}
		return args[i](e, in, func(v Value) error {
			vals[i] = v
			return fill(e, in, vals, i-1, out)
		})
	}
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return fill(e, in, make([]Value, len(args)), len(args)-1, out)
	})
}

func arityName(name string, n int) string { return name + "/" + string(rune('0'+min(n, 9))) }
