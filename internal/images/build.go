package images

import (
	"cmp"
	"context"
	"maps"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Options select the image to build. The zero value means the base image with the tools of its Dockerfile.
type Options struct {
	Image    string            // one of [Names]; empty: [Base]
	Tag      string            // of the image and of its base images; empty: [DefaultTag]
	From     string            // the image from which the base image is built; empty: that of its Dockerfile
	Tools    Tools             // versions
	Args     map[string]string // further build arguments
	CA       []byte            // additional trusted certificates, PEM; empty: none
	Registry string            // the npm registry; empty: npm's own choice
	Progress func(line string) // receives each line of the build's output; nil: none
}

// Tools are the versions of the base image's tools: a version, range or tag that npm accepts, such as "2.1.3", "2" or
// "latest". Empty: that of the Dockerfile.
type Tools struct {
	ClaudeCode string
	Codex      string
	AstGrep    string
	GitDelta   string // of Debian's package, or "none" to leave it out
}

// Built describes an image that was built.
type Built struct {
	Reference string            `json:"image"`
	ID        string            `json:"id"`
	From      string            `json:"from"`               // the exact image that it was built from: NAME@DIGEST, or an ID
	Versions  map[string]string `json:"versions,omitempty"` // exact versions of the requested tools
}

// Build builds an image and its base images. It resolves inexact versions first, so that a new version invalidates the
// engine's layer cache, and builds each on exactly one image, which the labels [LabelFrom] and [LabelFromID] name.
func Build(ctx context.Context, e job.Engine, o Options) ([]Built, error) {
	if o.Image == "" {
		o.Image = Base
	}
	if _, err := Context(o.Image); err != nil {
		return nil, err
	}
	if err := CheckTag(o.Tag); err != nil {
		return nil, err
	}
	from := cmp.Or(o.From, o.Args["BASE"], DefaultFrom)
	exact, err := o.pin(ctx, e, from)
	if err != nil {
		return nil, err
	}
	args, err := o.baseArgs(ctx, e, exact)
	if err != nil {
		return nil, err
	}
	var out []Built
	for _, name := range Chain(o.Image) {
		b := Built{Reference: Reference(name, o.Tag), From: exact}
		if name == Base {
			b.Versions = toolArgs(args)
		} else {
			args = maps.Clone(o.Args)
			if args == nil {
				args = map[string]string{}
			}
			below := out[len(out)-1]
			from, b.From = below.Reference, below.ID
			args["BASE"] = below.ID
		}
		labels := map[string]string{LabelFrom: from, LabelFromID: b.From}
		if b.ID, err = o.build(ctx, e, name, "", args, labels); err != nil {
			return out, err
		}
		out = append(out, b)
	}
	return out, nil
}

// build builds one image, or one stage of it, without a name.
func (o Options) build(ctx context.Context, e job.Engine, name, stage string, args, labels map[string]string) (string, error) {
	files, err := Context(name)
	if err != nil {
		return "", err
	}
	b := job.Build{Context: files, Extra: map[string][]byte{"ca.pem": o.CA}, Target: stage, Args: args, Progress: o.Progress}
	if stage == "" {
		b.Tags = []string{Reference(name, o.Tag)}
		b.Labels = map[string]string{Label: name}
		maps.Copy(b.Labels, labels)
	}
	return e.Build(ctx, b)
}

// Label is the label of our images; its value is one of [Names], or "repo".
const Label = "agent-sandbox.image"

// baseArgs returns the build arguments of the base image, with exact versions; from is the image that it is built from.
func (o Options) baseArgs(ctx context.Context, e job.Engine, from string) (map[string]string, error) {
	args := map[string]string{}
	maps.Copy(args, o.Args)
	args["BASE"] = from
	if o.Registry != "" {
		args["NPM_CONFIG_REGISTRY"] = o.Registry
	}
	if v := o.Tools.GitDelta; v != "" {
		if err := checkVersion("git-delta", v); err != nil {
			return nil, err
		}
		args["GIT_DELTA_VERSION"] = v
	}
	wanted := map[string]string{}
	for _, t := range npmTools() {
		v := *t.version(&o.Tools)
		if v == "" {
			continue
		}
		if err := checkVersion(t.pkg, v); err != nil {
			return nil, err
		}
		args[t.arg] = v
		if !isExactVersion(v) {
			wanted[t.arg] = t.pkg + "@" + v
		}
	}
	if len(wanted) == 0 {
		return args, nil
	}
	stage, err := o.build(ctx, e, Base, "npm", maps.Clone(args), nil)
	if err != nil {
		return nil, err
	}
	for arg, what := range wanted {
		if args[arg], err = resolve(ctx, e, stage, o.Registry, what); err != nil {
			return nil, err
		}
	}
	return args, nil
}

// toolArgs returns the arguments with versions.
func toolArgs(args map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range args {
		if tool, ok := strings.CutSuffix(k, "_VERSION"); ok {
			out[strings.ReplaceAll(strings.ToLower(tool), "_", "-")] = v
		}
	}
	return out
}

// CheckTag returns Invalid unless tag is a valid tag of an image. The empty one stands for [DefaultTag].
func CheckTag(tag string) error {
	const first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
	if tag == "" || len(tag) <= 128 && strings.Contains(first, tag[:1]) && strings.Trim(tag, first+".-") == "" {
		return nil
	}
	return sandbox.Errorf(sandbox.Invalid, "%.140q cannot be an image's tag", tag).
		WithHint("up to 128 letters, digits, '_', '.' and '-', the first no '.' or '-'")
}
