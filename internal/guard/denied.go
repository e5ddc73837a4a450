package guard

import "strings"

// deniedPrefix begins the abstract name of a Unix socket (unix(7)) without a listener. A wrapper connects to it to report
// what it refused: the command's name, a NUL and a few words follow. Every process in the sandbox can do that too, so the
// reports are shown to users and decide nothing.
const deniedPrefix = "agent-sandbox/denied/"

// maxDeniedName keeps such a name within the 107 bytes of an address.
const maxDeniedName = 107 - len(deniedPrefix)

// DeniedName returns such a name, without the leading NUL.
func DeniedName(command, what string) string {
	text := deniedPrefix + command + "\x00" + what
	return text[:min(len(text), len(deniedPrefix)+maxDeniedName)]
}

// parseDenied parses such a name; neither result is empty.
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
