package interpreter

import "slices"

// patternNames are the variables of patterns, each once, in order.
func patternNames(list []*pattern) []string {
	var names []string
	add := func(n string) {
		if slices.Contains(names, n) {
			return
		}
		names = append(names, n) // bounded: by the tokens of the program, which are charged
	}
	var walk func(p *pattern)
	walk = func(p *pattern) {
		if p == nil {
			return
		}
		if p.name != "" {
			add(p.name)
		}
		for _, q := range p.array {
			walk(q)
		}
		for _, e := range p.object {
			if e.bound != "" {
				add(e.bound)
			}
			walk(e.value)
		}
	}
	for _, p := range list {
		walk(p)
	}
	return names
}

// matcher takes a value apart and calls use with the values of the variables.
type matcher func(e *env, in, v Value, vals map[string]Value, use func() error) error

// matcher compiles a pattern; the keys of objects are computed with the variables bound
// so far.
func (c *compiler) matcher(s *scope, names []string, p *pattern) matcher {
	switch {
	case p.name != "":
		name := p.name
		return func(_ *env, _, v Value, vals map[string]Value, use func() error) error {
			vals[name] = v
			return use()
		}
	case p.isArray:
		return c.arrayMatcher(s, names, p)
	}
	return c.objectMatcher(s, names, p)
}

func (c *compiler) arrayMatcher(s *scope, names []string, p *pattern) matcher {
	items := make([]matcher, len(p.array))
	for i, q := range p.array {
		items[i] = c.matcher(s, names, q)
	}
	return func(e *env, in, v Value, vals map[string]Value, use func() error) error {
		var step func(i int) error
		step = func(i int) error {
			if i == len(items) {
				return use()
			}
			w, err := getIndex(v, float64(i))
			if err != nil {
				return err
			}
			return items[i](e, in, w, vals, func() error { return step(i + 1) })
		}
		return step(0)
	}
}

func (c *compiler) objectMatcher(s *scope, names []string, p *pattern) matcher {
	type part struct {
		key   run
		bound string
		value matcher
	}
	// Keys may use the preceding variables of the same pattern.
	inner := s
	for _, n := range names {
		inner = inner.with(scopeVar, n)
	}
	parts := make([]part, len(p.object))
	for i, pe := range p.object {
		parts[i].key = c.expr(inner, pe.key).run
		parts[i].bound = pe.bound
		if pe.value != nil {
			parts[i].value = c.matcher(s, names, pe.value)
		}
	}
	return func(e *env, in, v Value, vals map[string]Value, use func() error) error {
		var step func(i int) error
		step = func(i int) error {
			if i == len(parts) {
				return use()
			}
			pt := parts[i]
			return pt.key(pushAll(e, names, vals), in, func(k Value) error {
				key, ok := k.(string)
				if !ok {
					return errorf("Cannot index %s with %s", kind(v), kind(k))
				}
				w, err := getIndex(v, key)
				if err != nil {
					return err
				}
				if pt.bound != "" {
					vals[pt.bound] = w // bounded: by the variables of a pattern
				}
				if pt.value == nil {
					return step(i + 1)
				}
				return pt.value(e, in, w, vals, func() error { return step(i + 1) })
			})
		}
		return step(0)
	}
}

func pushAll(e *env, names []string, vals map[string]Value) *env {
	for _, n := range names {
		e = &env{up: e, val: vals[n]}
	}
	return e
}

// binder binds what patterns say and calls use with the environment.
type binder func(e *env, in, v Value, use func(e *env) error) error

// binder compiles patterns; of several the first counts with which nothing goes wrong.
func (c *compiler) binder(s *scope, list []*pattern) (binder, *scope) {
	names := patternNames(list)
	inner := s
	for _, n := range names {
		inner = inner.with(scopeVar, n)
	}
	if len(list) == 1 && list[0].name != "" {
		return func(e *env, _, v Value, use func(e *env) error) error { return use(&env{up: e, val: v}) }, inner
	}
	matchers := make([]matcher, len(list))
	for i, p := range list {
		matchers[i] = c.matcher(s, names, p)
	}
	return func(e *env, in, v Value, use func(e *env) error) error {
		for i, m := range matchers {
			vals := map[string]Value{}
			err := m(e, in, v, vals, func() error { return use(pushAll(e, names, vals)) })
			if _, ok := err.(*Error); ok && i+1 < len(matchers) { //nolint:errorlint // Only as it comes.
				continue
			}
			return err
		}
		return nil
	}, inner
}

func (c *compiler) bind(s *scope, x bind) filter {
	source := c.expr(s, x.source).run
	to, inner := c.binder(s, x.patterns)
	body := c.expr(inner, x.body)
	// With alternatives, an error of the body tries the next one; one from behind does not.
	pass := func(err error) error { return err }
	unpass := pass
	if len(x.patterns) > 1 {
		pass = wrapOutside
		unpass = func(err error) error {
			if o, ok := err.(*outside); ok { //nolint:errorlint // Only as it comes.
				return o.err
			}
			return err
		}
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return source(e, in, func(v Value) error {
				return unpass(to(e, in, v, func(e *env) error {
					return body.run(e, in, func(w Value) error { return pass(out(w)) })
				}))
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return source(e, in, func(v Value) error {
				return unpass(to(e, in, v, func(e *env) error {
					return body.trace(e, p, in, func(p *path, w Value) error { return pass(out(p, w)) })
				}))
			})
		},
	}
}

func (c *compiler) reduce(s *scope, x reduce) filter {
	source, start := c.expr(s, x.source).run, c.expr(s, x.init)
	to, inner := c.binder(s, x.patterns)
	update := c.expr(inner, x.update)
	vm := c.vm
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return start.run(e, in, func(acc Value) error {
				err := source(e, in, func(v Value) error {
					return to(e, in, v, func(e *env) error {
						if err := vm.tick(); err != nil {
							return err
						}
						var last Value
						err := update.run(e, acc, func(w Value) error {
							last = w
							return nil
						})
						acc = last
						return err
					})
				})
				if err != nil {
					return err
				}
				return out(acc)
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return start.trace(e, p, in, func(at *path, acc Value) error {
				err := source(e, in, func(v Value) error {
					return to(e, in, v, func(e *env) error {
						if err := vm.tick(); err != nil {
							return err
						}
						var lastAt *path
						var last Value
						err := update.trace(e, at, acc, func(p *path, w Value) error {
							lastAt, last = p, w
							return nil
						})
						at, acc = lastAt, last
						return err
					})
				})
				if err != nil {
					return err
				}
				return out(at, acc)
			})
		},
	}
}

func (c *compiler) foreach(s *scope, x foreach) filter {
	source, start := c.expr(s, x.source).run, c.expr(s, x.init)
	to, inner := c.binder(s, x.patterns)
	update := c.expr(inner, x.update)
	extract := c.expr(inner, identity{})
	if x.extract != nil {
		extract = c.expr(inner, x.extract)
	}
	vm := c.vm
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return start.run(e, in, func(acc Value) error {
				return source(e, in, func(v Value) error {
					return to(e, in, v, func(e *env) error {
						if err := vm.tick(); err != nil {
							return err
						}
						return update.run(e, acc, func(w Value) error {
							acc = w
							return extract.run(e, w, out)
						})
					})
				})
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return start.trace(e, p, in, func(at *path, acc Value) error {
				return source(e, in, func(v Value) error {
					return to(e, in, v, func(e *env) error {
						if err := vm.tick(); err != nil {
							return err
						}
						return update.trace(e, at, acc, func(p *path, w Value) error {
							at, acc = p, w
							return extract.trace(e, p, w, out)
						})
					})
				})
			})
		},
	}
}
