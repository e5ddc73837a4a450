// Package engine is a client of container engines over the Docker Engine API: Docker, or Podman with its compatible socket.
package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Client is a connection to an engine, and implements [job.Engine]. It is safe for concurrent use.
type Client struct {
	*client.Client

	Host string // its address, such as "unix:///var/run/docker.sock"
}

// Open connects to the engine that [Host] finds with env, a process's environment. Unavailable: the engine does not
// answer, rejects this user, or is another server.
func Open(ctx context.Context, env []string) (*Client, error) {
	host, err := Host(env)
	if err != nil {
		return nil, err
	}
	// A connection for each request costs little on a socket, and leaves no idle ones open.
	plain := client.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: client.CheckRedirect})
	var answer atomic.Value // a string: the status and the type of the last answer
	record := client.WithHTTPResponseHook(func(r *http.Response) { answer.Store(describeAnswer(r)) })
	options := append([]client.Opt{plain, record, client.WithHost(host), client.WithUserAgent("agent-sandbox")}, tlsOptions(env)...)
	c, err := client.New(options...)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "DOCKER_HOST %q: %w", host, err)
	}
	e := &Client{Client: c, Host: host}
	if err := e.greet(ctx, &answer); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return e, nil
}

// maxGreet bounds the time for an engine's first answer.
const maxGreet = 15 * time.Second

// greet negotiates the version of the protocol. answer has a description of the server's last answer, if there was one.
func (c *Client) greet(ctx context.Context, answer *atomic.Value) error {
	short, cancel := context.WithTimeout(ctx, maxGreet)
	defer cancel()
	ping, err := c.Ping(short, client.PingOptions{NegotiateAPIVersion: true})
	if err != nil && isOtherProtocol(err) {
		return c.notEngineError("it does not speak HTTP")
	}
	// Docker and Podman send the version with each answer, also with an error.
	if said, ok := answer.Load().(string); ok && ping.APIVersion == "" && short.Err() == nil {
		return c.notEngineError("it answered GET /_ping with " + said + ", expected the header Api-Version")
	}
	if err != nil && short.Err() != nil && ctx.Err() == nil {
		return sandbox.Errorf(sandbox.Unavailable, "the container engine at %s accepted the connection and has not answered for %s", c.Host, maxGreet).
			WithHint("check whether it hangs, and restart it: systemctl restart docker")
	}
	return c.Wrap(err, "reach the container engine")
}

// isOtherProtocol reports whether package net/http has received what HTTP does not have: a line that is not a status, or bytes before
// it has sent its request, for which it has neither a type nor a text of its own.
func isOtherProtocol(err error) bool {
	text := err.Error()
	return strings.Contains(text, "malformed HTTP") || strings.Contains(text, "readLoopPeekFailLocked: %!w(<nil>)")
}

// describeAnswer returns the status and the media type of an answer.
func describeAnswer(r *http.Response) string {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = "no content type"
	}
	return fmt.Sprintf("%d %s (%s)", r.StatusCode, http.StatusText(r.StatusCode), kind)
}

// notEngineError returns the error about a server that is not an engine.
func (c *Client) notEngineError(why string) error {
	return sandbox.Errorf(sandbox.Unavailable, "the server at %s is not a container engine: %s", c.Host, why).
		WithHint("set DOCKER_HOST to the socket or the address of Docker or Podman, such as unix://%s", defaultSocket)
}

// Podman reports whether the engine is Podman, which treats some requests differently.
func (c *Client) Podman(ctx context.Context) (bool, error) {
	v, err := c.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return false, c.Wrap(err, "read its version")
	}
	return slices.ContainsFunc(v.Components, func(part system.ComponentVersion) bool { return part.Name == "Podman Engine" }), nil
}

// IsLocal reports whether the engine runs on this host, so that it can mount this host's files.
func (c *Client) IsLocal() bool { return strings.HasPrefix(c.Host, "unix://") }

// Wrap adds a code to an error of the engine: NotFound and Exists as the engine reports them, Unavailable if it did not
// answer, Exhausted for a full disk. doing names the operation; it follows "cannot" in the message. A nil err stays
// nil.
func (c *Client) Wrap(err error, doing string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, fs.ErrPermission):
		return sandbox.Errorf(sandbox.Unavailable, "this user may not use the container engine at %s", c.Host).
			WithHint("be in the group that owns its socket (often \"docker\"), log in anew, or use a rootless engine")
	case client.IsErrConnectionFailed(err), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), isNet(err):
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			err = errno
		}
		return sandbox.Errorf(sandbox.Unavailable, "no container engine answers at %s: %w", c.Host, err).
			WithHint("start Docker or Podman's socket, or set DOCKER_HOST")
	}
	text := strings.TrimPrefix(err.Error(), "Error response from daemon: ")
	code := sandbox.Internal
	switch {
	case errdefs.IsNotFound(err):
		code = sandbox.NotFound
	case errdefs.IsConflict(err), errdefs.IsAlreadyExists(err):
		code = sandbox.Exists
	case errdefs.IsInvalidArgument(err):
		code = sandbox.Invalid
	case errdefs.IsUnavailable(err):
		code = sandbox.Unavailable
	case errdefs.IsPermissionDenied(err), errdefs.IsUnauthorized(err):
		code = sandbox.Denied
	}
	e := sandbox.Errorf(code, "the engine cannot %s: %s", doing, text)
	if strings.Contains(text, "no space left on device") {
		e.Code = sandbox.Exhausted
		return e.WithHint("free some of the engine's disk: docker system df shows its use")
	}
	return e
}

func isNet(err error) bool {
	_, ok := errors.AsType[*net.OpError](err)
	return ok
}

// tlsOptions returns the options of DOCKER_CERT_PATH.
func tlsOptions(env []string) []client.Opt {
	dir := variable(env, "DOCKER_CERT_PATH")
	if dir == "" {
		return []client.Opt{client.WithScheme("http")}
	}
	return []client.Opt{client.WithTLSClientConfig(dir+"/ca.pem", dir+"/cert.pem", dir+"/key.pem")}
}

func variable(env []string, name string) string {
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			return v
		}
	}
	return ""
}

func isSocket(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode()&fs.ModeSocket != 0
}

// Image implements [job.Engine].
func (c *Client) Image(ctx context.Context, name string) (job.Image, error) {
	found, err := c.ImageInspect(ctx, name)
	if err != nil {
		return job.Image{}, c.Wrap(err, "find "+name)
	}
	image := job.Image{ID: found.ID, Digests: found.RepoDigests}
	if found.Config != nil {
		image.Labels = found.Config.Labels
	}
	return image, nil
}

// HasVolume implements [job.Engine].
func (c *Client) HasVolume(ctx context.Context, name string) (bool, error) {
	_, err := c.VolumeInspect(ctx, name, client.VolumeInspectOptions{})
	if err = c.Wrap(err, "find a volume"); errors.Is(err, sandbox.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// UnusedVolumes implements [job.Engine].
func (c *Client) UnusedVolumes(ctx context.Context, label string) (map[string]string, error) {
	found, err := c.VolumeList(ctx, client.VolumeListOptions{
		Filters: client.Filters{}.Add("label", label).Add("dangling", "true"),
	})
	if err != nil {
		return nil, c.Wrap(err, "list volumes")
	}
	unused := map[string]string{}
	for _, v := range found.Items {
		unused[v.Name] = v.Labels[label]
	}
	return unused, nil
}

// RemoveVolume implements [job.Engine].
func (c *Client) RemoveVolume(ctx context.Context, name string) error {
	_, err := c.VolumeRemove(ctx, name, client.VolumeRemoveOptions{})
	return c.Wrap(err, "remove volume "+name)
}
