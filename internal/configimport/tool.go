package configimport

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Tool is a program whose settings are read.
type Tool string

// The tools.
const (
	Claude Tool = "claude" // Claude Code: settings.json
	SRT    Tool = "srt"    // @anthropic-ai/sandbox-runtime: .srt-settings.json
	Fence  Tool = "fence"  // fence: fence.json, fence.jsonc
)

// Tools lists all tools.
func Tools() []Tool { return []Tool{Claude, SRT, Fence} }

// ParseTool reads a tool's name. The error has code Invalid.
func ParseTool(name string) (Tool, error) {
	if t := Tool(name); slices.Contains(Tools(), t) {
		return t, nil
	}
	return "", sandbox.Errorf(sandbox.Invalid, "unknown tool %s, expected claude, srt or fence", jsonc.Clip(name))
}

// Guess returns the tool whose settings a file contains, by its name or else by its keys. The
// error has code Invalid: broken JSON, or keys of several tools or of none.
func Guess(file string, data []byte) (Tool, error) {
	if t := byName(file); t != "" {
		return t, nil
	}
	top, err := parse(file, data)
	if err != nil {
		return "", err
	}
	var found []Tool
	for _, t := range Tools() {
		if slices.ContainsFunc(top.Members(), func(m jsonc.Member) bool { return isOnlyOf(t, m) }) {
			found = append(found, t)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	why := "none of its keys identifies one of them"
	if len(found) > 1 {
		why = "it has keys of more than one of them"
	}
	return "", sandbox.Errorf(sandbox.Invalid, "%s: expected settings of claude, srt or fence: %s", jsonc.OneLine(file), why).
		WithHint("pass --from claude, --from srt or --from fence")
}

func byName(file string) Tool {
	base, dir := filepath.Base(file), filepath.Base(filepath.Dir(file))
	switch {
	case base == ".srt-settings.json" || base == "srt-settings.json":
		return SRT
	case slices.Contains(fenceNames, strings.TrimPrefix(base, ".")):
		return Fence
	case isManaged(file), dir == ".claude" && (base == "settings.json" || base == "settings.local.json"):
		return Claude
	}
	return ""
}

// isOnlyOf reports whether t alone has the key m.
func isOnlyOf(t Tool, m jsonc.Member) bool {
	switch t {
	case Claude:
		return m.Name == "permissions" || m.Name == "sandbox"
	case SRT:
		return slices.Contains([]string{
			"credentials", "ignoreViolations", "enableWeakerNestedSandbox", "enableWeakerNetworkIsolation", "allowAppleEvents",
			"ripgrep", "mandatoryDenySearchDepth", "seccomp", "bwrapPath", "socatPath", "javaAgentJarPath", "windows",
		}, m.Name) || hasAny(m, "network", "strictAllowlist", "deniedDomainReasons", "deniedResolvedAddresses", "mitmProxy", "tlsTerminate", "parentProxy")
	case Fence:
		return slices.Contains([]string{"extends", "command", "ssh", "devices", "macos", "forceNewSession"}, m.Name) ||
			hasAny(m, "network", "allowLocalOutbound", "allowLocalOutboundPorts", "upstreamProxy", "defaultAction") ||
			hasAny(m, "filesystem", "defaultDenyRead", "strictDenyRead", "wslInterop", "allowExecute")
	}
	return false
}

// hasAny reports whether m is the object called name and has one of the keys.
func hasAny(m jsonc.Member, name string, keys ...string) bool {
	return m.Name == name && slices.ContainsFunc(m.Value.Members(), func(in jsonc.Member) bool { return slices.Contains(keys, in.Name) })
}
