package shell

import "github.com/seed434b0696/agent-sandbox/internal/memory/regex"

// regexKey names a compiled regular expression.
type regexKey struct {
	text string
	fold bool
}

// regexp returns the compiled expression.
func (l *library) regexp(k regexKey) (*regex.Regexp, error) {
	l.mu.Lock()
	re := l.regexps[k]
	l.mu.Unlock()
	if re != nil {
		return re, nil
	}
	flags := regex.Extended
	if k.fold {
		flags |= regex.IgnoreCase
	}
	re, err := regex.Compile(k.text, flags)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	if len(l.regexps) >= maxCached/8 {
		clear(l.regexps)
	}
	l.regexps[k] = re
	l.mu.Unlock()
	return re, nil
}

// matchRegex matches s with an extended regular expression and returns the groups, the whole first.
func (sh *interp) matchRegex(text, s string) (groups []string, ok bool, err error) {
	re, err := sh.m.lib.regexp(regexKey{text, sh.shopt&shNoCaseMatch != 0})
	if err != nil {
		return nil, false, err
	}
	caps := make([]int, 2*(re.Groups()+1))
	m := re.Matcher(func(n int) error {
		if !sh.spend(n) {
			return ErrFuel
		}
		return nil
	})
	if !m.Find([]byte(s), 0, caps) {
		return []string{}, false, nil
	}
	groups = make([]string, len(caps)/2)
	for i := range groups {
		if caps[2*i] >= 0 {
			groups[i] = s[caps[2*i]:caps[2*i+1]]
		}
	}
	return groups, true, nil
}
