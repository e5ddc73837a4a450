package connector

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/jsonc"
)

// String returns the place of the key, never the key: "$ENV.NAME", "the file PATH", "the output of PROGRAM", "a value" or "no key".
func (s Secret) String() string {
	switch {
	case s.Env != "":
		return "$ENV." + s.Env
	case s.File != "":
		return "the file " + jsonc.OneLine(s.File)
	case len(s.Command) > 0:
		return "the output of " + jsonc.OneLine(s.Command[0])
	case s.Value != "":
		return "a value"
	}
	return "no key"
}

// Format prints String for every verb, so that no verb prints Value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalJSON writes String: the JSON of a Secret cannot be decoded to a Secret.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// IsEmpty reports whether s is the zero Secret: no key is needed.
func (s Secret) IsEmpty() bool {
	return s.Env == "" && s.File == "" && len(s.Command) == 0 && s.Value == ""
}

// keyPlace is the place of a key in its object form.
type keyPlace struct {
	Env     string   `json:"env"`
	File    string   `json:"file"`
	Command []string `json:"command"`
}

const expectedKey = `"$ENV.NAME", {"env": "NAME"}, {"file": "PATH"} or {"command": ["PROGRAM", "ARGUMENT"]}`

// secret reads options.key. Problems do not repeat its value, which may be the key.
func (r *reading) secret(v jsonc.Value) Secret {
	const key = "options.key"
	if !v.IsPresent() {
		return Secret{}
	}
	if text, ok := v.Text(); ok {
		if name, ok := strings.CutPrefix(text, "$ENV."); ok && IsVariableName(name) {
			return Secret{Env: name}
		}
		r.fail(key, "found a text that names no variable, expected %s", expectedKey).
			Hint = `keys are not written in files: put it into a variable and write "$ENV.NAME"`
		return Secret{}
	}
	if !v.IsObject() {
		r.fail(key, "found another value, expected %s", expectedKey)
		return Secret{}
	}
	var place keyPlace
	lines, problems := jsonc.Reader{Quiet: true}.Decode(v, &place)
	for _, p := range problems {
		if strings.HasPrefix(p.Text, "found an unknown key") {
			r.problems = append(r.problems, p)
		} else {
			r.fail(p.Key, "found another value, expected %s", expectedKey).Line = p.Line
		}
	}
	if len(problems) > 0 {
		return Secret{}
	}
	if len(lines)-len(place.Command) != 1 {
		r.fail(key, "found %d places, expected one of env, file, command", len(lines)-len(place.Command))
		return Secret{}
	}
	s := Secret{Env: place.Env, File: place.File, Command: place.Command}
	r.checkPlace(s, lines)
	return s
}

func (r *reading) checkPlace(s Secret, lines map[string]int) {
	const key = "options.key"
	switch {
	case lines["env"] > 0 && !IsVariableName(s.Env):
		r.fail(key+".env", "found another text, expected the name of a variable").
			Hint = `keys are not written in files: put it into a variable and write "$ENV.NAME"`
	case lines["file"] > 0 && (!filepath.IsAbs(s.File) && !strings.HasPrefix(s.File, "~/") || !isPrintableLine(s.File)):
		r.fail(key+".file", "found another text, expected an absolute path or one that begins with ~/")
	case lines["command"] > 0:
		if len(s.Command) == 0 || len(s.Command) > maxArgs || s.Command[0] == "" || strings.HasPrefix(s.Command[0], "-") {
			r.fail(key+".command", "found no program in it, expected a program and at most %d arguments", maxArgs-1)
			return
		}
		if strings.ContainsRune(s.Command[0], '/') && !filepath.IsAbs(s.Command[0]) {
			r.fail(key+".command", "found a relative path, expected a program's name or its absolute path")
		}
		for i, arg := range s.Command {
			if len(arg) > maxText || strings.ContainsRune(arg, 0) {
				r.fail(jsonc.IndexKey(key+".command", i), "found an argument with a NUL or over %d bytes", maxText)
			}
		}
	}
}

// IsVariableName reports whether s can name a variable of the environment: letters, digits and '_', no digit first.
func IsVariableName(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	return s != "" && len(s) <= 255 && strings.Trim(s, letters+"0123456789") == "" && !strings.ContainsRune("0123456789", rune(s[0]))
}
