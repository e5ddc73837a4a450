package policy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/shellword"
)

// secretNames are names of files that hold credentials in projects. Those of dotenv files follow a pattern: see isSecretFile.
var secretNames = []string{
	".envrc", ".netrc", "_netrc", ".git-credentials", ".pypirc", ".pgpass", ".my.cnf", ".vault-token",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
}

// templateNames mark dotenv files without values, which are part of a project: .env.example, sample.env.
var templateNames = []string{"example", "sample", "template", "dist", "defaults", "schema"}

// isSecretFile reports whether files with the name of file usually hold credentials: .env, .env.local, prod.env, a private key.
// It compares without regard to case.
func isSecretFile(file string) bool {
	name := strings.ToLower(path.Base(file))
	if slices.Contains(secretNames, name) {
		return true
	}
	rest, isDotenv := strings.CutPrefix(name, ".env.")
	if !isDotenv {
		rest, isDotenv = strings.CutSuffix(name, ".env")
	}
	return isDotenv && !slices.ContainsFunc(strings.Split(rest, "."), func(part string) bool { return slices.Contains(templateNames, part) })
}

// IsLeftOut reports whether a sandbox that works on a copy of the workspace elsewhere, such as a pod, gets no copy of a regular file
// because files of its name hold secrets. A layer that the user trusts has it copied by opening exactly its path.
func (p *Plan) IsLeftOut(file string) bool {
	return isSecretFile(file) && !slices.ContainsFunc(p.Rules, func(r Rule) bool {
		return r.Path == file && r.Exact && r.Preset == "" && r.Access != Exclude &&
			slices.ContainsFunc(p.Layers, func(l Layer) bool { return l.Name == r.Layer && l.Trusted })
	})
}

// ExplainCopiedPath is ExplainPath for a sandbox that works on a copy of the workspace and has nothing else of this host, such as a
// pod. In the copy only hidden files have a protection: they are not copied.
func (p *Plan) ExplainCopiedPath(name string) Explanation {
	e := p.ExplainPath(name)
	inside := p.Workspace != "" && (e.Name == p.Workspace || strings.HasPrefix(e.Name, p.Workspace+"/"))
	if e.Verdict == Private.String() && !inside {
		return e
	}
	if inside && e.Verdict == Exclude.String() {
		e.Reason = "hidden: it is not copied"
		if e.Change != "" { // nothing is read-only in a copy
			e.Change = "--rw " + shellword.Quote(e.Name)
		}
		return e
	}
	out := Explanation{Kind: e.Kind, Name: e.Name, Verdict: VerdictAbsent, Layer: LayerDefaults, Source: "built in"}
	switch {
	case !inside:
		out.Reason = "the sandbox has the files of its image and a copy of the workspace, and none of this host"
	case p.IsLeftOut(e.Name) && !isOtherThanFile(e.Name):
		out.Reason = "not copied, because files of this name hold secrets"
		out.Rule = path.Base(e.Name)
		if rel, err := filepath.Rel(p.Dir, e.Name); err == nil {
			out.Change = "--rw " + shellword.Quote(rel)
		}
	case e.Verdict == ReadWrite.String():
		e.Reason, e.Change = "writable in the copy; nothing comes back by itself", "--exclude "+shellword.Quote(e.Name)
		return e
	default: // what protects the host from files that stay has no purpose
		out.Verdict, out.Reason = ReadWrite.String(), "writable in the copy, which no program of this host obeys; nothing comes back by itself"
	}
	return out
}

func isOtherThanFile(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && !info.Mode().IsRegular()
}
