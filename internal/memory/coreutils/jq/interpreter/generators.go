package interpreter

import (
	"errors"
	"math"
)

func recurseFilter(c *compiler, f filter) filter {
	vm := c.vm
	var r run
	var t trace
	r = func(e *env, in Value, out func(Value) error) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		if err := out(in); err != nil {
			return err
		}
		return f.run(e, in, func(v Value) error { return r(e, v, out) })
	}
	t = func(e *env, p *path, in Value, out func(*path, Value) error) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		if err := out(p, in); err != nil {
			return err
		}
		return f.trace(e, p, in, func(p *path, v Value) error { return t(e, p, v, out) })
	}
	return filter{r, t}
}

func rangeFilter(c *compiler, a []filter) filter {
	zero := func(_ *env, _ Value, out func(Value) error) error { return out(0.0) }
	one := func(_ *env, _ Value, out func(Value) error) error { return out(1.0) }
	from, upto, by := run(zero), a[0].run, run(one)
	if len(a) > 1 {
		from, upto = a[0].run, a[1].run
	}
	if len(a) > 2 {
		by = a[2].run
	}
	vm := c.vm
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return from(e, in, func(f Value) error {
			return upto(e, in, func(u Value) error {
				return by(e, in, func(b Value) error {
					x, okX := number(f)
					y, okY := number(u)
					z, okZ := number(b)
					if !okX || !okY || !okZ {
						return errorf("Range bounds must be numeric")
					}
					if len(a) > 2 && z == 0 {
						// The range would never end.
						if x >= y {
							return nil
						}
						for {
							if err := vm.tick(); err != nil {
								return err
							}
							if err := out(x); err != nil {
								return err
							}
						}
					}
					return rangeOf(vm, x, y, z, out)
				})
			})
		})
	})
}

// ignoreMark returns nil for the error with which a generator ends itself.
func ignoreMark(err error, mark error) error {
	if err == mark { //nolint:errorlint // It is itself or something else.
		return nil
	}
	return err
}

// stopError ends one generator. Each has its own, so that no other generator stops at it.
type stopError struct{ _ byte }

func firstFilter(_ *compiler, a []filter) filter {
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			mark := &stopError{}
			return ignoreMark(a[0].run(e, in, func(v Value) error {
				if err := out(v); err != nil {
					return err
				}
				return mark
			}), mark)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			mark := &stopError{}
			return ignoreMark(a[0].trace(e, p, in, func(p *path, v Value) error {
				if err := out(p, v); err != nil {
					return err
				}
				return mark
			}), mark)
		},
	}
}

func lastFilter(_ *compiler, a []filter) filter {
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			var last Value
			found := false
			err := a[0].run(e, in, func(v Value) error {
				last, found = v, true
				return nil
			})
			if err != nil || !found {
				return err
			}
			return out(last)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			var at *path
			var last Value
			found := false
			err := a[0].trace(e, p, in, func(p *path, v Value) error {
				at, last, found = p, v, true
				return nil
			})
			if err != nil || !found {
				return err
			}
			return out(at, last)
		},
	}
}

// limitFilter is limit(n; f): a negative n sets no limit.
func limitFilter(_ *compiler, a []filter) filter {
	start := func(n Value) float64 {
		f, ok := number(n)
		if !ok {
			if Compare(n, 0.0) > 0 {
				return math.Inf(1)
			}
			return -1
		}
		return f
	}
	return filter{
		func(e *env, in Value, out func(Value) error) error {
			return a[0].run(e, in, func(n Value) error {
				left := start(n)
				if left == 0 {
					return nil
				}
				if left < 0 {
					return a[1].run(e, in, out)
				}
				mark := &stopError{}
				return ignoreMark(a[1].run(e, in, func(v Value) error {
					left--
					if err := out(v); err != nil {
						return err
					}
					if left <= 0 {
						return mark
					}
					return nil
				}), mark)
			})
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			return a[0].run(e, in, func(n Value) error {
				left := start(n)
				if left == 0 {
					return nil
				}
				if left < 0 {
					return a[1].trace(e, p, in, out)
				}
				mark := &stopError{}
				return ignoreMark(a[1].trace(e, p, in, func(p *path, v Value) error {
					left--
					if err := out(p, v); err != nil {
						return err
					}
					if left <= 0 {
						return mark
					}
					return nil
				}), mark)
			})
		},
	}
}

func skipFilter(c *compiler, a []filter) filter {
	return c.values(func(e *env, in Value, out func(Value) error) error {
		return a[0].run(e, in, func(n Value) error {
			left, _ := number(n)
			return a[1].run(e, in, func(v Value) error {
				if left > 0 {
					left--
					return nil
				}
				return out(v)
			})
		})
	})
}

// results collects what a filter gives; it is for filters that are called again and again on their
// own results, which must not pile up on the stack.
func (vm *machine) results(f run, e *env, in Value) ([]Value, error) {
	var all []Value
	err := f(e, in, func(v Value) (err error) {
		all, err = vm.gather(all, v)
		return err
	})
	return all, err
}

func untilFilter(c *compiler, a []filter) filter {
	vm := c.vm
	var r run
	r = func(e *env, in Value, out func(Value) error) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		for {
			if err := vm.tick(); err != nil {
				return err
			}
			conds, err := vm.results(a[0].run, e, in)
			if err != nil {
				return err
			}
			var next []Value
			for i, cond := range conds {
				if isTrue(cond) {
					if err := out(in); err != nil {
						return err
					}
					continue
				}
				values, err := vm.results(a[1].run, e, in)
				if err != nil {
					return err
				}
				if i == len(conds)-1 {
					next = values
					break
				}
				for _, v := range values {
					if err := r(e, v, out); err != nil {
						return err
					}
				}
			}
			if len(next) == 0 {
				return nil
			}
			for _, v := range next[:len(next)-1] {
				if err := r(e, v, out); err != nil {
					return err
				}
			}
			in = next[len(next)-1]
		}
	}
	return c.values(r)
}

func whileFilter(c *compiler, a []filter) filter {
	return chain(c, func(e *env, in Value) (bool, error) {
		conds, err := c.vm.results(a[0].run, e, in)
		return err == nil && len(conds) > 0 && isTrue(conds[0]), err
	}, a[1])
}

func repeatFilter(c *compiler, a []filter) filter {
	return chain(c, func(*env, Value) (bool, error) { return true, nil }, a[0])
}

// chain gives its input, and then the same for each result of f, as long as goOn says so. The
// last result is not a call inside the call, so that a chain may be of any length.
func chain(c *compiler, goOn func(e *env, in Value) (bool, error), f filter) filter {
	vm := c.vm
	var r run
	r = func(e *env, in Value, out func(Value) error) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		for {
			ok, err := goOn(e, in)
			if err != nil || !ok {
				return err
			}
			if err := vm.tick(); err != nil {
				return err
			}
			if err := out(in); err != nil {
				return err
			}
			next, err := vm.results(f.run, e, in)
			if len(next) == 0 || err != nil {
				for _, v := range next {
					if err := r(e, v, out); err != nil {
						return err
					}
				}
				return err
			}
			for _, v := range next[:len(next)-1] {
				if err := r(e, v, out); err != nil {
					return err
				}
			}
			in = next[len(next)-1]
		}
	}
	var t trace
	t = func(e *env, p *path, in Value, out func(*path, Value) error) error {
		if err := vm.enter(); err != nil {
			return err
		}
		defer vm.leave()
		ok, err := goOn(e, in)
		if err != nil || !ok {
			return err
		}
		if err := out(p, in); err != nil {
			return err
		}
		return f.trace(e, p, in, func(p *path, v Value) error { return t(e, p, v, out) })
	}
	return filter{r, t}
}

func isEmptyFilter(c *compiler, a []filter) filter {
	return c.values(func(e *env, in Value, out func(Value) error) error {
		mark := &stopError{}
		err := a[0].run(e, in, func(Value) error { return mark })
		if err == mark { //nolint:errorlint // It is itself or something else.
			return out(false)
		}
		if err != nil {
			return err
		}
		return out(true)
	})
}

func inputFilter(c *compiler, _ []filter) filter {
	return c.values(func(_ *env, _ Value, out func(Value) error) error {
		v, err := c.vm.nextInput()
		if err != nil {
			return err
		}
		return out(v)
	})
}

func inputsFilter(c *compiler, _ []filter) filter {
	return c.values(func(_ *env, _ Value, out func(Value) error) error {
		for {
			v, err := c.vm.nextInput()
			var e *Error
			if errors.As(err, &e) && e.Value == "No more inputs" {
				return nil
			}
			if err != nil {
				return err
			}
			if err := out(v); err != nil {
				return err
			}
		}
	})
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
