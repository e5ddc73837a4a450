package interpreter

func (c *compiler) index(s *scope, x index) filter {
	target := c.expr(s, x.target)
	vm := c.vm
	if k, ok := x.at.(literal); ok {
		key := k.v
		return filter{
			func(e *env, in Value, out func(Value) error) error {
				return target.run(e, in, func(v Value) error { return valueAt(vm, v, key, out) })
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
				return target.run(e, in, func(v Value) error { return valueAt(vm, v, key, out) })
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return at(e, in, func(key Value) error {
				return target.trace(e, p, in, func(p *path, v Value) error { return stepInto(vm, p, v, key, out) })
			})
		},
	}
}

// valueAt gives the part of v at key to out.
func valueAt(vm *machine, v, key Value, out func(Value) error) error {
	if err := vm.tick(); err != nil {
		return err
	}
	w, err := getIndex(v, key)
	if err != nil {
		return err
	}
	return out(w)
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
				return target.run(e, in, func(v Value) error { return valueAt(vm, v, key, out) })
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

func pathFilter(c *compiler, a []filter) filter {
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return a[0].trace(e, nil, in, func(p *path, v Value) error {
			if err := p.checkEnd(v); err != nil {
				return err
			}
			return out(&Array{v: p.keys()})
		})
	})
}

// eachIfAny is .[]?.
func (c *compiler) eachIfAny() filter {
	each := c.each()
	holds := func(v Value) bool {
		switch v.(type) {
		case *Array, *Object:
			return true
		}
		return false
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			if !holds(in) {
				return nil
			}
			return each.run(e, in, out)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			if !holds(in) {
				return p.checkEach(in)
			}
			return each.trace(e, p, in, out)
		},
	}
}

func getpathFilter(_ *compiler, a []filter) filter {
	keysOf := func(v Value) ([]Value, error) {
		keys, ok := v.(*Array)
		if !ok {
			return nil, errorf("Path must be specified as an array")
		}
		return keys.v, nil
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return a[0].run(e, in, func(v Value) error {
				keys, err := keysOf(v)
				if err != nil {
					return err
				}
				w, err := getPath(in, keys)
				if err != nil {
					return err
				}
				return out(w)
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return a[0].run(e, in, func(v Value) error {
				keys, err := keysOf(v)
				if err != nil {
					return err
				}
				if err := p.check(in, v); err != nil {
					return err
				}
				w, err := getPath(in, keys)
				if err != nil {
					return err
				}
				at := p
				for _, k := range keys {
					at = at.to(k)
				}
				return out(at, w)
			})
		},
	}
}
