package kube_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube"
	"github.com/seed434b0696/agent-sandbox/sandbox"
	"github.com/seed434b0696/agent-sandbox/test/deadline"
)

// Two drivers stand for two processes: they share only the cluster.
func Test_Any_Process_Serves_A_Sandbox(t *testing.T) {
	t.Parallel()
	b, one := newPersistentBed(t)
	two := &kube.PersistentDriver{Inner: kube.New(b.options), Env: os.Environ()}
	ctx := t.Context()
	box := create(t, one, persistentSpec("shared", workspace(t)))
	prints(t, box, "sleep 1000 >/dev/null 2>&1 & echo one >mine", "")
	other := opened(t, two, "shared")
	prints(t, other, "cat mine; cat /proc/[0-9]*/comm | grep -c sleep", "one\n1\n")
	input, write := io.Pipe()
	run, err := box.Start(ctx, sandbox.Cmd{Args: []string{"cat"}}, sandbox.Stdio{Stdin: input})
	if err != nil {
		t.Fatal(err)
	}
	st, err := other.Status(ctx)
	if err != nil || st.Running != 1 || st.ID != "shared" {
		t.Errorf("%+v, %v", st, err)
	}
	reporter, ok := sandbox.As[kube.PodReporter](other.Unwrap())
	if !ok {
		t.Fatal("the sandbox does not report its pod")
	}
	if pod, err := reporter.PodStatus(ctx); err != nil || pod.Phase == "" || len(pod.Conditions) == 0 {
		t.Errorf("%+v, %v", pod, err)
	}
	if state, err := two.State(ctx, "shared"); err != nil || !state.Running || state.Commands != 1 {
		t.Errorf("%+v, %v", state, err)
	}
	if err := errors.Join(box.Detach(), write.Close()); err != nil {
		t.Error(err)
	}
	_, _ = run.Wait() // its client is gone
	prints(t, other, "cat /proc/[0-9]*/comm | grep -c sleep", "1\n")
	if _, err := sandbox.Create(ctx, two, persistentSpec("shared", workspace(t))); sandbox.CodeOf(err) != sandbox.Exists {
		t.Errorf("a name twice: %v", err)
	}
	if _, err := sandbox.Create(ctx, two, persistentSpec("Not_a_label", workspace(t))); sandbox.CodeOf(err) != sandbox.Invalid || sandbox.HintOf(err) == "" {
		t.Errorf("a name: %v", err)
	}
	log, err := two.Log(ctx, "shared")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(log); err != nil || !strings.Contains(string(text), "started") {
		t.Errorf("%q, %v", text, err)
	}
	records, err := two.Records(ctx)
	if err != nil || len(records) != 1 || records[0].Cluster == nil || records[0].Cluster.Namespace != b.namespace {
		t.Errorf("%+v, %v", records, err)
	}
	if err := two.Destroy(ctx, "shared"); err != nil {
		t.Error(err)
	}
	if _, err := other.Run(ctx, sandbox.Cmd{Args: []string{"true"}}); sandbox.CodeOf(err) != sandbox.Closed {
		t.Errorf("after its end: %v", err)
	}
}

// podEnds waits until the pod of a sandbox has ended.
func (b bed) podEnds(t *testing.T, name string) {
	t.Helper()
	b.becomes(t, "pod/agent-sandbox-"+name, "Succeeded")
}

func Test_An_Idle_Sandbox_Stops(t *testing.T) {
	t.Parallel()
	b, d := newPersistentBed(t)
	ctx := t.Context()
	d.Idle = min(time.Minute, deadline.Scale(6*time.Second)) // in which a busy machine starts and connects, too
	box := create(t, d, persistentSpec("idle", workspace(t)))
	prints(t, box, fmt.Sprintf("sleep %.1f; echo busy >f", (d.Idle+2*time.Second).Seconds()), "") // which is longer than it may be idle
	b.podEnds(t, "idle")
	if state, err := d.State(ctx, "idle"); err != nil || state.Running {
		t.Errorf("%+v, %v", state, err)
	}
	if pod, err := d.PodStatus(ctx, "idle"); err != nil || pod.Phase != "Succeeded" || len(pod.Containers) != 2 ||
		slices.ContainsFunc(pod.Containers, func(c kube.PodContainer) bool {
			return c.State != "terminated" || c.Reason != "Completed" || c.Restarts != 0
		}) {
		t.Errorf("the pod that has ended: %+v, %v", pod, err)
	}
	if err := d.Start(ctx, "idle", os.Environ()); err != nil {
		t.Fatal(err)
	}
	prints(t, opened(t, d, "idle"), "cat f", "busy\n")
	b.podEnds(t, "idle")
	names, err := d.Prune(ctx)
	if err != nil || len(names) != 1 || names[0] != "idle" {
		t.Errorf("%v, %v", names, err)
	}
	if records, err := d.Records(ctx); err != nil || len(records) != 0 {
		t.Errorf("%+v, %v", records, err)
	}
	if pod, err := d.PodStatus(ctx, "idle"); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("a sandbox that does not exist: %+v, %v", pod, err)
	}
}

func Test_An_Expired_Sandbox_Is_Removed(t *testing.T) {
	t.Parallel()
	b, d := newPersistentBed(t)
	ctx := t.Context()
	d.TTL = min(100*time.Second, deadline.Scale(20*time.Second))
	box := create(t, d, persistentSpec("short", workspace(t)))
	if err := box.Detach(); err != nil {
		t.Error(err)
	}
	b.podEnds(t, "short")
	ended := make(chan error, 2)
	for range 2 { // two reapers at once
		go func() {
			_, err := (&kube.PersistentDriver{Inner: kube.New(b.options)}).List(context.WithoutCancel(ctx))
			ended <- err
		}()
	}
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Error(err)
	}
	if records, err := d.Records(ctx); err != nil || len(records) != 0 {
		t.Errorf("%+v, %v", records, err)
	}
}

// The record of a sandbox contains no environment and no secret.
func Test_A_Claim_Contains_No_Secret(t *testing.T) {
	t.Parallel()
	b, d := newPersistentBed(t)
	spec := persistentSpec("silent", workspace(t))
	spec.Env = []string{"HIDDEN=hunter2", "PATH=/usr/bin:/bin"}
	spec.Policy.Env.Pass = []string{"HIDDEN"}
	box := create(t, d, spec)
	prints(t, box, "echo $HIDDEN", "hunter2\n")
	all := kubectl(t, "", "get", "pods,pvc", "-n", b.namespace, "-o", "json")
	if strings.Contains(all, "hunter2") || !json.Valid([]byte(all)) {
		t.Error("the environment is in an object of the cluster")
	}
}
