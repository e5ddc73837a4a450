package redact

import (
	"slices"
	"strings"
)

// nugetSections are the elements of a NuGet.Config that are shown, with the elements in them.
var nugetSections = map[string][]string{
	"packageSources": {"add", "clear", "remove"}, "disabledPackageSources": {"add", "clear", "remove"}, "activePackageSource": {"add"}, "auditSources": {"add", "clear", "remove"},
	"packageRestore": {"add"}, "bindingRedirects": {"add"}, "packageManagement": {"add"}, "solution": {"add"}, "config": {"add"},
	"fallbackPackageFolders": {"add", "clear"}, "packageSourceMapping": {"packageSource", "clear"}, "packageSourceCredentials": nil,
}

// nugetAttributes are the attributes that are shown.
var nugetAttributes = []string{"key", "value", "protocolVersion", "allowInsecureConnections", "disableTLSCertificateValidation", "pattern"}

// nugetVariable is a reference to a variable.
var nugetVariable = compileLater(`%([A-Za-z_][A-Za-z0-9_]*)%`)

// parseNuGet reads a NuGet.Config. The login of a source is bound to the source's host in the same file.
func parseNuGet(f *File, text string, s Source) error {
	root, err := parseXML(text)
	if err != nil {
		return err
	}
	if root.name != "configuration" {
		return errSyntax
	}
	n := nuget{file: f, hosts: map[string][]string{}, expand: func(text string) (string, bool) {
		ok := true
		out := nugetVariable().ReplaceAllStringFunc(text, func(ref string) string {
			v, isSet := s.env(strings.Trim(ref, "%"))
			ok = ok && isSet
			return v
		})
		return out, ok
	}}
	for _, section := range root.list {
		if section.name != "packageSources" {
			continue
		}
		for _, add := range section.list {
			n.hosts[add.attributes["key"]] = bindAddress(add.attributes["value"])
		}
	}
	f.write("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<configuration>\n")
	for _, section := range root.list {
		if err := n.section(section); err != nil {
			return err
		}
	}
	f.write("</configuration>\n")
	return nil
}

type nuget struct {
	file   *File
	hosts  map[string][]string // by the name of a source
	expand expander
}

func (n *nuget) section(section *node) error {
	shown, ok := nugetSections[section.name]
	if !ok {
		return nil // such as apikeys, which publish packages
	}
	n.file.write("<", section.name, ">\n")
	for _, e := range section.list {
		var err error
		switch {
		case section.name == "packageSourceCredentials":
			err = n.credentials(e)
		case !slices.Contains(shown, e.name):
		case section.name == "packageSourceMapping":
			err = n.element(e, nil, "package")
		default:
			err = n.element(e, nil)
		}
		if err != nil {
			return err
		}
	}
	n.file.write("</", section.name, ">\n")
	return nil
}

// credentials writes the login of a source. Its name is that of the element, where _x0020_ is a space.
func (n *nuget) credentials(source *node) error {
	name := decodeNuGet(source.name)
	if !nugetName().MatchString(source.name) || isToken(name) {
		return errTokenShape
	}
	n.file.write("<", source.name, ">\n")
	for _, add := range source.list {
		if add.name != "add" || !slices.Contains([]string{"Username", "ClearTextPassword", "Password", "ValidAuthenticationTypes"}, add.attributes["key"]) {
			continue
		}
		if err := n.element(add, n.hosts[name]); err != nil {
			return err
		}
	}
	n.file.write("</", source.name, ">\n")
	return nil
}

var nugetName = compileLater(`^[A-Za-z_][A-Za-z0-9_.-]{0,99}$`)

func decodeNuGet(name string) string {
	return nugetEscape().ReplaceAllStringFunc(name, func(code string) string {
		var r rune
		for _, c := range strings.ToLower(code[2:6]) {
			r = r<<4 | rune(strings.IndexRune("0123456789abcdef", c))
		}
		return string(r)
	})
}

var nugetEscape = compileLater(`_x[0-9A-Fa-f]{4}_`)

// element writes an element with its attributes, and those of inner in it.
func (n *nuget) element(e *node, to []string, inner ...string) error {
	n.file.write("<", e.name)
	for _, name := range nugetAttributes {
		text, ok := e.attributes[name]
		if !ok {
			continue
		}
		v, err := n.attribute(e.attributes["key"], name, text, to)
		if err != nil {
			return err
		}
		n.file.write(" ", name, `="`)
		n.file.writeValue(v, quoteXML)
		n.file.write(`"`)
	}
	n.file.write(">")
	for _, c := range e.list {
		if slices.Contains(inner, c.name) {
			if err := n.element(c, nil); err != nil {
				return err
			}
		}
	}
	n.file.write("</", e.name, ">\n")
	return nil
}

func (n *nuget) attribute(key, name, text string, to []string) (value, error) {
	if !isPrintable(text) {
		return nil, errSyntax
	}
	whole := nugetVariable().FindString(text) == text && text != ""
	switch {
	case name != "value":
		return plain(text)
	case strings.HasSuffix(strings.ToLower(key), "password"):
		if key == "Password" {
			to = nil // it is encrypted
		}
		expanded, ok := n.expand(text)
		if !ok {
			if whole {
				return literal(text), nil
			}
			return n.file.add(text), nil
		}
		return n.file.add(expanded, to...), nil
	case isSecretName(key), key == "Username" && !isPlain(text) && !whole:
		return n.file.add(text, to...), nil
	case whole:
		return literal(text), nil
	case strings.Contains(text, "://"):
		return n.file.url(text, nil)
	}
	return plain(text)
}
