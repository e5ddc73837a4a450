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

// instance is one pod that runs, and the session with the guest in it.
type instance struct {
	*prepared

	pod      *corev1.Pod  // as it was made
	made     *cluster.Ref // of which a controller has made the pod; nil: we have
	session  *session.Connection
	imageEnv []string
	running  atomic.Int64

	mu     sync.Mutex
	stream *cluster.Stream // over which the session goes now; nil: there has been none yet
	closed bool
}

// start makes the pod and all that is in it. On error nothing is left.
func (p *prepared) start(ctx context.Context) (*instance, error) {
	i, err := p.startBare(ctx)
	if err != nil {
		return nil, err
	}
	if err := i.furnish(ctx); err != nil {
		return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// startBare makes the pod, in which nothing is that is its sandbox's own.
func (p *prepared) startBare(ctx context.Context) (*instance, error) {
	p.driver.swept.Do(func() { p.cluster.SweepEnded(ctx, p.agents.Sandboxes) })
	i := &instance{prepared: p}
	err := i.makePod(ctx)
	if err == nil {
		err = i.begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// startPod is startBare of a pod that was rendered.
func (p *prepared) startPod(ctx context.Context, pod *corev1.Pod) (*instance, error) {
	made, err := p.submit(ctx, pod)
	if err != nil {
		return nil, err
	}
	return p.enter(ctx, made)
}

// enter waits for a pod that was made. When that fails it is deleted.
func (p *prepared) enter(ctx context.Context, pod *corev1.Pod) (*instance, error) {
	i := &instance{prepared: p, pod: pod}
	if err := i.begin(ctx); err != nil {
		return nil, errors.Join(err, i.Close(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// furnish brings what is the sandbox's own.
func (i *instance) furnish(ctx context.Context) error {
	if i.IsCopied() {
		return i.copyWorkspace(ctx)
	}
	return nil
}

// begin waits for the pod, and greets the guest in it.
func (i *instance) begin(ctx context.Context) error {
	if err := i.begun(ctx); err != nil {
		return err
	}
	if err := i.connect(ctx, i.join); err != nil {
		return i.whyNotBegun(ctx, err)
	}
	return i.readEnvironment(ctx)
}

// connect begins a session over the stream that first opens, which goes on over others when that breaks.
func (i *instance) connect(ctx context.Context, first func(context.Context) (*cluster.Stream, error)) error {
	s, err := first(ctx)
	if err != nil {
		return err
	}
	conn, err := link.Dial(ctx, s, s.Reader(), i.rejoin, i.driver.options.Linger)
	if err != nil {
		return err
	}
	i.session, err = session.Connect(ctx, conn)
	return err
}

// join opens the first stream of a pod in which no command has run.
func (i *instance) join(ctx context.Context) (*cluster.Stream, error) {
	guest := i.program.data
	if i.driver.options.GuestImage != "" {
		guest = nil
	}
	return i.open(ctx, names.Container, i.JoinCommand(), func(s *cluster.Stream) error { return s.Send(ctx, guest) })
}

// again opens a stream to a pod in which commands may run.
func (i *instance) again(ctx context.Context) (*cluster.Stream, error) {
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

// rejoin goes on with the session after its stream broke. Closed: the pod has ended.
func (i *instance) rejoin(ctx context.Context, why error) (io.ReadWriteCloser, error) {
	if i.isClosed() {
		return nil, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	i.driver.options.Trace("kube", "connect to pod "+i.pod.Name+" again: "+why.Error())
	if err := i.lives(ctx); err != nil {
		return nil, err
	}
	return i.again(ctx)
}

// lives returns nil when commands may run in the pod, Closed when it has ended, and any other code when nobody knows.
func (i *instance) lives(ctx context.Context) error {
	pod, err := i.cluster.FindPod(ctx, i.pod.Name)
	if err != nil && sandbox.CodeOf(err) != sandbox.NotFound {
		return sandbox.Errorf(sandbox.Unavailable, "%w", err)
	}
	return i.fate(pod, err)
}

// readEnvironment asks the guest for the variables that the image has.
func (i *instance) readEnvironment(ctx context.Context) error {
	var out bytes.Buffer
	p, err := i.session.Start(ctx, session.Command{Args: []string{layout.Program, supervisor.EnvironCommand}, Dir: "/"}, sandbox.Stdio{Stdout: &out})
	if err != nil {
		return err
	}
	exit, err := p.Wait()
	if err == nil && exit.Code != 0 {
		err = sandbox.Errorf(sandbox.Internal, "the guest does not tell its environment")
	}
	i.imageEnv = podspec.ImageVariables(strings.Split(out.String(), "\x00"))
	return err
}

// ID is the pod's, without its prefix.
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
	p, err := i.session.Start(ctx, session.Command{Args: cmd.Args, Dir: dir, TTY: cmd.TTY, Env: i.CommandEnvironment(i.imageEnv, cmd)}, stdio)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, i.whyEnded(ctx, err)
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

// Listen listens inside. A pod's network cannot be taken away, so what has none has no Internet sockets; its guest stands for
// the loopback.
func (i *instance) Listen(ctx context.Context, address string) (net.Listener, error) {
	if i.isClosed() {
		return nil, sandbox.Errorf(sandbox.Closed, "the sandbox is closed")
	}
	l, err := i.session.Listen(ctx, address)
	if sandbox.CodeOf(err) == sandbox.Closed && ctx.Err() == nil {
		return nil, i.whyEnded(ctx, err)
	}
	return l, err
}

// process is a command whose end in the middle is explained by its pod's.
type process struct {
	*session.Process

	instance *instance
}

// Wait is that of the session.
func (p *process) Wait() (sandbox.Exit, error) {
	exit, err := p.Process.Wait()
	if sandbox.CodeOf(err) == sandbox.Closed && !p.instance.isClosed() {
		err = p.instance.whyEnded(context.Background(), err)
	}
	return exit, err
}

// whyEnded is why, when the pod has had the time to say how it ended.
func (i *instance) whyEnded(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*cluster.EndTime)
	defer cancel()
	_ = i.cluster.AwaitState(ctx, i.pod, func(pod *corev1.Pod) bool {
		return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
	})
	return i.why(ctx, err)
}

// whyNotBegun is why nobody answers in a pod that has started, when its first process has ended.
func (i *instance) whyNotBegun(ctx context.Context, err error) error {
	pod := i.cluster.AwaitState(ctx, i.pod, func(pod *corev1.Pod) bool {
		now, _ := cluster.StateOf(pod)
		return now.Final
	})
	if pod != nil {
		now, _ := cluster.StateOf(pod)
		return now.Err
	}
	return i.why(ctx, err)
}

// why tells how a pod ended that should run, or err when it runs.
func (i *instance) why(ctx context.Context, err error) error {
	pod, perr := i.cluster.FindPod(ctx, i.pod.Name)
	if perr != nil && sandbox.CodeOf(perr) != sandbox.NotFound {
		return sandbox.Errorf(sandbox.CodeOf(perr), "the session has ended: %w", perr).WithHint("%s", sandbox.HintOf(perr))
	}
	if fate := i.fate(pod, perr); fate != nil {
		return fate
	}
	return err
}

// fate is the error of a pod that has ended, or is no longer ours; nil: commands may run in it.
func (i *instance) fate(pod *corev1.Pod, err error) error {
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
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return cluster.EndError(pod)
	}
	return nil
}

// Files reach inside through the guest.
func (i *instance) Files() sandbox.Files { return files.New(i.Start) }

// Status counts what runs.
func (i *instance) Status(context.Context) (sandbox.Status, error) {
	return sandbox.Status{
		Info: sandbox.Info{
			ID: i.SandboxID, Name: i.Spec.Name, Backend: i.driver.Name(), Workspace: i.Plan.Workspace, Created: i.created,
		},
		Running: int(i.running.Load()),
	}, nil
}

// current is the stream over which the session goes now.
func (i *instance) current() *cluster.Stream {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stream
}

func (i *instance) isClosed() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.closed
}

// Close ends what runs and deletes the pod. One that somebody else has deleted is fine.
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

// remove ends the session, and deletes the pod.
func (i *instance) remove(ctx context.Context) error {
	if i.session != nil {
		_ = i.session.Close() // the pod goes anyway
	}
	if s := i.current(); s != nil {
		wait, cancel := context.WithTimeout(ctx, 2*cluster.EndTime)
		defer cancel()
		select { // the guest kills what runs, and waits for its end; the deletion of a pod waits for nothing
		case <-s.Done():
		case <-wait.Done():
			s.Abort()
		}
	}
	return i.deleteMade(ctx)
}
