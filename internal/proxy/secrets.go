package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/proxy/egress"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// held is a secret and its value.
type held struct {
	egress.Secret

	from policy.Secret
}

// fetchSecrets reads the values of the secrets that exist on this host.
func fetchSecrets(ctx context.Context, plan *policy.Plan, env []string) ([]held, error) {
	var out []held
	for _, s := range plan.Secrets {
		if s.Missing != "" {
			continue
		}
		value, err := fetchOne(ctx, plan, s, env)
		if err == nil {
			value = strings.TrimSpace(value)
			err = checkValue(value)
		}
		if err != nil {
			return nil, secretError(s, err)
		}
		out = append(out, held{
			Secret: egress.Secret{
				Name: s.Name, Placeholder: egress.NewPlaceholder(value), Value: value, Hosts: s.Hosts, Header: s.Header,
			},
			from: s,
		})
	}
	return out, nil
}

func secretError(s policy.Secret, err error) *sandbox.Error {
	code := sandbox.Unavailable
	bad, isBad := errors.AsType[badValue](err)
	switch {
	case errors.Is(err, context.Canceled):
		code = sandbox.Canceled
	case isBad:
		code = sandbox.Invalid
	}
	e := sandbox.Errorf(code, "the secret %s (%s): %w", s.Name, s.Source, err)
	if bad == manyLines && s.File != "" && s.File == s.FromFile {
		return e.WithHint("all of %s is taken for the value: name from_env, from_file or from_command beside it, and only that value in it is masked", s.File)
	}
	return e
}

func fetchOne(ctx context.Context, plan *policy.Plan, s policy.Secret, env []string) (string, error) {
	switch {
	case s.FromFile != "":
		data, _, err := readPlain(s.FromFile, maxSecret)
		return string(data), err
	case len(s.FromCommand) > 0:
		return runProgram(ctx, plan, s.FromCommand, env)
	}
	return lookupVariable(env, s.FromEnv), nil
}

// badValue is an error about a value or its file.
type badValue string

func (e badValue) Error() string { return string(e) }

const (
	manyLines badValue = "the value has more than one line, which no header field can hold"
	control   badValue = "the value has a control character, which no header field can hold"
)

// checkValue refuses a value that a header field cannot hold.
func checkValue(value string) error {
	switch {
	case value == "":
		return badValue("the value is empty")
	case len(value) > maxSecret:
		return badValue("the value is larger than " + sandbox.Bytes(maxSecret).String())
	case strings.ContainsAny(value, "\r\n"):
		return manyLines
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return control
	}
	return nil
}

// mask puts the placeholders into the variables and files in which commands expect the
// values.
func (g *Gateway) mask(found []held) error {
	// Long values first: a short one may be a part of one.
	found = slices.Clone(found)
	sort.SliceStable(found, func(i, j int) bool { return len(found[i].Value) > len(found[j].Value) })
	files := map[string]*File{}
	for _, s := range found {
		if s.from.Env != "" {
			g.Env = append(g.Env, s.from.Env+"="+s.Placeholder)
		}
		g.drop(s)
		if s.from.File == "" || files[s.from.File] != nil {
			continue
		}
		data, info, err := readPlain(s.from.File, maxMasked)
		if err != nil {
			return secretError(s.from, err)
		}
		f := &File{Path: s.from.File, Data: data, Mode: uint32(info.Mode().Perm() & 0o555)}
		if err := f.mask(found); err != nil {
			return err
		}
		files[s.from.File] = f
	}
	for _, f := range files {
		g.Files = append(g.Files, *f)
	}
	sort.Slice(g.Files, func(i, j int) bool { return g.Files[i].Path < g.Files[j].Path })
	slices.Sort(g.Env)
	return nil
}

// mask masks the values of all secrets in a file, also of secrets for which the plan does
// not name the file.
func (f *File) mask(found []held) error {
	for _, s := range found {
		named := s.from.File == f.Path
		before := string(f.Data)
		switch {
		case named && strings.TrimSpace(before) == s.Value:
			f.Data = []byte(strings.Replace(before, s.Value, s.Placeholder, 1))
			continue
		case len(s.Value) >= minMasked:
			f.Data = conceal(f.Data, s.Value, s.Placeholder)
		case named:
			return f.refuse(s, fmt.Sprintf("the value is shorter than %d bytes and may stand in %s by chance", minMasked, f.Path))
		}
		if named && string(f.Data) == before {
			return f.refuse(s, f.Path+" does not hold the value, so nothing in it can be masked")
		}
	}
	for _, s := range found {
		if hasValue(string(f.Data), s.Value) {
			return f.refuse(s, f.Path+" holds the value in an encoding that cannot be masked")
		}
	}
	return nil
}

func (f *File) refuse(s held, why string) error {
	return secretError(s.from, badValue(why)).
		WithHint("leave the file hidden: name \"env\" in the place of the secret's \"file\"")
}

// drop removes the variables that contain a value. The plan detects only values that come
// from variables, and none inside Base64.
func (g *Gateway) drop(s held) {
	for _, kv := range g.plan.Env {
		name, value, _ := strings.Cut(kv, "=")
		if name != s.from.Env && hasValue(value, s.Value) && !slices.ContainsFunc(g.Dropped, func(d policy.Dropped) bool { return d.Name == name }) {
			g.Dropped = append(g.Dropped, policy.Dropped{Name: name, Why: "it holds the value of the secret " + s.Name})
		}
	}
}

// lookupVariable returns the value of a variable, the last one if the variable occurs twice.
func lookupVariable(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
