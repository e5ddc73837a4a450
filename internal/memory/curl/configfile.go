package curl

import (
	"errors"
	"fmt"
	"strings"
)

// maxConfigs bounds configuration files that name configuration files.
const maxConfigs = 16

// config is -K: options in a file, one on a line.
func (p *parser) config(name string) error {
	name0 := p.name
	if p.depth >= maxConfigs {
		return errReading
	}
	data, err := p.tool.readFile(name)
	if err != nil {
		if err == errNoMemory { //nolint:errorlint // It is made here.
			return err
		}
		fmt.Fprintf(p.tool.errors, "curl: cannot read config from '%s'\n", name)
		return errReading
	}
	if name == "-" {
		name = "<stdin>"
	}
	err = p.configText(name, string(data))
	p.name = name0
	return err
}

func (p *parser) configText(file, text string) error {
	p.depth++
	defer func() { p.depth-- }()
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line = strings.TrimSpace(strings.TrimRight(line, "\r"))
		if line == "" || line[0] == '#' {
			continue
		}
		if err := p.configLine(line, file, number); err != nil {
			return err
		}
		if p.quit != nil {
			return nil
		}
	}
	return nil
}

// configLine reads "option", "option value", "option = value", "option: value" with or without dashes.
func (p *parser) configLine(line, file string, number int) error {
	dashed := line[0] == '-'
	end := strings.IndexFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || !dashed && (r == '=' || r == ':') })
	word, value := line, ""
	if end >= 0 {
		word, value = line[:end], strings.TrimLeft(line[end:], " \t")
		if !dashed {
			value = strings.TrimLeft(strings.TrimLeft(value, "=: \t"), " \t")
		}
	}
	quoted := strings.HasPrefix(value, `"`)
	if quoted {
		value = unquote(value[1:])
	} else if i := strings.IndexAny(value, " \t\r\n\v"); i >= 0 {
		rest := strings.TrimLeft(value[i:], " \t")
		value = value[:i]
		if rest != "" && rest[0] != '#' {
			p.tool.warn("%s:%d: warning: '%s' uses unquoted white space in the option value that may cause side-effects. Consider double-quotes?", file, number, word)
		}
	}
	if !dashed {
		word = "--" + word
	}
	given := value != "" || quoted
	used := false
	next := func() (string, bool) {
		used = true
		return value, given
	}
	p.name = word
	err := p.word(word, next)
	if err == nil && given && !used {
		err = badUse("had unsupported trailing garbage")
	}
	if u, ok := errors.AsType[*usageError](err); ok && u.text != "" {
		p.tool.warn("%s:%d: warning: '%s' %s", file, number, strings.TrimPrefix(word, "--"), u.text)
		return nil
	}
	return err
}

// unquote reads up to the closing quote.
func unquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return b.String()
		case c == '\\' && i+1 < len(s):
			i++
			if j := strings.IndexByte("tnrv", s[i]); j >= 0 {
				b.WriteByte("\t\n\r\v"[j])
			} else {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// defaults reads the user's own configuration, unless the first word is -q.
func (p *parser) defaults(args []string) error {
	if len(args) > 0 && (args[0] == "--disable" || strings.HasPrefix(args[0], "-q")) {
		return nil
	}
	for _, dir := range []string{p.tool.p.Getenv("CURL_HOME"), p.tool.p.Getenv("XDG_CONFIG_HOME"), p.tool.p.Getenv("HOME")} {
		if dir == "" {
			continue
		}
		name := strings.TrimRight(dir, "/") + "/.curlrc"
		if data, err := p.tool.readFile(name); err == nil {
			return p.configText(name, string(data))
		}
	}
	return nil
}
