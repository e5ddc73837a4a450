package repo

import (
	"context"
	"errors"
	"io"
	"maps"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/internal/images"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// labelRegistry is the label of a repository's image with the URL of the npm registry that its npm uses.
const labelRegistry = "agent-sandbox.npm-registry"

// Build builds the image of the repository's sandboxes from its .agent-sandbox directory, on the base image of a tag
// (empty: the default), and returns its ID. Denied: trust does not have its content.
func (r Repo) Build(ctx context.Context, e job.Engine, trust *policy.Trust, baseTag string, args map[string]string, progress func(string)) (string, error) {
	recipe, err := r.Recipe()
	if err != nil {
		return "", err
	}
	defer recipe.Close()
	if err := recipe.checkTrust(trust); err != nil {
		return "", err
	}
	if err := images.CheckTag(baseTag); err != nil {
		return "", err
	}
	if baseTag == "" {
		baseTag = images.DefaultTag
	}
	base, err := BaseImage(ctx, e, baseTag)
	if err != nil {
		return "", err
	}
	registry, err := registryOf(ctx, e, images.Reference(images.Base, baseTag))
	if err != nil {
		return "", err
	}
	if _, err := recipe.archive.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	all := map[string]string{"BASE_IMAGE_TAG": baseTag}
	maps.Copy(all, args)
	return e.Build(ctx, job.Build{
		Archive: recipe.archive, Tags: []string{r.Image()}, Args: all, Progress: progress,
		Labels: map[string]string{images.Label: "repo", "agent-sandbox.repo-path": r.Path, labelRegistry: registry, images.LabelFrom: images.Reference(images.Base, baseTag), images.LabelFromID: base},
	})
}

// BaseImage returns the ID of the base image with a tag. NotFound: it was not built.
func BaseImage(ctx context.Context, e job.Engine, tag string) (string, error) {
	name := images.Reference(images.Base, tag)
	image, err := e.Image(ctx, name)
	if errors.Is(err, sandbox.ErrNotFound) {
		hint := "agent-sandbox build-base"
		if tag != "" && tag != images.DefaultTag {
			hint += " --tag " + tag
		}
		return "", sandbox.Errorf(sandbox.NotFound, "image %q does not exist", name).WithHint("build it: %s", hint)
	}
	return image.ID, err
}

// BuiltImage returns the ID of the repository's image, and the npm registry that it uses. NotFound: it was not built.
func (r Repo) BuiltImage(ctx context.Context, e job.Engine) (id, registry string, err error) {
	image, err := e.Image(ctx, r.Image())
	if errors.Is(err, sandbox.ErrNotFound) {
		return "", "", sandbox.Errorf(sandbox.NotFound, "the image of %s was not built", r.Path).WithHint("agent-sandbox build, or start with --build")
	}
	if err != nil {
		return "", "", err
	}
	return image.ID, image.Labels[labelRegistry], nil
}

// registryOf returns the registry of an image's npm.
func registryOf(ctx context.Context, e job.Engine, image string) (string, error) {
	out, err := e.Run(ctx, job.Run{Image: image, Args: []string{"npm", "config", "get", "registry"}})
	if err != nil || out.Code != 0 {
		return "", err // an image without npm has no registry
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}

func (r Repo) notInitialised() error {
	return sandbox.Errorf(sandbox.NotFound, "%s is not initialised", r.Path).WithHint("agent-sandbox init %s", r.Path)
}
