package session

import "strings"

// defaultPath is the path that execvp(3) searches when PATH is not set.
const defaultPath = "/bin:/usr/bin"

// Candidates returns the files to which a program's name may refer in dir, in the order of execvp(3) with that
// PATH.
func Candidates(name, path, dir string) []string {
	if strings.Contains(name, "/") {
		return []string{name}
	}
	if path == "" {
		path = defaultPath
	}
	var out []string
	for d := range strings.SplitSeq(path, ":") {
		switch {
		case d == "":
			d = dir
		case !strings.HasPrefix(d, "/"):
			d = dir + "/" + d
		}
		out = append(out, d+"/"+name)
	}
	return out
}

// variable returns the value of the first variable called name, like getenv(3).
func variable(env []string, name string) string {
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}
