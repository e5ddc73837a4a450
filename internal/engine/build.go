package engine

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/moby/moby/api/types/build"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Build builds an image with the engine's layer cache and returns its ID. The error of a failed step names the step and
// ends with the last lines of its output. When ctx ends, the engine stops the build and its containers.
func (c *Client) Build(ctx context.Context, b job.Build) (id string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r, w := io.Pipe()
	packed := make(chan struct{})
	go func() {
		defer close(packed)
		_ = w.CloseWithError(b.Pack(w)) // never fails
	}()
	defer func() {
		_ = r.Close() // never fails
		<-packed
	}()
	args := map[string]*string{}
	for k, v := range b.Args {
		args[k] = &v
	}
	res, err := c.ImageBuild(ctx, r, client.ImageBuildOptions{
		Tags: b.Tags, Dockerfile: b.Dockerfile, Target: b.Target, BuildArgs: args, Labels: b.Labels,
		// ForceRemove: also containers of failed steps. BuildKit would need a second protocol.
		Remove: true, ForceRemove: true, Version: build.BuilderV1,
	})
	if err != nil {
		if unpacked := (job.ContextError{}); errors.As(err, &unpacked) {
			return "", unpacked.Err
		}
		return "", c.Wrap(err, "build an image")
	}
	defer res.Body.Close()
	said := buildLog{progress: b.Progress}
	if err := said.read(res.Body); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", err
	}
	if said.id == "" {
		return "", sandbox.Errorf(sandbox.Internal, "the engine ended the build without an image%s", said.tail())
	}
	return said.id, nil
}

// buildLog reads the engine's messages about a build.
type buildLog struct {
	progress func(string)
	id       string   // ID of the image; empty: not built yet
	step     string   // "3/7 : RUN make"
	last     []string // the last lines of the step's output
	line     strings.Builder
}

// buildMessage is one message of the stream.
type buildMessage struct {
	Stream string `json:"stream"`
	Status string `json:"status"`
	Error  string `json:"error"`
	Aux    struct {
		ID string `json:"ID"`
	} `json:"aux"`
}

const (
	maxTail      = 12       // lines of a failed step that its error shows
	maxLine      = 2 << 10  // bytes of one line
	maxBuildTalk = 64 << 20 // bytes of one build's messages: its steps run arbitrary programs
)

func (l *buildLog) read(r io.Reader) error {
	d := json.NewDecoder(io.LimitReader(r, maxBuildTalk))
	for {
		var m buildMessage
		err := d.Decode(&m)
		switch {
		case errors.Is(err, io.EOF):
			l.flush()
			return nil
		case err != nil:
			return sandbox.Errorf(sandbox.Unavailable, "lost the engine during the build: %w", err)
		}
		l.write(m.Stream)
		if m.Status != "" {
			l.write(m.Status + "\n")
		}
		if m.Aux.ID != "" {
			l.id = m.Aux.ID
		}
		if m.Error != "" {
			l.flush()
			return l.failure(m.Error)
		}
	}
}

// write appends text, which may contain a part of a line or several lines.
func (l *buildLog) write(text string) {
	for text != "" {
		part, rest, whole := strings.Cut(text, "\n")
		if room := maxLine - l.line.Len(); room > 0 {
			l.line.WriteString(part[:min(len(part), room)])
		}
		if whole {
			l.flush()
		}
		text = rest
	}
}

func (l *buildLog) flush() {
	// The builder colours standard error.
	line := strings.NewReplacer("\x1b[91m", "", "\x1b[0m", "").Replace(l.line.String())
	line = strings.TrimRight(line, "\r")
	l.line.Reset()
	if strings.TrimSpace(line) == "" {
		return
	}
	if step, ok := strings.CutPrefix(line, "Step "); ok {
		l.step, l.last = step, nil
	} else if !strings.HasPrefix(line, " --->") && !strings.HasPrefix(line, "Removing intermediate container") {
		l.last = append(l.last, line)
		l.last = l.last[max(0, len(l.last)-maxTail):]
	}
	if l.progress != nil {
		l.progress(line)
	}
}

// failure returns the error for the engine's message about a failed build.
func (l *buildLog) failure(text string) error {
	text = strings.TrimSpace(text)
	if l.step == "" {
		return sandbox.Errorf(sandbox.Invalid, "the image cannot be built: %.500s", text)
	}
	step := l.step
	if len(step) > 120 {
		step = step[:120] + "…"
	}
	if strings.Contains(text, "no space left on device") {
		return sandbox.Errorf(sandbox.Exhausted, "step %s: %.500s", step, text).
			WithHint("free some of the engine's disk: docker system df shows its use")
	}
	e := sandbox.Errorf(sandbox.Invalid, "step %s failed: %.500s%s", step, text, l.tail())
	if strings.Contains(text, "pull access denied") || strings.Contains(text, "manifest unknown") || strings.Contains(text, "manifest for ") {
		e.Code = sandbox.NotFound
	}
	return e
}

// tail returns the last lines of a failed step, to be appended to an error.
func (l *buildLog) tail() string {
	if len(l.last) == 0 {
		return ""
	}
	return "; it said: " + strings.Join(l.last, " | ")
}
