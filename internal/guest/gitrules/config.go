package gitrules

import "strings"

// configKey is a parsed configuration key: sections and variables ignore case, subsections do not.
type configKey struct{ section, sub, variable string }

func parseConfigKey(key string) configKey {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return configKey{section: strings.ToLower(key)}
	}
	k := configKey{section: strings.ToLower(key[:first]), variable: strings.ToLower(key[last+1:])}
	if first < last {
		k.sub = key[first+1 : last]
	}
	return k
}

// commandKeys are the keys whose value git runs as a command, or that determine which commands run; "*" matches any
// variable, "a.*.b" any subsection or none.
const commandKeys wordList = `
	core.fsmonitor core.sshcommand core.editor core.pager core.askpass core.gitproxy core.alternaterefscommand
	sequence.editor pager.* interactive.difffilter diff.external diff.*.command diff.*.textconv merge.*.driver
	mergetool.*.cmd difftool.*.cmd guitool.*.cmd man.*.cmd browser.*.cmd web.browser filter.*.clean filter.*.smudge
	filter.*.process credential.*.helper gpg.*.program gpg.ssh.defaultkeycommand hook.*.command trailer.*.command trailer.*.cmd
	tar.*.command uploadpack.packobjectshook sendemail.*.sendmailcmd sendemail.*.tocmd sendemail.*.cccmd
	sendemail.*.headercmd imap.tunnel instaweb.httpd remote.*.receivepack remote.*.uploadpack remote.*.vcs
	remote.*.proxy_command protocol.ext.allow include.path includeif.*.path gc.pruneexpire gc.reflogexpire
	gc.*.reflogexpire gc.reflogexpireunreachable gc.*.reflogexpireunreachable help.autocorrect clean.requireforce`

// readingCommands are commands that run no hooks and that an alias cannot replace.
const readingCommands wordList = `blame cat-file check-attr check-ignore count-objects describe diff diff-files diff-index diff-tree
	for-each-ref grep log ls-files ls-remote ls-tree merge-base name-rev rev-list rev-parse shortlog show show-ref status var`

// wordList is a constant list of words, which takes no time at the start of the program.
type wordList string

func (l wordList) has(word string) bool {
	for w := range strings.FieldsSeq(string(l)) {
		if w == word {
			return true
		}
	}
	return false
}

// checkSetting returns why key must not have value, or "". Settings of one call and stored settings have the same
// rules: an alias or another hooks directory would bypass every rule here, and commands in the configuration run
// unchecked.
func checkSetting(key, value string) string {
	k := parseConfigKey(key)
	switch {
	case k.section == "alias":
		return "an alias can hide any command"
	case k.section == "core" && k.variable == "hookspath":
		return noHooks
	case k.section == "remote" && k.variable == "mirror":
		if !isFalse(value) {
			return "it makes every push overwrite and delete"
		}
	case k.section == "remote" && k.variable == "push":
		if checkRefspec("", value) != nil {
			return "it makes every push overwrite or delete"
		}
	case k.section == "submodule" && k.variable == "update":
		if strings.HasPrefix(value, "!") {
			return "git would run its value as a command"
		}
	case commandKeys.has(k.section + "." + k.variable), commandKeys.has(k.section + ".*"),
		commandKeys.has(k.section + ".*." + k.variable), commandKeys.has(k.section + "." + strings.ToLower(k.sub) + "." + k.variable):
		if !isHarmlessSetting(k, value) {
			return "git would run its value as a command, or obey it unseen"
		}
	}
	return ""
}

// checkCallSetting is checkSetting for one call of a command. It accepts aliases and disabled hooks for reading
// commands, which run neither: agents pass such settings so that no program of the repository runs.
func checkCallSetting(command, key, value string) string {
	if readingCommands.has(command) {
		switch k := parseConfigKey(key); {
		case k.section == "alias", k.section == "core" && k.variable == "hookspath" && value == "/dev/null":
			return ""
		}
	}
	return checkSetting(key, value)
}

func isFalse(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return true
	}
	return false
}

// isHarmlessSetting reports whether a setting is common and harmless: a disabled setting, a plain pager, an editor
// without effect, ssh with options.
func isHarmlessSetting(k configKey, value string) bool {
	if k.section == "gc" || k.section == "clean" || k.section == "include" || k.section == "includeif" {
		return k.section == "clean" && !isFalse(value)
	}
	if k.section == "help" {
		v := strings.ToLower(value)
		return v == "never" || v == "prompt" || v == "show" || isFalse(value)
	}
	if k.section == "protocol" {
		return strings.EqualFold(value, "never")
	}
	if k.section == "credential" && !strings.ContainsAny(value, "!/ ") {
		return true // the name of an installed helper
	}
	if strings.ContainsAny(value, "|&;<>()$`\\\"'\n*?[#~!") {
		return false
	}
	fields := strings.Fields(value)
	if len(fields) == 0 {
		return true
	}
	switch strings.ToLower(fields[0]) {
	case "true", "false", "yes", "no", "on", "off", "0", "1":
		return len(fields) == 1
	case ":", "cat", "less", "more", "vi", "vim", "nano", "emacs", "ed", "gpg", "gpg2", "store", "cache":
		return true
	case "ssh":
		// ProxyCommand, LocalCommand and KnownHostsCommand run programs; -F names a file that may contain them.
		return !strings.Contains(strings.ToLower(value), "command") && !strings.Contains(value, "-F")
	}
	return false
}

// checkConfig checks "git config" in its old form (KEY VALUE) and its new one (set KEY VALUE).
func checkConfig(o options) *Refusal {
	if o.any("get", "get-all", "get-regexp", "get-urlmatch", "get-color", "get-colorbool", "list") {
		return nil
	}
	args := o.args
	verb := o.last("unset", "unset-all", "add", "replace-all", "rename-section", "remove-section", "edit")
	if verb == "" && len(args) > 0 {
		switch args[0] {
		case "get", "list":
			return nil
		case "set", "unset", "rename-section", "remove-section", "edit":
			verb, args = args[0], args[1:]
		}
	}
	switch {
	case verb == "edit":
		return &Refusal{"git config --edit", "what it would change cannot be seen here", "git config KEY VALUE sets one key"}
	case verb == "rename-section" || verb == "remove-section":
		return checkSections(verb, args)
	case len(args) == 0, verb == "" && len(args) < 2:
		return nil
	case verb == "unset" || verb == "unset-all":
		return checkUnset(args[0])
	}
	value := ""
	if len(args) > 1 {
		value = args[1]
	}
	if why := checkSetting(args[0], value); why != "" {
		return &Refusal{"git config " + args[0], why, askPerson}
	}
	return nil
}

func checkUnset(key string) *Refusal {
	if k := parseConfigKey(key); k.section == "core" && k.variable == "hookspath" {
		return &Refusal{"git config --unset " + key, noHooks, askPerson}
	}
	return nil
}

// checkSections refuses to rename a section from or to one whose keys contain commands.
func checkSections(verb string, args []string) *Refusal {
	for _, name := range args {
		switch section := parseConfigKey(name + ".x").section; {
		case section == "core", verb == "rename-section" && section != "remote" && section != "branch":
			return &Refusal{"git config --" + verb + " " + name, "it changes many keys unseen", "git config KEY VALUE sets one key"}
		}
	}
	return nil
}
