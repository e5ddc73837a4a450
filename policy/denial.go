package policy

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
	"github.com/seed434b0696/agent-sandbox/internal/shellword"
	"github.com/seed434b0696/agent-sandbox/policy/internal/hostpath"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// DeniedPath describes that op on a path was refused. The path is absolute and
// resolved, and may contain any bytes. op is "read", "write", or an operation on a
// directory's entry: "create", "rename", "remove", "link", "symlink".
func (p *Plan) DeniedPath(op, path string) sandbox.Denial {
	if replaced := p.replacedBy(op, path); replaced != nil {
		return *replaced
	}
	e := p.ExplainPath(path)
	if dir := filepath.Dir(path); op != "read" && op != "write" && e.Verdict == ReadOnly.String() {
		if dir == "/" || dir == p.Home {
			e.Reason += "; create it on the host before it can be opened" // opening all of home for one file would be too much
		} else {
			e = p.ExplainPath(dir) // an entry is its directory's
		}
	}
	if e.Verdict == ReadWrite.String() || p.KeepTmp && e.Verdict == Private.String() && hostpath.IsWithin(path, "/tmp") {
		e = p.writableRefused(op, path, e)
	}
	return denial(sandbox.DeniedFile, op, jsonc.OneLine(path), e)
}

// replacedBy describes that a program may not replace an existing file as git does, which writes FILE.lock and renames it to FILE;
// nil: that is not so.
func (p *Plan) replacedBy(op, path string) *sandbox.Denial {
	file, isLock := strings.CutSuffix(path, ".lock")
	if !isLock || op != "rename" && op != "create" {
		return nil
	}
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	e := p.ExplainPath(file)
	switch {
	case e.Verdict != ReadOnly.String():
		return nil
	case op == "create": // the whole directory would have to be writable
		e.Reason, e.Change = "as on the host, read-only; run the command that changes "+filepath.Base(file)+" on the host", ""
	}
	d := denial(sandbox.DeniedFile, op, jsonc.OneLine(path), e)
	return &d
}

// writableRefused explains why an operation on a writable path was refused.
func (p *Plan) writableRefused(op, path string, e Explanation) Explanation {
	name := filepath.Base(path)
	e.Reason, e.Change = "something that the policy protects lies there, so it stays in its place", ""
	if isPartOfRepository(name) || strings.EqualFold(name, ".git") {
		e.Reason = "it would make a new git repository, whose configuration and hooks git obeys on the host"
		e.Rule, e.Preset, e.Source = "no new repositories", "@git", "built in"
		if strings.EqualFold(name, ".git") {
			e.Change = "--rw " + shellword.Quote(path)
		}
		if p.KeepTmp && hostpath.IsWithin(path, "/tmp") {
			e.Change = "--tmp " + sandbox.TmpFresh
		}
	} else if op == "rename" && p.Nested.isDependency(path) {
		e.Reason = "it may have files that the host obeys elsewhere; copy it"
		e.Rule, e.Source = "names in any directory", "built in"
	}
	return e
}

// Appeared describes that a path that a guard forbids was created on the host while commands ran.
func (p *Plan) Appeared(path string) sandbox.Denial {
	e := Explanation{Rule: filepath.Base(path), Source: "built in", Reason: "appeared on the host while commands ran; it is not known which process created it"}
	if g := p.Guarded(path); g != nil {
		r := &p.Rules[g.Rule]
		e.Rule, e.Preset, e.Source = r.Pattern, r.Preset, r.Source
	}
	return denial(sandbox.DeniedFile, "create", jsonc.OneLine(path), e)
}

// DeniedSocket describes that a command was refused a connection to a Unix socket: a
// path, or an abstract name with "@" in front.
func (p *Plan) DeniedSocket(name string) sandbox.Denial {
	e := p.explainSocket(name)
	return denial(sandbox.DeniedSocket, "connect", jsonc.OneLine(name), e)
}

// DeniedSSHAgent describes that a command asked the user's SSH agent for something that it may not have. what is a clause
// such as "remove all identities".
func (p *Plan) DeniedSSHAgent(what string) sandbox.Denial {
	return denial(sandbox.DeniedSocket, "ask", jsonc.OneLine("ssh-agent to "+what), Explanation{
		Reason: "commands may list identities and sign with them", Rule: "@ssh-agent", Source: "built in",
	})
}

// DeniedGPGAgent is DeniedSSHAgent for the user's GnuPG agent.
func (p *Plan) DeniedGPGAgent(what string) sandbox.Denial {
	return denial(sandbox.DeniedSocket, "ask", jsonc.OneLine("gpg-agent to "+what), Explanation{
		Reason: "commands may list keys and sign with them", Rule: "@gpg-agent", Source: "built in",
	})
}

// DeniedAddress describes that a command tried to reach an address of the
// network without the proxy. address has an IP address or, if the proxy assigned one to it, a name.
func (p *Plan) DeniedAddress(address string) sandbox.Denial {
	e := Explanation{Reason: "there is no network", Change: "--allow HOST", Rule: "network", Source: p.NetworkSource, Layer: p.NetworkLayer}
	if strings.HasSuffix(address, ":53") {
		e.Reason = "there is no network, and so no name server"
	}
	if p.Network.Mode == sandbox.NetworkAllow {
		e.Reason, e.Change = "only the proxy reaches the network, and this program did not use it (see HTTPS_PROXY)", ""
	}
	if _, err := netip.ParseAddrPort(address); err != nil { // a name, to which TCP connections are redirected
		e.Reason = "only TCP connections reach the network"
	}
	return denial(sandbox.DeniedSocket, "connect", jsonc.OneLine(address), e)
}

// DeniedCall describes that the filter refused a system call. A name with "without CLONE_NEWUSER" is one that makes namespaces of
// other kinds than a user namespace.
func (p *Plan) DeniedCall(name string) sandbox.Denial {
	e := Explanation{Reason: "commands mount nothing and make no namespaces; with --userns they can, in a user namespace that they make first", Rule: "userns", Source: "built in"}
	switch name {
	case "clone", "unshare":
		e.Reason, e.Change = "commands make no user namespaces", "--userns"
	case "ptrace", "process_vm_readv", "process_vm_writev":
		e.Reason, e.Change, e.Rule = "commands do not control other processes", "--debuggers", "debuggers"
	}
	return denial(sandbox.DeniedCall, "call", jsonc.OneLine(name), e)
}

// DeniedCommand describes that a wrapper refused a command. what is its name, or a
// longer part of its command line.
func (p *Plan) DeniedCommand(name, what string) sandbox.Denial {
	d := denial(sandbox.DeniedCommand, "run", jsonc.OneLine(what), p.ExplainCommand(name))
	switch d.Rule {
	case "deny":
		d.Rule = name + "=false"
	case "@" + name:
		d.Reason = "the built-in rules for " + jsonc.OneLine(name) + " refuse what could lose work"
	}
	return d
}

func denial(kind sandbox.DenialKind, op, target string, e Explanation) sandbox.Denial {
	d := sandbox.Denial{
		Time: time.Now(), Kind: kind, Op: op, Target: target,
		Reason: e.Reason, Rule: e.Rule, Source: e.Source, Fix: e.Change,
	}
	if e.Preset != "" {
		d.Rule = e.Preset + ": " + e.Rule
	}
	return d
}
