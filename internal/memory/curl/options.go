package curl

import (
	"strings"
)

// option is one option of curl.
type option struct {
	letter byte
	name   string
	// One of:
	flag   func(*parser) *bool         // a switch; --no-NAME turns it off
	text   func(*parser) *string       // an option whose argument is stored
	set    func(*parser, string) error // an option with an argument
	do     func(*parser) error         // a switch that does more
	refuse string                      // why curl rejects the option
	arg    bool                        // with refuse: it takes an argument
}

// Reasons for options that are not there.
const (
	notBuilt  = "the installed libcurl version doesn't support this"
	ourChoice = "the sandbox decides which way requests go"
)

// parser reads a command line.
type parser struct {
	tool *tool
	c    *config

	table []option
	name  string // the option as it was written, for messages
	quit  func() int
	depth int // of configuration files
}

// usageError is a wrong option; its text follows the option's name.
type usageError struct {
	text string
	code int
}

func (e *usageError) Error() string { return e.text }

func badUse(text string) error { return &usageError{text, codeUsage} }

var (
	errNumber   = badUse("expected a proper numerical parameter")
	errPositive = badUse("expected a positive numerical parameter")
	errReading  = &usageError{"error encountered when reading a file", codeRead}
	errNoMemory = &usageError{"out of memory", statusNoMemory}
	errBadUse   = badUse("is badly used here")
	errTold     = &usageError{"", codeUsage} // the message has been written
)

// args reads all words. It returns false when the command is over, with its status.
func (p *parser) args(words []string) error {
	flags := true
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !flags || !strings.HasPrefix(w, "-") {
			if err := p.tool.charge(w); err != nil {
				return err
			}
			p.c.addURL(w)
			continue
		}
		if w == "--" {
			flags = false
			continue
		}
		next := func() (string, bool) {
			if i+1 >= len(words) {
				return "", false
			}
			i++
			return words[i], true
		}
		p.name = w
		if err := p.word(w, next); err != nil {
			return err
		}
		if p.quit != nil {
			return nil
		}
	}
	return nil
}

// word reads one word with options; next gives an argument.
func (p *parser) word(w string, next func() (string, bool)) error {
	if long, ok := strings.CutPrefix(w, "--"); ok {
		o, off, err := p.long(long)
		if err != nil {
			return err
		}
		return p.apply(o, off, "", false, next)
	}
	rest := w[1:]
	if rest == "" {
		return badUse("is unknown")
	}
	for rest != "" && p.quit == nil {
		o := p.letter(rest[0])
		if o == nil {
			return badUse("is unknown")
		}
		rest = rest[1:]
		if o.takes() {
			return p.apply(o, false, rest, rest != "", next)
		}
		if err := p.apply(o, false, "", false, nil); err != nil {
			return err
		}
	}
	return nil
}

func (o *option) takes() bool { return o.text != nil || o.set != nil || o.arg }

func (p *parser) letter(c byte) *option {
	for i := range p.table {
		if p.table[i].letter == c {
			return &p.table[i]
		}
	}
	return nil
}

// long finds an option by its name or a beginning that only it has.
func (p *parser) long(name string) (found *option, off bool, err error) {
	name, off = strings.CutPrefix(name, "no-")
	find := func(name string) (found *option, many bool) {
		for i := range p.table {
			o := &p.table[i]
			if o.name == name && o.name != "" {
				return o, false
			}
			if name != "" && strings.HasPrefix(o.name, name) {
				many = found != nil
				if found == nil {
					found = o
				}
			}
		}
		return found, many
	}
	if off {
		// Some begin with "no-" themselves.
		if o, many := find("no-" + name); o != nil && !many && o.name == "no-"+name {
			return o, false, nil
		}
	}
	o, many := find(name)
	switch {
	case many:
		return nil, false, badUse("is ambiguous")
	case o == nil:
		return nil, false, badUse("is unknown")
	case off && o.flag == nil:
		return nil, false, badUse("used '--no-' for option that isn't a boolean")
	}
	return o, off, nil
}

func (p *parser) apply(o *option, off bool, value string, given bool, next func() (string, bool)) error {
	if o.takes() && !given {
		var ok bool
		if value, ok = next(); !ok {
			return badUse("requires parameter")
		}
		if len(value) > 1 && value[0] == '-' && p.depth == 0 && o.name != "" && o.letter != 0 && o.refuse == "" {
			p.looksLikeOption(value)
		}
	}
	if err := p.tool.charge(value); err != nil {
		return err
	}
	switch {
	case o.refuse != "":
		return badUse(o.refuse)
	case o.flag != nil:
		*o.flag(p) = !off
	case o.text != nil:
		*o.text(p) = value
	case o.set != nil:
		return o.set(p, value)
	case o.do != nil:
		return o.do(p)
	}
	return nil
}

// optionWeight is about how many bytes of memory an option takes beside its argument.
const optionWeight = 256

// charge counts the memory of an option with an argument: as given, and as changed.
func (t *tool) charge(value string) error {
	if t.p.Reserve(optionWeight+4*len(value)) != nil {
		return errNoMemory
	}
	return t.p.Spend(1 + len(value)>>6)
}

// looksLikeOption warns of an argument that was perhaps forgotten.
func (p *parser) looksLikeOption(value string) {
	if p.letter(value[1]) == nil {
		return
	}
	if len(value) == 2 {
		p.tool.warn("The argument '%s' is looking like an option", value)
	}
}
