package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"strings"

	"github.com/moby/moby/client"

	"github.com/seed434b0696/agent-sandbox/backend/docker/guestsocket"
	"github.com/seed434b0696/agent-sandbox/internal/guard"
	"github.com/seed434b0696/agent-sandbox/internal/guard/planned"
	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// start creates the sandbox and starts it. On an error it removes everything that it has created.
func (p *prepared) start(ctx context.Context) (*instance, error) {
	if err := p.state.save(); err != nil {
		return nil, err
	}
	i := &instance{prepared: p, ended: make(chan struct{})}
	if err := i.begin(ctx); err != nil {
		ctx = context.WithoutCancel(ctx)
		return nil, errors.Join(err, i.Close(ctx), i.undoRebase(ctx, i.containerID()))
	}
	return i, nil
}

// holding has the parts of a running sandbox.
type holding struct {
	container string // its ID; empty: not created
	session   *session.Connection
	network   *network
	reporter  *planned.Reporter
	watch     *guard.Watch
}

// begin creates the missing parts, starts the container and connects to its guest.
func (i *instance) begin(ctx context.Context) error {
	h, err := i.hold(ctx)
	i.mu.Lock()
	i.now = h
	i.mu.Unlock()
	if err != nil {
		return err
	}
	go i.inspectUntil(h, h.session.Done())
	go func() {
		<-h.session.Done()
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.now.session == h.session { // it has ended by itself
			i.over.Do(func() { close(i.ended) })
		}
	}()
	return nil
}

// hold returns the parts that it has created also with an error.
func (i *instance) hold(ctx context.Context) (h holding, err error) {
	if h.network, err = i.openNetwork(ctx); err != nil {
		return h, err
	}
	options, err := i.config()
	if err != nil {
		return h, err
	}
	files, err := i.files(h.network.files())
	if err != nil {
		return h, err
	}
	h.watch = guard.NewWatch(i.guarded())
	h.reporter = planned.NewReporter(i.plan, i.driver.options.Denied)
	setup, err := i.setup(h.network, files, h.reporter)
	if err != nil {
		return h, err
	}
	d, err := i.openSocket()
	if err != nil {
		return h, err
	}
	defer func() { d.Close() }()
	options.HostConfig.Mounts = append(overlayMounts(options.HostConfig.Mounts, files), socketMounts(d)...)
	if h.container, err = i.container(ctx, options); err != nil {
		return h, err
	}
	h.session, err = i.connect(ctx, h, d, setup)
	if code := sandbox.CodeOf(err); i.state.isPersistent() && (code == sandbox.Closed || code == sandbox.Unavailable) && ctx.Err() == nil {
		// An engine (20.10) that was killed while the container ran closes the container's input once at its next start.
		if err = i.kill(ctx, h.container); err == nil {
			d.Close() // the killed guest may have connected to this one
			d, err = i.openSocket()
		}
		if err == nil {
			h.session, err = i.connect(ctx, h, d, setup)
		}
	}
	if err != nil {
		return h, err
	}
	i.killWithSession(ctx, h)
	h.network.serve(h.session)
	return h, nil
}

// connect starts a container, connects to its guest and sets it up.
func (i *instance) connect(ctx context.Context, h holding, d *guestsocket.Socket, setup session.Setup) (*session.Connection, error) {
	attached, err := i.engine.ContainerAttach(ctx, h.container, client.ContainerAttachOptions{Stream: true, Stdin: true, Stdout: true, Stderr: true})
	if err != nil {
		return nil, i.engine.Wrap(err, "attach to the container")
	}
	conn := guestsocket.NewStream(attached.HijackedResponse)
	if _, err := i.engine.ContainerStart(ctx, h.container, client.ContainerStartOptions{}); err != nil {
		return nil, errors.Join(i.engine.Wrap(err, "start the container"), conn.Close())
	}
	s, err := session.Connect(ctx, d.Accept(ctx, conn))
	if err == nil && len(i.spec.Firewall) > 0 {
		if err = i.applyFirewall(ctx, h); err != nil {
			_ = s.Close()
		}
	}
	if err == nil {
		if err = s.Setup(ctx, setup); err != nil {
			_ = s.Close()
		}
	}
	if text := conn.Stderr(); err != nil && text != "" {
		err = sandbox.Errorf(sandbox.CodeOf(err), "%w (%s)", err, text)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// addFiles writes what a new container's root file system lacks: the user's account and home directory, and the marker
// file by which programs detect the sandbox.
func (p *prepared) addFiles(ctx context.Context, container string) error {
	if p.image.ReadOnly || p.root() != "" { // read-only, or added already
		return nil
	}
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	err := errors.Join(
		writeEntry(w, tar.Header{Name: strings.TrimPrefix(marker, "/"), Typeflag: tar.TypeReg, Mode: 0o444}, nil),
		writeEntry(w, tar.Header{Name: strings.TrimPrefix(p.user.Home, "/") + "/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: p.user.UID, Gid: p.user.GID}, nil),
	)
	if p.user.Entry != "" {
		err = errors.Join(err, writeEntry(w, tar.Header{Name: "etc/passwd", Typeflag: tar.TypeReg, Mode: 0o644}, []byte(withLine(p.image.Passwd, p.user.Entry))))
	}
	if p.user.Group != "" {
		err = errors.Join(err, writeEntry(w, tar.Header{Name: "etc/group", Typeflag: tar.TypeReg, Mode: 0o644}, []byte(withLine(p.image.Group, p.user.Group))))
	}
	for _, v := range p.spec.Volumes {
		if !v.ReadOnly {
			err = errors.Join(err, writeEntry(w, tar.Header{Name: strings.TrimPrefix(v.Target, "/") + "/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: p.user.UID, Gid: p.user.GID}, nil))
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	_, err = p.engine.CopyToContainer(ctx, container, client.CopyToContainerOptions{DestinationPath: "/", Content: &buf})
	return p.engine.Wrap(err, "prepare the container")
}

// marker exists in every container of ours.
const marker = "/.agent-sandbox"

func writeEntry(w *tar.Writer, h tar.Header, data []byte) error {
	h.Size = int64(len(data))
	h.Format = tar.FormatPAX
	if err := w.WriteHeader(&h); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

func withLine(text, line string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + line
}

// Files accesses files through the guest.
func (i *instance) Files() sandbox.Files { return files.New(i.Start) }

// removeOwn removes the host's files of a sandbox.
func (p *prepared) removeOwn() error { return os.RemoveAll(p.own()) }
