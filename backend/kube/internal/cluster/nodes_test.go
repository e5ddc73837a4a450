package cluster

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

func Test_User_Namespaces_Need_All_Nodes(t *testing.T) {
	const (
		has   = `{"status":{"runtimeHandlers":[{"name":"runsc"},{"name":"","features":{"userNamespaces":true}}]}}`
		lacks = `{"status":{"runtimeHandlers":[{"name":"runsc","features":{"userNamespaces":true}},{"name":"","features":{"userNamespaces":false}}]}}`
		old   = `{"status":{}}`
	)
	for name, c := range map[string]struct {
		nodes, handler string
		want           bool
	}{
		"all have":                {"[" + has + "," + has + "]", "", true},
		"one lacks":               {"[" + has + "," + lacks + "]", "", false},
		"one says nothing":        {"[" + has + "," + old + "]", "", false},
		"no node is seen":         {"[]", "", false},
		"the class's has":         {"[" + lacks + "]", "runsc", true},
		"the class's lacks":       {"[" + has + "]", "runsc", false},
		"no node has the class's": {"[" + has + "]", "kata", false},
		"a class not to be seen":  {"[" + has + "]", unknownHandler, false},
	} {
		t.Run(name, func(t *testing.T) {
			var nodes []corev1.Node
			if err := json.Unmarshal([]byte(c.nodes), &nodes); err != nil {
				t.Fatal(err)
			}
			if got := AllHaveUserNamespaces(nodes, c.handler); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func Test_Why_No_Node_Takes_A_Pod_Is_Answered_For(t *testing.T) {
	for message, hint := range map[string]string{
		"0/1 nodes are available: 1 node(s) had untolerated taint(s).":                      "kubectl describe nodes",
		"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).":  "--limit memory and cpu",
		"0/1 nodes are available: 1 Insufficient memory. preemption: 0/1 nodes are usable.": "--limit memory and cpu",
	} {
		if got := sandbox.HintOf(noNodeError(message)); !strings.Contains(got, hint) {
			t.Errorf("%s: %q", message, got)
		}
	}
}
