//go:build linux

package persist_test

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_A_Driver_Changes_Only_Sandboxes_Of_Its_Backend(t *testing.T) {
	var d persist.Lifecycle
	own := newDriverOver(t, "virtual")
	d = own
	box, err := sandbox.Create(t.Context(), d, sandbox.Spec{Name: "runs"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	pod := persist.Record{ID: "pod", Backend: "kube", Created: time.Now(), Cluster: &persist.Cluster{Context: "c", Namespace: "n", UID: "u"}}
	for _, r := range []persist.Record{{ID: "stopped", Backend: "virtual"}, {ID: "spare", Backend: "virtual", Spare: "x"}, pod} {
		if err := own.Store.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if st, err := d.State(t.Context(), "runs"); err != nil || !st.Running || st.Commands != 0 {
		t.Errorf("it is %+v, %v", st, err)
	}
	if st, err := d.State(t.Context(), "stopped"); err != nil || st.Running {
		t.Errorf("a stopped one is %+v, %v", st, err)
	}
	if _, err := d.State(t.Context(), "none"); sandbox.CodeOf(err) != sandbox.NotFound {
		t.Errorf("one that is not there: %v", err)
	}
	names, err := d.Prune(t.Context())
	if err != nil || !slices.Equal(names, []string{"stopped"}) {
		t.Errorf("pruned %q, %v", names, err)
	}
	all, err := own.Store.List()
	if err != nil || len(all) != 2 || all[0].ID != "pod" || *all[0].Cluster != *pod.Cluster || all[1].ID != "runs" {
		t.Errorf("left are %+v, %v", all, err)
	}
	log, err := d.Log(t.Context(), "runs")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(log)
	if err != nil || log.Close() != nil || !strings.Contains(string(text), "started") {
		t.Errorf("its log is %q, %v", text, err)
	}
	if err := own.Store.Vacant("pod"); sandbox.CodeOf(err) != sandbox.Exists {
		t.Errorf("its name is taken, got %v", err)
	}
	if err := own.Store.Forget(t.Context(), "pod"); err != nil || own.Store.Vacant("pod") != nil {
		t.Errorf("what is known of a pod is forgotten, got %v", err)
	}
}
