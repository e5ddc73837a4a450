package redact

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
)

// mavenElements are the elements of settings.xml that are shown.
var mavenElements = strings.Fields(`settings localRepository interactiveMode offline usePluginRegistry pluginGroups pluginGroup servers server
	id name username password privateKey passphrase filePermissions directoryPermissions configuration httpHeaders property value mirrors mirror
	mirrorOf mirrorOfLayouts layout url blocked proxies proxy active protocol host port nonProxyHosts profiles profile activation
	activeByDefault jdk os family arch version file exists missing repositories repository pluginRepositories pluginRepository releases
	snapshots enabled updatePolicy checksumPolicy activeProfiles activeProfile`)

// mavenSecrets are the elements whose text is a credential, by their parent element.
var mavenSecrets = map[string][]string{
	"server": {"password", "passphrase"}, "proxy": {"password"}, "property": {"value"},
}

// node is an element. settings.xml needs attributes for the name of its schema only.
type node struct {
	name       string
	attributes map[string]string
	text       strings.Builder
	list       []*node
}

func (n *node) child(name string) *node {
	for _, c := range n.list {
		if c.name == name {
			return c
		}
	}
	return nil
}

func (n *node) childText(name string) string {
	if c := n.child(name); c != nil {
		return strings.TrimSpace(c.text.String())
	}
	return ""
}

// parseMaven reads a settings.xml. A password of a server is bound to the hosts of the repositories and mirrors with its id
// in the same file: a project's own pom.xml does not decide who gets it.
func parseMaven(f *File, text string, s Source) error {
	root, err := parseXML(text)
	if err != nil {
		return err
	}
	if root.name != "settings" {
		return errSyntax
	}
	m := maven{file: f, hosts: map[string][]string{}, expand: func(text string) (string, bool) { return expandMaven(text, s) }}
	m.collect(root)
	f.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<settings xmlns=\"http://maven.apache.org/SETTINGS/1.2.0\">")
	for _, c := range root.list {
		if err := m.element(c, root, nil); err != nil {
			return err
		}
	}
	f.write("</settings>\n")
	return nil
}

func parseXML(text string) (*node, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	top := &node{}
	stack := []*node{top}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errSyntax
		}
		here := stack[len(stack)-1]
		switch t := token.(type) {
		case xml.StartElement:
			n := &node{name: t.Name.Local, attributes: map[string]string{}}
			for _, a := range t.Attr {
				n.attributes[a.Name.Local] = a.Value
			}
			here.list = append(here.list, n)
			if stack = append(stack, n); len(stack) > 32 {
				return nil, errSyntax
			}
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			here.text.Write(t)
		case xml.Directive:
			return nil, errSyntax // it may define entities
		}
	}
	if len(top.list) != 1 {
		return nil, errSyntax
	}
	return top.list[0], nil
}

// expandMaven replaces ${env.NAME}.
func expandMaven(text string, s Source) (string, bool) {
	ok := true
	out := mavenVariable().ReplaceAllStringFunc(text, func(ref string) string {
		v, isSet := s.env(strings.TrimSuffix(strings.TrimPrefix(ref, "${env."), "}"))
		ok = ok && isSet
		return v
	})
	return out, ok && !strings.Contains(out, "${")
}

var mavenVariable = compileLater(`\$\{env\.[A-Za-z_][A-Za-z0-9_]*\}`)

// maven writes the shown elements of one file.
type maven struct {
	file   *File
	hosts  map[string][]string // by the id of a repository or mirror
	expand expander
}

// collect finds the hosts of all ids.
func (m *maven) collect(n *node) {
	if id, url := n.childText("id"), n.childText("url"); id != "" && url != "" {
		m.hosts[id] = append(m.hosts[id], bindAddress(url)...)
	}
	for _, c := range n.list {
		m.collect(c)
	}
}

// element writes one element. Elements that are not known are left out, with the properties of profiles, which may hold anything.
func (m *maven) element(n, parent *node, to []string) error {
	if !slices.Contains(mavenElements, n.name) {
		return nil
	}
	switch n.name {
	case "server":
		to = m.hosts[n.childText("id")]
	case "proxy":
		to = nil
	case "value", "property":
		if parent.name != "httpHeaders" && parent.name != "property" {
			return nil
		}
	}
	m.file.write("<", n.name, ">")
	if text := strings.TrimSpace(n.text.String()); text != "" && len(n.list) == 0 {
		v, err := m.content(n.name, parent.name, text, to)
		if err != nil {
			return err
		}
		m.file.writeValue(v, quoteXML)
	}
	for _, c := range n.list {
		if err := m.element(c, n, to); err != nil {
			return err
		}
	}
	m.file.write("</", n.name, ">")
	return nil
}

func (m *maven) content(name, parent, text string, to []string) (value, error) {
	if !isPrintable(text) {
		return nil, errSyntax
	}
	switch {
	case slices.Contains(mavenSecrets[parent], name):
		if strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") {
			to = nil // it is encrypted: Maven sends something else
		}
		return m.file.secret(text, m.expand, to...), nil
	case name == "username" && (isToken(text) || !isPlain(text)):
		return m.file.secret(text, m.expand, to...), nil
	case strings.Contains(text, "://"):
		return m.file.url(text, m.expand)
	case strings.HasPrefix(text, "${") && reference().MatchString(text):
		return literal(text), nil
	}
	if name == "localRepository" {
		text = strings.Replace(text, "${user.home}", "~", 1)
		v, err := plain(text)
		if err == nil && strings.HasPrefix(text, "~") {
			v = literal("${user.home}" + text[1:])
		}
		return v, err
	}
	return plain(text)
}

func quoteXML(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder returns no error
	return b.String()
}
