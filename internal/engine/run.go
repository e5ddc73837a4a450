package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/internal/engine/job"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

const (
	maxRunOutput = 1 << 20
	removeTime   = 20 * time.Second
	runPids      = 512
)

// Run runs a command and waits for its end. When ctx ends, it kills the command. It always removes the container.
func (c *Client) Run(ctx context.Context, r job.Run) (out job.Output, err error) {
	id, err := c.createRun(ctx, r)
	if err != nil {
		return out, err
	}
	defer func() {
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
		defer cancel()
		_, rerr := c.ContainerRemove(clean, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		rerr = c.Wrap(rerr, "remove a container")
		if code := sandbox.CodeOf(rerr); code != sandbox.NotFound && code != sandbox.Exists { // the engine may have removed it
			err = errors.Join(err, rerr)
		}
	}()
	streams, err := c.ContainerAttach(ctx, id, client.ContainerAttachOptions{Stream: true, Stdin: r.Stdin != nil, Stdout: true, Stderr: true})
	if err != nil {
		return out, c.Wrap(err, "attach to a container")
	}
	defer streams.Close()
	stop := context.AfterFunc(ctx, streams.Close)
	defer stop()
	ended := c.ContainerWait(ctx, id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	if _, err := c.ContainerStart(ctx, id, client.ContainerStartOptions{}); err != nil {
		return out, c.Wrap(err, "start a container")
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		if r.Stdin != nil {
			_, _ = io.Copy(streams.Conn, r.Stdin) // a command need not read its input
			_ = streams.CloseWrite()
		}
	}()
	var stdout, stderr capped
	_, err = stdcopy.StdCopy(&stdout, &stderr, streams.Reader)
	streams.Close()
	<-fed
	out.Stdout, out.Stderr = stdout.Bytes(), stderr.Bytes()
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		return out, c.Wrap(err, "read a container's output")
	}
	select {
	case res := <-ended.Result:
		out.Code = int(res.StatusCode)
		return out, nil
	case err := <-ended.Error:
		return out, c.Wrap(err, "wait for a container")
	}
}

func (c *Client) createRun(ctx context.Context, r job.Run) (string, error) {
	pids := int64(runPids)
	hostConfig := &container.HostConfig{
		NetworkMode: "none", CapDrop: []string{"ALL"}, CapAdd: r.Caps, AutoRemove: true, SecurityOpt: []string{"no-new-privileges"},
		LogConfig: container.LogConfig{Type: "none"}, Resources: container.Resources{PidsLimit: &pids},
	}
	if r.Network {
		hostConfig.NetworkMode = "default"
	}
	for _, v := range r.Volumes {
		hostConfig.Mounts = append(hostConfig.Mounts, mount.Mount{
			Type: mount.TypeVolume, Source: v.Name, Target: v.Target, ReadOnly: v.ReadOnly,
			VolumeOptions: &mount.VolumeOptions{Labels: v.Labels},
		})
	}
	created, err := c.ContainerCreate(ctx, client.ContainerCreateOptions{
		Config: &container.Config{
			Image: r.Image, Entrypoint: r.Args[:1], Cmd: r.Args[1:], Env: r.Env, User: r.User, WorkingDir: "/",
			AttachStdin: r.Stdin != nil, OpenStdin: r.Stdin != nil, StdinOnce: true, AttachStdout: true, AttachStderr: true,
			Labels: map[string]string{"agent-sandbox": "1", "agent-sandbox.short": "1"},
		},
		HostConfig: hostConfig,
	})
	if err != nil {
		return "", c.Wrap(err, "create a container")
	}
	return created.ID, nil
}

// capped is a buffer that drops the bytes after its limit.
type capped struct{ bytes.Buffer }

func (b *capped) Write(p []byte) (int, error) {
	room := max(0, maxRunOutput-b.Len())
	_, _ = b.Buffer.Write(p[:min(room, len(p))]) // writing to a buffer never fails
	return len(p), nil
}
