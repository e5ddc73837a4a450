package cluster

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Limits on the start of a pod.
const (
	StartTime = 5 * time.Minute // in total
	// Patience limits how long a temporary problem may last: a scheduler that finds no node at first, a mount that the kubelet tries
	// again.
	Patience = 10 * time.Second
)

// Trouble is the reason why a pod does not start; a nil Err means none.
type Trouble struct {
	Err   error
	Final bool // the problem is permanent
	slow  bool // the cluster works on it: no limit but StartTime
}

// AwaitRunning waits until the sandbox container of a pod runs. Its error is the reason why it does not.
func (c *Cluster) AwaitRunning(parent context.Context, pod *corev1.Pod) error {
	if _, running := StateOf(pod); running { // a pod of a warm pool
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(parent, StartTime, sandbox.Errorf(sandbox.Timeout, "the pod did not start in %s", StartTime))
	defer cancel()
	changes, stop, err := c.follow(ctx, pod)
	if err != nil {
		return err
	}
	defer stop()
	events := c.events(ctx, pod)
	late := time.NewTimer(Patience)
	defer late.Stop()
	late.Stop()
	var now Trouble
	growing := false // the cluster adds a node
	for {
		select {
		case change := <-changes:
			if change.err != nil {
				if why := context.Cause(ctx); why != nil {
					return why
				}
				return change.err
			}
			before := now
			var running bool
			now, running = StateOf(change.pod)
			switch {
			case running:
				return nil
			case now.Final:
				return now.Err
			case now.Err == nil || now.slow:
				late.Stop()
			case before.Err == nil || before.slow:
				late.Reset(Patience)
			}
		case e := <-events:
			if e.Reason == "Started" && e.InvolvedObject.FieldPath == "spec.containers{"+names.Container+"}" {
				return nil // the pod's status has this up to a second later
			}
			growing = growing || e.Reason == "TriggeredScaleUp"
			if now.Err == nil && e.Type == corev1.EventTypeWarning && e.Reason != "FailedScheduling" { // the condition has more details
				now.Err = sandbox.Errorf(sandbox.Unavailable, "the pod does not start: %s: %s", e.Reason, Line(e.Message))
				if isRuntimeMissing(e.Message) {
					return now.Err
				}
				late.Reset(Patience)
			}
		case <-late.C:
			if !growing {
				return now.Err
			}
		case <-ctx.Done():
			if now.Err != nil && parent.Err() == nil {
				return now.Err
			}
			return context.Cause(ctx)
		}
	}
}

// podChange is a pod after a change, or the error that ended the watch.
type podChange struct {
	pod *corev1.Pod
	err error
}

// follow sends a pod after each change until stop is called. It opens the watch again when the server ends it.
func (c *Cluster) follow(ctx context.Context, pod *corev1.Pod) (changes <-chan podChange, stop context.CancelFunc, err error) {
	ctx, cancel := context.WithCancel(ctx)
	open := func(version string) (watch.Interface, error) {
		return c.watch(ctx, "pods", "metadata.name="+pod.Name, version)
	}
	w, err := open(pod.ResourceVersion)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	out := make(chan podChange)
	tell := func(told podChange) {
		select {
		case out <- told:
		case <-ctx.Done():
		}
	}
	go func() {
		for {
			again := time.After(time.Second) // do not ask a server in a loop that ends each watch at once
			for e := range w.ResultChan() {
				if p, ok := e.Object.(*corev1.Pod); ok {
					if e.Type == watch.Deleted {
						p.Status.Phase, p.Status.Reason = corev1.PodFailed, deleted
					}
					tell(podChange{pod: p})
				}
			}
			w.Stop()
			select {
			case <-again:
			case <-ctx.Done():
				return
			}
			now, err := c.FindPod(ctx, pod.Name)
			version := now.ResourceVersion
			switch {
			case err == nil:
				tell(podChange{pod: now})
			case pod.UID == "" && sandbox.CodeOf(err) == sandbox.NotFound: // it is not created yet
				version, err = anyVersion, nil
			}
			if err == nil {
				w, err = open(version)
			}
			if err != nil {
				tell(podChange{err: err})
				return
			}
		}
	}()
	return out, cancel, nil
}

// AwaitState waits up to [Patience] until as reports true for the pod, and returns it: a kubelet acts before it reports. nil: as did
// not.
func (c *Cluster) AwaitState(ctx context.Context, pod *corev1.Pod, as func(*corev1.Pod) bool) *corev1.Pod {
	if as(pod) {
		return pod
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	changes, stop, err := c.follow(ctx, pod)
	if err != nil {
		return nil
	}
	defer stop()
	for {
		select {
		case now := <-changes:
			if now.err != nil || as(now.pod) {
				return now.pod
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// anyVersion starts a watch from the server's cache. With the newest version, a server whose store does not answer ends the watch.
const anyVersion = "0"

// deleted is the reason that follow sets for a deleted pod.
const deleted = "Deleted"

// events sends the events of a pod; none without the right to see them.
func (c *Cluster) events(ctx context.Context, pod *corev1.Pod) <-chan *corev1.Event {
	out := make(chan *corev1.Event)
	w, err := c.watch(ctx, "events", "involvedObject.uid="+string(pod.UID), anyVersion)
	if err != nil {
		return out
	}
	go func() {
		defer w.Stop()
		for {
			select {
			case e, ok := <-w.ResultChan():
				event, is := e.Object.(*corev1.Event)
				if !ok {
					return
				}
				if is {
					select {
					case out <- event:
					case <-ctx.Done():
						return
					}
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// isRuntimeMissing reports whether a message of containerd or CRI-O means that the node does not have the pod's runtime class.
func isRuntimeMissing(message string) bool {
	return strings.Contains(message, "no runtime for") || strings.Contains(message, "failed to find runtime handler")
}

// noNodeError is the error of a pod for which the scheduler finds no node.
func noNodeError(message string) error {
	hint := "lower --limit memory and cpu, or give the cluster more nodes"
	if strings.Contains(message, "untolerated taint") && !strings.Contains(message, "Insufficient") {
		hint = "kubectl describe nodes: one is not ready, short of disk or memory, or reserved for others"
	}
	return sandbox.Errorf(sandbox.Exhausted, "no node takes the pod: %s", message).WithHint("%s", hint)
}

// StateOf reports from a pod's conditions and containers why it does not start, and whether its sandbox container runs.
func StateOf(pod *corev1.Pod) (now Trouble, running bool) {
	if pod.DeletionTimestamp != nil {
		return Trouble{Err: EndError(pod), Final: true}, false
	}
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return Trouble{Err: EndError(pod), Final: true}, false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			err := noNodeError(Line(condition.Message))
			// The cluster creates a volume, which takes time in a cloud.
			return Trouble{Err: err, slow: strings.Contains(condition.Message, "unbound immediate PersistentVolumeClaims")}, false
		}
	}
	for _, s := range pod.Status.InitContainerStatuses {
		if t := containerTrouble(s); t.Err != nil {
			return t, false
		}
	}
	for _, s := range pod.Status.ContainerStatuses {
		if t := containerTrouble(s); t.Err != nil {
			return t, false
		}
		if s.Name == names.Container && s.State.Running != nil {
			return Trouble{}, true
		}
	}
	return Trouble{}, false
}

// containerTrouble returns why a container does not run.
func containerTrouble(s corev1.ContainerStatus) Trouble {
	if t := s.State.Terminated; t != nil && (t.ExitCode != 0 || s.Name == names.Container) {
		return Trouble{Err: containerEndError(s.Image, t), Final: true}
	}
	w := s.State.Waiting
	if w == nil {
		return Trouble{}
	}
	switch w.Reason {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable":
		err := sandbox.Errorf(sandbox.NotFound, "image %s cannot be pulled: %s", Line(s.Image), Line(w.Message)).
			WithHint("see whether the name is right, and the namespace has the registry's credentials")
		return Trouble{Err: err, Final: true}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError":
		return Trouble{Err: containerStartError(s.Image, w.Reason, w.Message), Final: true}
	}
	return Trouble{}
}

// containerEndError is the error of a container that has ended. Without a runtime's message the status is that of its first process.
func containerEndError(image string, t *corev1.ContainerStateTerminated) error {
	if t.Reason != "Error" || t.Message != "" {
		return containerStartError(image, t.Reason, t.Message)
	}
	if t.ExitCode > 128 { // a signal, which is not the image's fault
		return sandbox.Errorf(sandbox.Closed, "the first process of image %s was killed by signal %d", Line(image), t.ExitCode-128)
	}
	return sandbox.Errorf(sandbox.Closed, "the first process of image %s ended with %d", Line(image), t.ExitCode).
		WithHint("its shell has to run, or name an image that has the guest with --guest-image")
}

// containerStartError is the error of a container that the runtime did not start, or stopped.
func containerStartError(image, reason, message string) error {
	if strings.Contains(message, "executable file not found") || strings.Contains(message, "no such file or directory") {
		return sandbox.Errorf(sandbox.Unsupported, "image %s has no shell to receive the guest with", Line(image)).
			WithHint("name an image that has the guest with --guest-image")
	}
	if reason == "OOMKilled" {
		return sandbox.Errorf(sandbox.Exhausted, "the pod was killed at its memory limit")
	}
	return sandbox.Errorf(sandbox.Unavailable, "the pod does not start: %s: %s", reason, Line(message))
}

// EndError returns the error of a pod that has ended or is being deleted, with the reason.
func EndError(pod *corev1.Pod) error {
	switch pod.Status.Reason {
	case deleted:
		return deletedError()
	case "Evicted":
		return sandbox.Errorf(sandbox.Closed, "the sandbox's pod was evicted: %s", Line(pod.Status.Message))
	case "DeadlineExceeded":
		return sandbox.Errorf(sandbox.Closed, "the sandbox's pod has reached its deadline of %s", deadlineOf(pod))
	case "":
		if pod.DeletionTimestamp != nil { // the kubelet has killed its processes, which looks like a failure of them
			return deletedError()
		}
	default:
		return sandbox.Errorf(sandbox.Closed, "the sandbox's pod has ended: %s: %s", pod.Status.Reason, Line(pod.Status.Message))
	}
	for _, s := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		if t := s.State.Terminated; t != nil && t.ExitCode != 0 {
			return containerEndError(s.Image, t)
		}
	}
	return sandbox.Errorf(sandbox.Closed, "the sandbox's pod has ended")
}

func deletedError() error { return sandbox.Errorf(sandbox.Closed, "the sandbox's pod was deleted") }

// deadlineOf returns how long a pod may run; 0: for ever.
func deadlineOf(pod *corev1.Pod) time.Duration {
	if n := pod.Spec.ActiveDeadlineSeconds; n != nil {
		return time.Duration(*n) * time.Second
	}
	return 0
}
