package configimport

import (
	"slices"
	"strings"
)

const (
	agentTool   = "it applies to a tool of Claude Code, not to commands; Claude Code enforces it"
	noQuestions = "commands inside cannot ask the user: the sandbox refuses what Claude Code asks about"
	macOnly     = "it applies to macOS only"
	alwaysSo    = "agent-sandbox always behaves like this"
	noTwoKinds  = "every command runs in the sandbox"
	listOnly    = "only listed paths are writable there (leave this out when Claude Code itself runs inside)"
	projectRule = "the managed settings ignore rules of other files"
)

// claude is the state of reading several files of Claude Code. It joins lists; the last file
// that sets a single value wins.
type claude struct {
	d *draft

	enabled, mode, httpPort, socksPort *item
	onlyRules, onlyDomains, onlyReads  bool // of managed settings
	managed                            bool // of the file that is being read
	noEdits                            *source

	domainAllow, domainDeny []item
}

// readClaude reads files in the order of their precedence, lowest first.
func (d *draft) readClaude(files []File) {
	c := &claude{d: d}
	tops := make([]*object, len(files))
	for i, f := range files {
		n, err := parse(f.Name, f.Data)
		if err != nil {
			d.err = err
			return
		}
		tops[i] = d.top(d.host.short(f.Name), n)
		if isManaged(f.Name) {
			c.managedSwitches(tops[i])
		}
	}
	for i, top := range tops {
		c.managed = isManaged(files[i].Name)
		root := d.host.claudeRoot(files[i].Name)
		perms, box := top.object("permissions"), top.object("sandbox")
		if perms == nil && box == nil && d.err == nil {
			it := item{from: source{file: top.file, line: 1, key: "permissions"}}
			d.say(it.lack(Moot, "the file has neither permissions nor sandbox", ""))
		}
		c.permissions(perms, root)
		c.sandbox(box, root)
	}
	if d.err == nil {
		c.finish()
	}
}

// managedSwitches reads the administrator's settings that restrict the other files.
func (c *claude) managedSwitches(top *object) {
	if perms := top.bool("allowManagedPermissionRulesOnly"); perms.is("true") {
		c.onlyRules = true
	}
	box := top.object("sandbox")
	c.onlyDomains = c.onlyDomains || box.object("network").bool("allowManagedDomainsOnly").is("true")
	c.onlyReads = c.onlyReads || box.object("filesystem").bool("allowManagedReadPathsOnly").is("true")
}

func (c *claude) permissions(o *object, root string) {
	if o == nil {
		return
	}
	// Claude Code may ignore a denial of another file. It is applied here all the same,
	// because it is stricter.
	for _, it := range o.list("deny") {
		c.rule(it, root, "deny")
	}
	asks := o.list("ask")
	for i, it := range asks {
		if i == 0 {
			c.d.say(item{from: it.from}.lack(Stricter, noQuestions, ""))
		}
		c.rule(it, root, "ask")
	}
	for _, it := range o.list("allow") {
		if c.onlyRules && !c.managed {
			c.d.say(it.lack(Moot, projectRule, ""))
			continue
		}
		c.rule(it, root, "allow")
	}
	for _, it := range o.list("additionalDirectories") {
		c.d.add(&c.d.allowWrite, it, syntax{}, true, Grant)
	}
	if mode := o.text("defaultMode"); mode != nil {
		c.mode = mode
	}
	o.note(Moot, alwaysSo, "", "disableBypassPermissionsMode", "disableAutoMode")
	o.done()
}

// rule reads an entry "Tool" or "Tool(what)" of one of the lists.
func (c *claude) rule(it item, root, list string) {
	tool, what := it.value, ""
	if i := strings.IndexByte(it.value, '('); i >= 0 {
		if !strings.HasSuffix(it.value, ")") {
			c.lost(it, list, "it is not a rule: the closing bracket is missing", "")
			return
		}
		tool, what = it.value[:i], it.value[i+1:len(it.value)-1]
	}
	switch tool {
	case "Bash":
		c.bash(it, what, list)
	case "Read", "Glob", "Grep", "LS", "NotebookRead":
		c.read(it, what, root, list)
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		c.edit(it, what, root, list)
	case "WebFetch":
		c.fetch(it, what, list)
	default:
		c.lost(it, list, agentTool, "")
	}
}

// lost reports a rule without equivalent.
func (c *claude) lost(it item, list, why, nearest string) {
	kind := Restriction
	if list == "allow" {
		kind = Moot
	}
	c.d.say(it.lack(kind, why, nearest))
}

func (c *claude) bash(it item, what, list string) {
	if list == "allow" {
		c.d.say(it.lack(Moot, "every command may run inside without a question", ""))
		return
	}
	text, prefix := strings.CutSuffix(what, ":*")
	if !prefix {
		text, prefix = strings.CutSuffix(text, " *")
	}
	text, part := strings.CutSuffix(text, "*")
	words := strings.Fields(text)
	if len(words) == 0 {
		c.d.say(it.lack(Restriction, "a sandbox cannot refuse all commands", "commands, by name"))
		return
	}
	c.d.refuse(it, words, prefix || part, part && !prefix)
}

func (c *claude) read(it item, what, root, list string) {
	s := syntax{ignore: true, double: true, root: root}
	switch {
	case list == "allow" && what != "":
		c.d.addPath(&c.d.allowRead, what, it, s, true, Grant)
	case list == "allow":
		c.d.say(it.lack(Moot, "commands can read everything that is not hidden", "filesystem.ro"))
	case what == "":
		c.d.say(it.lack(Restriction, "commands cannot run where nothing can be read", "filesystem.exclude"))
	default:
		c.d.addPath(&c.d.denyRead, what, it, s, false, Restriction)
	}
}

func (c *claude) edit(it item, what, root, list string) {
	s := syntax{ignore: true, double: true, root: root}
	switch {
	case list == "allow" && what != "":
		c.d.addPath(&c.d.allowWrite, what, it, s, true, Grant)
	case list == "allow":
		c.d.say(it.lack(Grant, "a sandbox writes to named places only", "filesystem.rw"))
	case what == "":
		c.noEdits = &it.from
	default:
		c.d.addPath(&c.d.denyWrite, what, it, s, false, Restriction)
	}
}

func (c *claude) fetch(it item, what, list string) {
	host, ok := strings.CutPrefix(what, "domain:")
	entry := item{host, it.from}
	switch {
	case !ok || host == "":
		c.lost(it, list, agentTool, "network")
	case list != "allow":
		c.domainDeny = append(c.domainDeny, entry)
	case c.onlyDomains && !c.managed:
		c.d.say(it.lack(Moot, projectRule, ""))
	default:
		c.domainAllow = append(c.domainAllow, entry)
	}
}

func (c *claude) sandbox(o *object, root string) {
	if o == nil {
		return
	}
	if enabled := o.bool("enabled"); enabled != nil {
		c.enabled = enabled
	}
	c.network(o.object("network"))
	c.filesystem(o.object("filesystem"), root)
	c.credentials(o.object("credentials"), root)
	for _, it := range o.list("excludedCommands") {
		nearest := ""
		if strings.HasPrefix(it.value, "docker") {
			nearest = `"docker": true, which is root on the host`
		}
		c.d.say(it.lack(Grant, noTwoKinds, nearest))
	}
	if it := o.bool("allowUnsandboxedCommands"); it.is("true") {
		c.d.say(it.lack(Grant, noTwoKinds, ""))
	} else if it != nil {
		c.d.say(it.lack(Moot, alwaysSo, ""))
	}
	o.note(Moot, alwaysSo, "", "failIfUnavailable", "autoAllowBashIfSandboxed")
	o.note(Moot, "reports of refusals are not filtered", "", "ignoreViolations")
	o.note(Moot, "the isolation is the same inside containers", "", "enableWeakerNestedSandbox")
	o.note(Moot, macOnly, "", "enableWeakerNetworkIsolation", "allowAppleEvents")
	o.note(Moot, "agent-sandbox does not use this program, or finds it without a setting", "", "ripgrep", "bwrapPath", "socatPath")
	o.done()
}

func (c *claude) network(o *object) {
	allow := o.list("allowedDomains")
	if c.onlyDomains && !c.managed {
		for _, it := range allow {
			c.d.say(it.lack(Moot, projectRule, ""))
		}
		allow = nil
	}
	c.domainAllow = append(c.domainAllow, allow...)
	c.domainDeny = append(c.domainDeny, o.list("deniedDomains")...)
	c.d.unixSockets(o)
	if it := o.number("httpProxyPort"); it != nil {
		c.httpPort = it
	}
	if it := o.number("socksProxyPort"); it != nil {
		c.socksPort = it
	}
	o.bool("allowManagedDomainsOnly") // read by managedSwitches
	c.d.terminate(o.object("tlsTerminate"))
	o.done()
}

func (c *claude) filesystem(o *object, root string) {
	s := syntax{double: true, root: root}
	for _, it := range o.list("allowWrite") {
		c.d.add(&c.d.allowWrite, it, s, false, Grant)
	}
	for _, it := range o.list("denyWrite") {
		c.d.add(&c.d.denyWrite, it, s, false, Restriction)
	}
	for _, it := range o.list("denyRead") {
		c.d.add(&c.d.denyRead, it, s, false, Restriction)
	}
	for _, it := range o.list("allowRead") {
		if c.onlyReads && !c.managed {
			c.d.say(it.lack(Moot, projectRule, ""))
			continue
		}
		c.d.add(&c.d.allowRead, it, s, false, Grant)
	}
	o.bool("allowManagedReadPathsOnly") // read by managedSwitches
	o.done()
}

func (c *claude) credentials(o *object, root string) {
	c.d.credentials(o, syntax{double: true, root: root}, nil)
	o.done()
}

// finish makes the decisions that depend on all files.
func (c *claude) finish() {
	d := c.d
	d.domains(c.domainAllow, c.domainDeny, true)
	box := c.enabled.is("true")
	switch {
	case box:
		d.filtered, d.closed = &c.enabled.from, &source{file: c.enabled.from.file, line: c.enabled.from.line, key: c.enabled.from.key + ": " + listOnly}
	case len(c.domainAllow)+len(c.domainDeny) > 0:
		d.filtered = &source{key: "permissions"}
	}
	if !box {
		it := item{from: source{key: "sandbox.enabled"}}
		if c.enabled != nil {
			it = *c.enabled
		}
		d.say(it.lack(Stricter, "commands run without isolation there; here they run in the sandbox and reach only the allowed hosts", "network"))
	}
	d.proxyPorts(c.httpPort, c.socksPort)
	if c.noEdits != nil {
		d.frozen(*c.noEdits)
	}
	if c.mode != nil {
		c.defaultMode(*c.mode)
	}
}

func (c *claude) defaultMode(it item) {
	switch {
	case it.value == "plan":
		c.d.frozen(it.from)
	case it.value == "dontAsk":
		c.d.say(it.lack(Restriction, "it refuses every command that no rule allows; here every command may run", "commands, by name"))
	case slices.Contains([]string{"default", "acceptEdits", "auto", "bypassPermissions"}, it.value):
		c.d.say(it.lack(Moot, "the sandbox replaces the questions", ""))
	default:
		c.d.say(it.lack(Unknown, "unknown mode, ignored", ""))
	}
}

// frozen makes everything read-only.
func (d *draft) frozen(from source) {
	for _, a := range d.allowWrite {
		d.say(a.lack(Moot, "nothing may be written: "+from.String(), ""))
	}
	d.allowWrite = nil
	d.closed = &from
	d.denyWrite = append(d.denyWrite, access{pattern: pattern{text: ".", base: d.resolve(".")}, from: from, written: "."})
}
