package shell

import (
	"strconv"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/memory/syntax"
)

// tildeNode is a tilde with the name behind it.
type tildeNode struct {
	syntax.Part
	name string
	arg  bool // of an argument that looks like an assignment: plain in POSIX mode
}

// tildes cuts tildes that count out of literal text: at the beginning, and in an assignment
// behind each colon. An argument that looks like an assignment has them behind "=" too.
func tildes(list []syntax.Part, assign, arg bool) []syntax.Part {
	if !hasTilde(list) {
		return list
	}
	var out []syntax.Part
	for i, p := range list {
		l, ok := p.(*syntax.Lit)
		if !ok {
			out = append(out, p)
			continue
		}
		last := i == len(list)-1
		rest := l.S
		if i == 0 && arg {
			if name, value, ok := strings.Cut(rest, "="); ok && isName(strings.TrimSuffix(name, "+")) {
				out = append(out, &syntax.Lit{S: name + "="})
				from := len(out)
				out = cutTildes(out, value, true, last, true)
				for _, p := range out[from:] {
					if t, ok := p.(*tildeNode); ok {
						t.arg = true
					}
				}
				assign = true
				continue
			}
		}
		out = cutTildes(out, rest, i == 0, last, assign)
	}
	return out
}

func hasTilde(list []syntax.Part) bool {
	for _, p := range list {
		if l, ok := p.(*syntax.Lit); ok && strings.IndexByte(l.S, '~') >= 0 {
			return true
		}
	}
	return false
}

// cutTildes appends the literal s; start says that a tilde at its beginning counts.
func cutTildes(out []syntax.Part, s string, start, last, assign bool) []syntax.Part {
	for {
		if start && strings.HasPrefix(s, "~") {
			end := len(s)
			if i := strings.IndexByte(s, '/'); i >= 0 {
				end = i
			}
			if i := strings.IndexByte(s[:end], ':'); i >= 0 {
				end = i
			}
			if end < len(s) || last { // A quote right behind it would make it plain.
				out = append(out, &tildeNode{name: s[1:end]})
				s = s[end:]
			}
		}
		i := -1
		if assign {
			i = strings.Index(s, ":~")
		}
		if i < 0 {
			if s != "" {
				out = append(out, &syntax.Lit{S: s})
			}
			return out
		}
		out = append(out, &syntax.Lit{S: s[:i+1]})
		s, start = s[i+1:], true
	}
}

// tilde returns the directory that ~name stands for.
func (sh *interp) tilde(name string) (string, bool) {
	switch name {
	case "":
		if home, ok := sh.value(slotHOME); ok {
			return home, true
		}
		return sh.homeOf(int(sh.cred.UID))
	case "+":
		return sh.get(slotPWD), true
	case "-":
		return sh.value(slotOLDPWD)
	}
	digits := strings.TrimLeft(name, "+-")
	if n, err := strconv.Atoi(digits); err == nil {
		list := sh.dirs()
		if name[0] == '-' {
			n = len(list) - 1 - n
		}
		if n >= 0 && n < len(list) {
			return list[n], true
		}
		return "", false
	}
	return sh.home(name)
}

// home returns a user's home directory from the machine's /etc/passwd.
func (sh *interp) home(user string) (string, bool) {
	for line := range strings.SplitSeq(sh.readSmall("/etc/passwd"), "\n") {
		if f := strings.Split(line, ":"); len(f) > 5 && f[0] == user {
			return f[5], true
		}
	}
	if user == "root" {
		return "/root", true
	}
	return "", false
}

func (sh *interp) homeOf(uid int) (string, bool) {
	for line := range strings.SplitSeq(sh.readSmall("/etc/passwd"), "\n") {
		if f := strings.Split(line, ":"); len(f) > 5 && f[2] == strconv.Itoa(uid) {
			return f[5], true
		}
	}
	if uid == 0 {
		return "/root", true
	}
	return "/", true
}
