package kube

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/podspec"
	"github.com/seed434b0696/agent-sandbox/internal/guest/files"
	"github.com/seed434b0696/agent-sandbox/internal/guest/layout"
	"github.com/seed434b0696/agent-sandbox/internal/guest/link"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/internal/guest/supervisor"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// instance is a running pod and the session with its guest.
type instance struct {
	*prepared

	pod      *corev1.Pod  // the pod as it was created
	owner    *cluster.Ref // the object for which a controller created the pod; nil: this driver created it
	session  *session.Connection
	imageEnv []string
	running  atomic.Int64

	mu     sync.Mutex
	stream *cluster.Stream // the stream that carries the session now; nil: there has been none yet
	closed bool
}

// start creates the pod and copies the workspace. After an error nothing is left.
func (p *prepared) start(ctx context.Context) (*instance, error) {
	i, err := p.startEmpty(ctx)
	if err != nil {
		return nil, err
	}
	if err := i.bringFiles(ctx); err != nil {
		return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// startEmpty creates the pod without the sandbox's files. After an error nothing is left.
func (p *prepared) startEmpty(ctx context.Context) (*instance, error) {
	p.driver.swept.Do(func() { p.cluster.SweepEnded(ctx, p.agents.Sandboxes) })
	i := &instance{prepared: p}
	err := i.createPod(ctx)
	if err == nil {
		err = i.beginSession(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// startRendered is startEmpty for a rendered pod.
func (p *prepared) startRendered(ctx context.Context, pod *corev1.Pod) (*instance, error) {
	made, err := p.createRendered(ctx, pod)
	if err != nil {
		return nil, err
	}
	return p.awaitCreated(ctx, made)
}

// awaitCreated begins the session with a created pod. After an error the pod is deleted.
func (p *prepared) awaitCreated(ctx context.Context, pod *corev1.Pod) (*instance, error) {
	i := &instance{prepared: p, pod: pod}
	if err := i.beginSession(ctx); err != nil {
		return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// bringFiles copies the workspace, if the sandbox has a copied one.
func (i *instance) bringFiles(ctx context.Context) error {
	if i.IsCopied() {
		return i.copyWorkspace(ctx)
	}
	return nil
}

// beginSession waits for the pod and begins the session with its guest.
func (i *instance) beginSession(ctx context.Context) error {
	if err := i.awaitPod(ctx); err != nil {
		return err
	}
	if err := i.connect(ctx, i.openFirstStream); err != nil {
		return i.explainStart(ctx, err)
	}
	return i.readEnvironment(ctx)
}

// connect begins a session over the stream that first opens. When the stream breaks, the session continues over another one.
func (i *instance) connect(ctx context.Context, first func(context.Context) (*cluster.Stream, error)) error {
	s, err := first(ctx)
	if err != nil {
		return err
	}
	conn, err := link.Dial(ctx, s, s.Reader(), i.reconnect, i.driver.options.Linger)
	if err != nil {
		return err
	}
	i.session, err = session.Connect(ctx, conn)
	return err
}

// openFirstStream opens the first stream of a pod in which no command has run.
func (i *instance) openFirstStream(ctx context.Context) (*cluster.Stream, error) {
	guest := i.program.data
	if i.driver.options.GuestImage != "" {
		guest = nil
	}
	return i.open(ctx, names.Container, i.JoinCommand(), func(s *cluster.Stream) error { return s.Send(ctx, guest) })
}

// openDoorStream opens a stream to a pod in which commands may run.
func (i *instance) openDoorStream(ctx context.Context) (*cluster.Stream, error) {
	return i.open(ctx, names.DoorContainer, i.RejoinCommand(), func(s *cluster.Stream) error {
		if i.driver.options.GuestImage != "" {
			return nil
		}
		return s.SendMissing(ctx, i.program.data)
	})
}

func (i *instance) open(ctx context.Context, container string, command []string, prepare func(*cluster.Stream) error) (*cluster.Stream, error) {
	s, err := i.cluster.Execute(ctx, i.pod.Name, container, command)
	if err != nil {
		return nil, err
	}
	if err := prepare(s); err != nil {
		s.Abort()
		return nil, err
	}
	i.mu.Lock()
	i.stream = s
	i.mu.Unlock()
	return s, nil
}

// reconnect opens another stream for the session after one broke. Closed: the pod has ended.
func (i *instance) reconnect(ctx context.Context, why error) (io.ReadWriteCloser, error) {
	if i.isClosed() {
		return nil, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	i.driver.options.Trace("kube", "connect to pod "+i.pod.Name+" again: "+why.Error())
	if err := i.checkPod(ctx); err != nil {
		return nil, err
	}
	return i.openDoorStream(ctx)
}

// checkPod returns nil when commands may run in the pod, Closed when it has ended, and Unavailable when the cluster does not answer.
func (i *instance) checkPod(ctx context.Context) error {
	pod, err := i.cluster.FindPod(ctx, i.pod.Name)
	if err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
		return sandbox.Errorf(sandbox.Unavailable, "%w", err)
	}
	return i.endError(pod, err)
}

// readEnvironment asks the guest for the variables of the image.
func (i *instance) readEnvironment(ctx context.Context) error {
	var out bytes.Buffer
	p, err := i.session.Start(ctx, session.Command{Args: []string{layout.Program, supervisor.EnvironCommand}, Dir: "/"}, sandbox.Stdio{Stdout: &out})
	if err != nil {
		return err
	}
	exit, err := p.Wait()
	if err == nil && exit.Code != 0 {
		err = sandbox.Errorf(sandbox.Internal, "read the image's environment: the guest ended with %d", exit.Code)
	}
	i.imageEnv = podspec.ImageVariables(strings.Split(out.String(), "\x00"))
	return err
}

// ID returns the pod's name without its prefix.
func (i *instance) ID() string { return i.SandboxID }

// Limits returns the limits of the policy.
func (i *instance) Limits() (sandbox.Limits, error) { return i.Plan.Limits.Limits, nil }

// Start runs cmd in the pod.
func (i *instance) Start(ctx context.Context, cmd sandbox.Cmd, stdio sandbox.Stdio) (sandbox.Process, error) {
	if i.isClosed() {
		return nil, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	dir := cmd.Dir
	if dir == "" {
		dir = i.WorkDir()
	}
	p, err := i.session.Start(ctx, session.Command{Args: cmd.Args, Dir: dir, TTY: cmd.TTY, Leave: cmd.Leave, Env: i.CommandEnvironment(i.imageEnv, cmd)}, stdio)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, i.explainEnd(ctx, err)
	}
	if err != nil {
		return nil, err
	}
	i.running.Add(1)
	go func() {
		<-p.Done()
		i.running.Add(-1)
	}()
	return &process{p, i}, nil
}

// Listen listens in the pod. Commands without a network have no Internet sockets, because a pod's network cannot be taken away; the
// guest forwards their loopback connections.
func (i *instance) Listen(ctx context.Context, address string) (net.Listener, error) {
	if i.isClosed() {
		return nil, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	l, err := i.session.Listen(ctx, address)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, i.explainEnd(ctx, err)
	}
	return l, err
}

// CheckDial returns Unsupported for a pod without a network, in which no command can listen on a port.
func (i *instance) CheckDial() error { return checkDial(i.Plan.Network.Mode) }

func checkDial(network sandbox.NetworkMode) error {
	if network != sandbox.NetworkHost {
		return sandbox.Errorf(sandbox.Unsupported, "commands in a pod without a network have no ports").
			WithHint("create the sandbox with --network")
	}
	return nil
}

// Dial connects to a port on the pod's loopback.
func (i *instance) Dial(ctx context.Context, port int) (net.Conn, error) {
	if i.isClosed() {
		return nil, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	if err := i.CheckDial(); err != nil {
		return nil, err
	}
	conn, err := i.session.DialPort(ctx, port)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, i.explainEnd(ctx, err)
	}
	return conn, err
}

// process is a command. When its pod ends first, Wait returns why.
type process struct {
	*session.Process

	instance *instance
}

// Wait waits for the end of the command. Closed: the pod ended first, with the reason.
func (p *process) Wait() (sandbox.Exit, error) {
	exit, err := p.Process.Wait()
	if sandbox.CodeOf(err) == sandbox.Closed && !p.instance.isClosed() {
		err = p.instance.explainEnd(context.Background(), err)
	}
	return exit, err
}

// explainEnd waits a moment for the pod to report its end, and is then explain.
func (i *instance) explainEnd(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(ctx, cluster.Patience)
	defer cancel()
	_ = i.cluster.AwaitState(ctx, i.pod, func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	})
	return i.explain(ctx, err)
}

// explainStart returns why the guest of a started pod does not answer: its first process has ended, or err.
func (i *instance) explainStart(ctx context.Context, err error) error {
	if sandbox.CodeOf(err) == sandbox.Denied { // the API server did not answer the question
		return err
	}
	pod := i.cluster.AwaitState(ctx, i.pod, func(pod *corev1.Pod) bool {
		now, _ := cluster.StateOf(pod)
		return now.Final
	})
	if pod != nil {
		now, _ := cluster.StateOf(pod)
		return now.Err
	}
	return i.explain(ctx, err)
}

// explain returns why the pod has ended, or err if it runs.
func (i *instance) explain(ctx context.Context, err error) error {
	pod, perr := i.cluster.FindPod(ctx, i.pod.Name)
	if perr != nil && sandbox.CodeOf(perr) != sandbox.NotFound {
		return sandbox.Errorf(sandbox.CodeOf(perr), "the session has ended: %w", perr).WithHint("%s", sandbox.HintOf(perr))
	}
	if fate := i.endError(pod, perr); fate != nil {
		return fate
	}
	return err
}

// endError returns the error of a pod that has ended or was replaced; nil: commands may run in it.
func (i *instance) endError(pod *corev1.Pod, err error) error {
	switch {
	case err != nil, pod.UID != i.pod.UID:
		return sandbox.Errorf(sandbox.Closed, "the sandbox's pod was deleted")
	case pod.Status.Reason == "NodeLost":
		return sandbox.Errorf(sandbox.Closed, "the node of the sandbox's pod is gone")
	}
	for _, s := range pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil && s.Name == names.Container && t.Reason == "OOMKilled" {
			return sandbox.Errorf(sandbox.Closed, "the sandbox has ended: its memory limit was reached")
		}
	}
	if cluster.HasEnded(pod) || pod.DeletionTimestamp != nil {
		return cluster.EndError(pod)
	}
	return nil
}

// Files returns the files of the pod, which the guest serves.
func (i *instance) Files() sandbox.Files { return files.New(i.Start) }

// Status counts the commands of this process that run.
func (i *instance) Status(context.Context) (sandbox.Status, error) {
	return sandbox.Status{
		Info: sandbox.Info{
			ID: i.SandboxID, Name: i.Spec.Name, Backend: i.driver.Name(), Workspace: i.Plan.Workspace, Created: i.created,
		},
		Running: int(i.running.Load()), Frozen: i.session.IsFrozen(),
	}, nil
}

// currentStream returns the stream that carries the session now.
func (i *instance) currentStream() *cluster.Stream {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stream
}

func (i *instance) isClosed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.closed
}

// Close ends all commands and deletes the pod. It succeeds for a pod that is already deleted.
func (i *instance) Close(ctx context.Context) error {
	i.mu.Lock()
	was := i.closed
	i.closed = true
	i.mu.Unlock()
	if was {
		return nil
	}
	return i.remove(ctx)
}

// remove ends the session and deletes the pod.
func (i *instance) remove(ctx context.Context) error {
	if i.session != nil {
		_ = i.session.Close() // the pod is deleted anyway
	}
	if s := i.currentStream(); s != nil {
		wait, cancel := context.WithTimeout(ctx, 2*cluster.EndTime)
		defer cancel()
		select { // the guest kills all commands and waits for their end; the deletion of a pod does not
		case <-s.Done():
		case <-wait.Done():
			s.Abort()
		}
	}
	return i.deleteCreated(ctx)
}
