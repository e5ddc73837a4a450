package cluster

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// endedPod returns a pod whose sandbox container has ended.
func endedPod(code int32, reason string) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: names.Container, Image: "busybox", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}},
	}}}}
}

func Test_The_End_Of_A_Pod_Has_Its_Reason(t *testing.T) {
	now := metav1.Now()
	deletedPod, deletedEarly := endedPod(137, "Error"), &corev1.Pod{}
	deletedPod.DeletionTimestamp, deletedEarly.DeletionTimestamp = &now, &now
	for _, row := range []struct {
		name      string
		pod       *corev1.Pod
		want      string
		hintShell bool
	}{
		{"deleted after its start", deletedPod, "the sandbox's pod was deleted", false},
		{"deleted before its start", deletedEarly, "the sandbox's pod was deleted", false},
		{"killed", endedPod(137, "Error"), "was killed by signal 9", false},
		{"without a shell that works", endedPod(2, "Error"), "the first process of image busybox ended with 2", true},
		{"at its memory limit", endedPod(137, "OOMKilled"), "memory limit", false},
	} {
		state, running := StateOf(row.pod)
		if running || !state.Final || !strings.Contains(state.Err.Error(), row.want) || strings.Contains(sandbox.HintOf(state.Err), "shell") != row.hintShell {
			t.Errorf("%s: %v (hint %q), final %v", row.name, state.Err, sandbox.HintOf(state.Err), state.Final)
		}
	}
}

func Test_A_Quota_Error_Names_The_Share_Of_The_Second_Container(t *testing.T) {
	err := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("exceeded quota: small, requested: limits.cpu=4, used: limits.cpu=0, limited: limits.cpu=3"))
	got := (&Cluster{Namespace: "n"}).wrap(err, "create the pod")
	if hint := sandbox.HintOf(got); sandbox.CodeOf(got) != sandbox.Exhausted || !strings.Contains(hint, "2 processors and 128Mi of memory are for the pod's second container") {
		t.Errorf("%v, hint %q", got, hint)
	}
}
