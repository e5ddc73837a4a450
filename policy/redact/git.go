package redact

import (
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/policy/internal/git"
)

// parseGit reads a configuration of git. It shows all of it except credentials, because git reads any key.
func parseGit(f *File, text string, _ Source) error {
	before := ""
	for _, v := range git.ParseConfig([]byte(text)) {
		i := strings.LastIndexByte(v.Key, '.')
		if i < 0 {
			return errSyntax
		}
		path, name := v.Key[:i], v.Key[i+1:]
		section, sub, hasSub := strings.Cut(path, ".")
		if !isPrintable(sub) || !isPrintable(section) {
			return errSyntax
		}
		if name == "path" && (section == "include" || section == "includeif") && v.Value != "" {
			f.Includes = append(f.Includes, v.Value)
		}
		head, tail := f.gitSubsection(section, sub), f.gitValue(section, sub, name, v.Value)
		if head == nil && hasSub || tail == nil {
			continue
		}
		if path != before || len(head) != 1 || head[0].credential != 0 {
			f.write("[", section)
			if hasSub {
				f.write(" \"")
				f.writeValue(head, quoteGit)
				f.write("\"")
			}
			f.write("]\n")
			before = path
		}
		f.write("\t", name, " = \"")
		f.writeValue(tail, quoteGit)
		f.write("\"\n")
	}
	return nil
}

// gitSubsection returns what is shown of a subsection; nil: its variables are left out.
func (f *File) gitSubsection(section, sub string) value {
	if !strings.Contains(sub, "://") || section != "url" && !strings.Contains(sub, "@") {
		if isToken(sub) {
			return nil
		}
		return literal(sub)
	}
	v, err := f.url(sub, nil)
	if err != nil {
		return nil
	}
	return v
}

// gitValue returns what is shown of a value; nil: the key is left out.
func (f *File) gitValue(section, sub, name, text string) value {
	name = strings.ToLower(name)
	switch {
	case !isPrintable(text) && section != "alias", text == "" && isSecretName(name):
		return nil
	case section == "http" && name == "extraheader":
		return f.gitHeader(sub, text)
	case (isSecretName(name) || strings.HasSuffix(name, "pass")) && !slices.Contains([]string{"signingkey", "sslkey", "sshkey"}, name):
		return f.add(text)
	case strings.Contains(text, "://") && strings.Contains(text, "@"):
		if !strings.ContainsAny(text, " \t") {
			if v, err := f.url(text, nil); err == nil {
				return v
			}
		}
		return nil
	case section == "http" && name == "proxy" && strings.Contains(text, "@"), isGitToken(text):
		return nil
	}
	return literal(text)
}

// isGitToken reports whether a value holds a token of a known kind, or a helper that prints a password. The ids of keys that sign
// commits are as long as tokens.
func isGitToken(text string) bool {
	low := strings.ToLower(text)
	if strings.Contains(low, "password=") || strings.Contains(low, "sshpass") || strings.Contains(low, "authorization:") || strings.Contains(low, "bearer ") {
		return true
	}
	return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;:=/@\"'", r) }), isKnownToken)
}

// gitHeader takes the credential out of a field such as "Authorization: Basic BASE64".
func (f *File) gitHeader(sub, text string) value {
	field, rest, ok := strings.Cut(text, ":")
	if !ok || !isPlain(field) {
		return nil
	}
	rest = strings.TrimSpace(rest)
	to := bindAddress(sub)
	kind, secret, ok := strings.Cut(rest, " ")
	secret = strings.TrimSpace(secret)
	if !ok || !isPlain(kind) {
		return append(literal(field+": "), f.add(rest, to...)...)
	}
	if strings.EqualFold(kind, "Basic") {
		return append(literal(field+": "+kind+" "), f.addLogin(secret, to...)...)
	}
	return append(literal(field+": "+kind+" "), f.add(secret, to...)...)
}

func quoteGit(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s)
}
