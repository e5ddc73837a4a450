package images

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// DefaultFrom is the image from which the base image is built, as in its Dockerfile.
const DefaultFrom = "debian:bookworm-slim"

// Labels of our images about the image that each is built from.
const (
	LabelFrom   = "agent-sandbox.from"    // its name, such as "debian:bookworm-slim"
	LabelFromID = "agent-sandbox.from-id" // what the name meant: NAME@DIGEST, or the ID of an image without a digest
)

//go:embed from
var fromFiles embed.FS

// pin returns what the name of an image means now: NAME@DIGEST, or the ID of an image that comes from no registry. The engine gets the
// image if it does not have it. A build takes the result instead of the name, whose meaning can change between two builds, and between
// the stages of one.
func (o Options) pin(ctx context.Context, e job.Engine, name string) (string, error) {
	image, err := e.Image(ctx, name)
	if errors.Is(err, sandbox.ErrNotFound) {
		var files fs.FS
		if files, err = fs.Sub(fromFiles, "from"); err != nil {
			return "", err
		}
		if _, err = e.Build(ctx, job.Build{Context: files, Args: map[string]string{"BASE": name}, Progress: o.Progress}); err != nil {
			return "", err
		}
		image, err = e.Image(ctx, name)
	}
	if err != nil {
		return "", err
	}
	if len(image.Digests) == 0 {
		return image.ID, nil
	}
	repository, _, _ := strings.Cut(name, "@")
	if at := strings.LastIndex(repository, ":"); at > strings.LastIndex(repository, "/") {
		repository = repository[:at]
	}
	if i := slices.IndexFunc(image.Digests, func(d string) bool { return strings.HasPrefix(d, repository+"@") }); i >= 0 {
		return image.Digests[i], nil
	}
	return image.Digests[0], nil
}
