package kube

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Times of a pod's start.
const (
	startTime = 5 * time.Minute // all of it
	// patience is how long a trouble may last that others can end: a scheduler that finds no node at first, a mount that
	// is tried again.
	patience = 10 * time.Second
)

// trouble is why a pod does not start; nil error: nothing is wrong.
type trouble struct {
	err   error
	final bool // nothing will change it
	slow  bool // somebody is at work on it
}

// await returns when commands could run in the pod, or with the reason why they cannot.
func (c *cluster) await(parent context.Context, pod *corev1.Pod) error {
	if _, running := state(pod); running { // a pod of a warm pool
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(parent, startTime, sandbox.Errorf(sandbox.Timeout, "the pod did not start in %s", startTime))
	defer cancel()
	changes, stop, err := c.follow(ctx, pod)
	if err != nil {
		return err
	}
	defer stop()
	events := c.events(ctx, pod)
	late := time.NewTimer(patience)
	defer late.Stop()
	late.Stop()
	var now trouble
	growing := false // somebody makes a node
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
			now, running = state(change.pod)
			switch {
			case running:
				return nil
			case now.final:
				return now.err
			case now.err == nil || now.slow:
				late.Stop()
			case before.err == nil || before.slow:
				late.Reset(patience)
			}
		case e := <-events:
			if e.Reason == "Started" && e.InvolvedObject.FieldPath == "spec.containers{"+container+"}" {
				return nil // which the pod's status tells up to a second later
			}
			growing = growing || e.Reason == "TriggeredScaleUp"
			if now.err == nil && e.Type == corev1.EventTypeWarning && e.Reason != "FailedScheduling" { // of which the condition tells
				now.err = sandbox.Errorf(sandbox.Unavailable, "the pod does not start: %s: %s", e.Reason, line(e.Message))
				if lacksRuntime(e.Message) {
					return now.err
				}
				late.Reset(patience)
			}
		case <-late.C:
			if !growing {
				return now.err
			}
		case <-ctx.Done():
			if now.err != nil && parent.Err() == nil {
				return now.err
			}
			return context.Cause(ctx)
		}
	}
}

// change is what became of a pod, or why nobody can tell.
type change struct {
	pod *corev1.Pod
	err error
}

// follow sends what becomes of a pod until stop is called. A server ends a watch now and then; then it is opened again.
func (c *cluster) follow(ctx context.Context, pod *corev1.Pod) (changes <-chan change, stop context.CancelFunc, err error) {
	ctx, cancel := context.WithCancel(ctx)
	open := func(version string) (watch.Interface, error) {
		return c.watch(ctx, "pods", "metadata.name="+pod.Name, version)
	}
	w, err := open(pod.ResourceVersion)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	out := make(chan change)
	tell := func(told change) {
		select {
		case out <- told:
		case <-ctx.Done():
		}
	}
	go func() {
		for {
			again := time.After(time.Second) // a server that ends each at once is not asked in a loop
			for e := range w.ResultChan() {
				if p, ok := e.Object.(*corev1.Pod); ok {
					if e.Type == watch.Deleted {
						p.Status.Phase, p.Status.Reason = corev1.PodFailed, deleted
					}
					tell(change{pod: p})
				}
			}
			w.Stop()
			select {
			case <-again:
			case <-ctx.Done():
				return
			}
			now, err := c.pod(ctx, pod.Name)
			version := now.ResourceVersion
			switch {
			case err == nil:
				tell(change{pod: now})
			case pod.UID == "" && sandbox.CodeOf(err) == sandbox.NotFound: // somebody is to make it yet
				version, err = anyVersion, nil
			}
			if err == nil {
				w, err = open(version)
			}
			if err != nil {
				tell(change{err: err})
				return
			}
		}
	}()
	return out, cancel, nil
}

// says waits a moment for the pod to be as it should: a kubelet acts first, and tells then. nil: it is not.
func (c *cluster) says(ctx context.Context, pod *corev1.Pod, as func(*corev1.Pod) bool) *corev1.Pod {
	if as(pod) {
		return pod
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
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

// anyVersion begins a watch with what the server knows, without asking its store whether that is the newest: a store that cannot
// tell would end the watch.
const anyVersion = "0"

// deleted is our own reason of a pod that is gone.
const deleted = "Deleted"

// events are those of a pod. Whoever may not see them sees none.
func (c *cluster) events(ctx context.Context, pod *corev1.Pod) <-chan *corev1.Event {
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

// lacksRuntime reports whether a node cannot run a pod's class: containerd and CRI-O say it in these words.
func lacksRuntime(message string) bool {
	return strings.Contains(message, "no runtime for") || strings.Contains(message, "failed to find runtime handler")
}

// noNode is why the scheduler finds no node for a pod.
func noNode(message string) error {
	hint := "lower --limit memory and cpu, or give the cluster more nodes"
	if strings.Contains(message, "untolerated taint") && !strings.Contains(message, "Insufficient") {
		hint = "kubectl describe nodes: one is not ready, short of disk or memory, or reserved for others"
	}
	return sandbox.Errorf(sandbox.Exhausted, "no node takes the pod: %s", message).WithHint("%s", hint)
}

// state judges a pod by its conditions and the state of its containers.
func state(pod *corev1.Pod) (now trouble, running bool) {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return trouble{err: ended(pod), final: true}, false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			err := noNode(line(condition.Message))
			// A volume is being made, which takes a cloud its time.
			return trouble{err: err, slow: strings.Contains(condition.Message, "unbound immediate PersistentVolumeClaims")}, false
		}
	}
	for _, s := range pod.Status.InitContainerStatuses {
		if t := judgeContainer(s); t.err != nil {
			return t, false
		}
	}
	for _, s := range pod.Status.ContainerStatuses {
		if t := judgeContainer(s); t.err != nil {
			return t, false
		}
		if s.Name == container && s.State.Running != nil {
			return trouble{}, true
		}
	}
	return trouble{}, false
}

// judgeContainer tells what keeps a container from running.
func judgeContainer(s corev1.ContainerStatus) trouble {
	if t := s.State.Terminated; t != nil && (t.ExitCode != 0 || s.Name == container) {
		return trouble{err: endError(s.Image, t), final: true}
	}
	w := s.State.Waiting
	if w == nil {
		return trouble{}
	}
	switch w.Reason {
	case "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable":
		err := sandbox.Errorf(sandbox.NotFound, "image %s cannot be pulled: %s", line(s.Image), line(w.Message)).
			WithHint("see whether the name is right, and the namespace has the registry's credentials")
		return trouble{err: err, final: true}
	case "CreateContainerConfigError", "CreateContainerError", "RunContainerError", "StartError":
		return trouble{err: startError(s.Image, w.Reason, w.Message), final: true}
	}
	return trouble{}
}

// endError is about a container that has ended. What a runtime does not explain is a status of its first process's own.
func endError(image string, t *corev1.ContainerStateTerminated) error {
	if t.Reason != "Error" || t.Message != "" {
		return startError(image, t.Reason, t.Message)
	}
	return sandbox.Errorf(sandbox.Closed, "the first process of image %s ended with %d", line(image), t.ExitCode).
		WithHint("its shell has to run, or name an image that has the guest with --guest-image")
}

// startError is about a container that did not run, or no longer does.
func startError(image, reason, message string) error {
	if strings.Contains(message, "executable file not found") || strings.Contains(message, "no such file or directory") {
		return sandbox.Errorf(sandbox.Unsupported, "image %s has no shell to receive the guest with", line(image)).
			WithHint("name an image that has the guest with --guest-image")
	}
	if reason == "OOMKilled" {
		return sandbox.Errorf(sandbox.Exhausted, "the pod was killed at its memory limit")
	}
	return sandbox.Errorf(sandbox.Unavailable, "the pod does not start: %s: %s", reason, line(message))
}

// ended is the error of a pod that has ended.
func ended(pod *corev1.Pod) error {
	switch pod.Status.Reason {
	case deleted:
		return sandbox.Errorf(sandbox.Closed, "the sandbox's pod was deleted")
	case "Evicted":
		return sandbox.Errorf(sandbox.Closed, "the sandbox's pod was evicted: %s", line(pod.Status.Message))
	case "DeadlineExceeded":
		return sandbox.Errorf(sandbox.Closed, "the sandbox's pod has reached its deadline of %s", deadlineOf(pod))
	case "":
	default:
		return sandbox.Errorf(sandbox.Closed, "the sandbox's pod has ended: %s: %s", pod.Status.Reason, line(pod.Status.Message))
	}
	for _, s := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		if t := s.State.Terminated; t != nil && t.ExitCode != 0 {
			return endError(s.Image, t)
		}
	}
	return sandbox.Errorf(sandbox.Closed, "the sandbox's pod has ended")
}

// deadlineOf is how long a pod may live.
func deadlineOf(pod *corev1.Pod) time.Duration {
	if n := pod.Spec.ActiveDeadlineSeconds; n != nil {
		return time.Duration(*n) * time.Second
	}
	return 0
}
