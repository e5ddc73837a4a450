package guard

import "strings"

// deniedPrefix begins the abstract name of a Unix socket (unix(7)) without a listener. A wrapper connects to it to
// report a refused command: the command's name, a NUL and a few words follow. Every process in the sandbox can do that
// too, so the guard only shows the reports to users.
const deniedPrefix = "agent-sandbox/denied/"

// maxDeniedName keeps such a name within the 107 bytes of an address.
const maxDeniedName = 107 - len(deniedPrefix)

// DeniedName returns the name for a report, without the leading NUL.
func DeniedName(command, what string) string {
	text := deniedPrefix + command + "\x00" + what
	return text[:min(len(text), len(deniedPrefix)+maxDeniedName)]
}

// parseDenied parses the name of a report; neither result is empty.
func parseDenied(name string) (command, what string, ok bool) {
	rest, ok := strings.CutPrefix(name, deniedPrefix)
	if !ok {
		return "", "", false
	}
	command, what, _ = strings.Cut(rest, "\x00")
	if what == "" {
		what = command
	}
	return command, what, command != ""
}
