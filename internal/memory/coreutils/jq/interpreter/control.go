package interpreter

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
			err := body.run(e, in, func(v Value) error { return wrapOutside(out(v)) })
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
			err := body.trace(e, p, in, func(p *path, v Value) error { return wrapOutside(out(p, v)) })
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

func wrapOutside(err error) error {
	if err == nil {
		return nil
	}
	return &outside{err}
}

func (c *compiler) branch(s *scope, x branch) filter {
	cond, then := c.expr(s, x.cond).run, c.expr(s, x.then)
	other := c.expr(s, identity{})
	if x.other != nil {
		other = c.expr(s, x.other)
	}
	pick := func(v Value) filter {
		if isTrue(v) {
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

func (c *compiler) logic(s *scope, x binary) filter {
	l, r := c.expr(s, x.l).run, c.expr(s, x.r).run
	short := x.op == "or"
	f := func(e *env, in Value, out func(Value) error) error {
		return l(e, in, func(a Value) error {
			if isTrue(a) == short {
				return out(short)
			}
			return r(e, in, func(b Value) error { return out(isTrue(b)) })
		})
	}
	return filter{f, traceNewValues(f)}
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
				if !isTrue(v) {
					return nil
				}
				found = true
				return wrapOutside(out(v))
			})
			if err := passed(err); err != nil || found {
				return err
			}
			return r.run(e, in, out)
		},
		func(e *env, p *path, in Value, out func(*path, Value) error) error {
			found := false
			err := l.trace(e, p, in, func(p *path, v Value) error {
				if !isTrue(v) {
					return nil
				}
				found = true
				return wrapOutside(out(p, v))
			})
			if err := passed(err); err != nil || found {
				return err
			}
			return r.trace(e, p, in, out)
		},
	}
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
