package kube

import (
	"path"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy"
)

// secretNames are names of files that hold credentials in projects. Those of dotenv files follow a pattern: see isSecretFile.
var secretNames = []string{
	".envrc", ".netrc", "_netrc", ".git-credentials", ".pypirc", ".pgpass", ".my.cnf", ".vault-token",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk",
}

// templateNames mark dotenv files without values, which are part of a project: .env.example, sample.env.
var templateNames = []string{"example", "sample", "template", "dist", "defaults", "schema"}

// isSecretFile reports whether files with the name of path usually hold credentials: .env, .env.local, prod.env, a private key.
// It compares without regard to case.
func isSecretFile(name string) bool {
	name = strings.ToLower(path.Base(name))
	if slices.Contains(secretNames, name) {
		return true
	}
	rest, isDotenv := strings.CutPrefix(name, ".env.")
	if !isDotenv {
		rest, isDotenv = strings.CutSuffix(name, ".env")
	}
	return isDotenv && !slices.ContainsFunc(strings.Split(rest, "."), func(part string) bool { return slices.Contains(templateNames, part) })
}

// isNamed reports whether a layer that the user trusts opens exactly this path.
func isNamed(p *policy.Plan, file string) bool {
	return slices.ContainsFunc(p.Rules, func(r policy.Rule) bool {
		return r.Path == file && r.Exact && r.Preset == "" && r.Access != policy.Exclude &&
			slices.ContainsFunc(p.Layers, func(l policy.Layer) bool { return l.Name == r.Layer && l.Trusted })
	})
}

// maxNamed limits how many files a notice lists.
const maxNamed = 5

// noticeLeft reports the secret files of the workspace that were not copied. names are relative to the workspace.
func (i *instance) noticeLeft(names []string) {
	if len(names) == 0 {
		return
	}
	list := strings.Join(names[:min(len(names), maxNamed)], ", ")
	if len(names) > maxNamed {
		list += ", ..."
	}
	i.driver.options.Notice("not copied into the pod, because such files hold secrets: " + list +
		"; name one to copy it: --rw " + names[0])
}
