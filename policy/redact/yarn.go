package redact

import "strings"

// yarnVariable is a reference to a variable in a .yarnrc.yml, with what stands for one that is not set.
var yarnVariable = compileLater(`\$\{([A-Za-z_][A-Za-z0-9_]*)(?:(:?-)([^{}]*))?\}`)

// yarn decides what is shown of a .yarnrc.yml.
type yarn struct {
	file   *File
	expand expander
	server []string        // the bindings of the default registry; none: the file does not name it
	plain  map[string]bool // the bindings of all registries
}

// parseYarn reads a .yarnrc.yml. A token is bound to the registry beside it in the file.
func parseYarn(f *File, text string, s Source) error {
	top, err := parseYAML(text)
	if err != nil {
		return err
	}
	y := yarn{file: f, server: bindAddress(top.child("npmRegistryServer")), plain: map[string]bool{}, expand: func(text string) (string, bool) { return expandYarn(text, s) }}
	y.collect(top)
	return y.mapping(top, "", y.server)
}

// expandYarn replaces ${NAME}, ${NAME-other} and ${NAME:-other}.
func expandYarn(text string, s Source) (string, bool) {
	ok := true
	out := yarnVariable().ReplaceAllStringFunc(text, func(ref string) string {
		m := yarnVariable().FindStringSubmatch(ref)
		v, isSet := s.env(m[1])
		if !isSet || v == "" && m[2] == ":-" {
			ok = ok && m[2] != ""
			return m[3]
		}
		return v
	})
	return out, ok
}

// collect finds the bindings of registries without TLS.
func (y *yarn) collect(n *yamlNode) {
	if strings.HasSuffix(n.key, "Server") {
		for _, b := range bindAddress(n.text) {
			y.plain[b] = true
		}
	}
	for _, c := range n.nodes {
		y.collect(c)
	}
}

// mapping writes a mapping whose tokens are bound to hosts.
func (y *yarn) mapping(n *yamlNode, indent string, to []string) error {
	for _, c := range n.nodes {
		if !isPrintable(c.key) || isToken(c.key) || !yarnKey().MatchString(c.key) {
			return lineFault(c.line, errTokenShape)
		}
		inner := to
		switch n.key {
		case "npmScopes":
			if own := bindAddress(c.child("npmRegistryServer")); own != nil {
				inner = own
			}
		case "npmRegistries":
			if inner = y.registry(c.key); inner == nil {
				return lineFault(c.line, errWithoutAHost)
			}
		}
		if c.kind == yamlScalar {
			v, err := y.scalar(c, to)
			if err != nil {
				return lineFault(c.line, *err)
			}
			y.writeScalar(indent+quoteJSON(c.key)+": ", v)
			continue
		}
		if err := y.nested(c, indent+quoteJSON(c.key)+":", indent+"  ", inner); err != nil {
			return err
		}
	}
	return nil
}

func (y *yarn) writeScalar(head string, v value) {
	if v == nil {
		return
	}
	y.file.write(head, "\"")
	y.file.writeValue(v, quoteTOML)
	y.file.write("\"\n")
}

// nested writes a mapping or a sequence, which may be empty without what is left out.
func (y *yarn) nested(n *yamlNode, head, indent string, to []string) error {
	y.file.write(head, "\n")
	at := len(y.file.text)
	write, empty := y.mapping, " {}\n"
	if n.kind == yamlSequence {
		write, empty = y.sequence, " []\n"
	}
	if err := write(n, indent, to); err != nil {
		return err
	}
	if len(y.file.text) == at {
		y.file.text[at-1].text = empty
	}
	return nil
}

// sequence writes a list of words, or of mappings.
func (y *yarn) sequence(n *yamlNode, indent string, to []string) error {
	for _, c := range n.nodes {
		if c.kind != yamlScalar {
			if err := y.nested(c, indent+"-", indent+"  ", to); err != nil {
				return err
			}
			continue
		}
		v, err := y.scalar(&yamlNode{text: c.text}, nil)
		if err != nil {
			return lineFault(c.line, *err)
		}
		y.writeScalar(indent+"- ", v)
	}
	return nil
}

// yarnKey matches the name of a setting, a scope, a host, a package or an address without a login.
var yarnKey = compileLater(`^[A-Za-z0-9@*_./:~^<>=| -]{1,200}$`)

// yarnPart matches an address of a registry, whose protocol may be missing.
var yarnPart = compileLater(`^(?:(https?):)?//([^/]+)(/.*)?$`)

// registry returns the bindings of a key of npmRegistries; nil: it is not understood.
func (y *yarn) registry(key string) []string {
	m := yarnPart().FindStringSubmatch(key)
	if m == nil || !server().MatchString(m[2]) || !path().MatchString(m[3]) {
		return nil
	}
	if m[1] == "http" {
		return bindings("http", m[2])
	}
	to := bindings("https", m[2])
	if in := bindings("http", m[2]); m[1] == "" && y.plain[in[0]] {
		to = append(to, in...)
	}
	return to
}

// scalar returns what is shown of a value; nil: the key is left out. A registry that cannot be shown is an error, because Yarn would
// ask another one.
func (y *yarn) scalar(n *yamlNode, to []string) (value, *fault) {
	text := n.text
	switch {
	case text == "":
		return nil, nil
	case n.key == "npmAuthToken":
		return y.file.secret(text, y.expand, to...), nil
	case n.key == "npmAuthIdent":
		return y.ident(text, to), nil
	case isSecretName(n.key):
		return nil, nil
	case strings.Contains(text, "://"):
		v, err := y.file.url(text, y.expand)
		if err == nil {
			return v, nil
		}
	case reference().MatchString(text), isPlain(text):
		return literal(text), nil
	}
	if strings.HasSuffix(n.key, "Server") || strings.HasSuffix(n.key, "Registry") {
		bad := errAddress
		return nil, &bad
	}
	return nil, nil
}

// ident reads "user:password", or its Base64.
func (y *yarn) ident(text string, to []string) value {
	expanded, ok := y.expand(text)
	if !ok {
		return y.file.secret(text, y.expand, to...)
	}
	user, password, isLogin := strings.Cut(expanded, ":")
	switch {
	case !isLogin:
		return y.file.addLogin(expanded, to...)
	case password == "" || !isPlain(user):
		return y.file.add(expanded, to...)
	}
	return append(literal(user+":"), y.file.add(password, to...)...)
}
