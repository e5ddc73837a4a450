package cluster

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func Test_Image_Volumes_Need_All_Nodes(t *testing.T) {
	node := func(kubelet, runtime string) string {
		return `{"status":{"nodeInfo":{"kubeletVersion":"` + kubelet + `","containerRuntimeVersion":"` + runtime + `"}}}`
	}
	for name, c := range map[string]struct {
		nodes string
		want  bool
	}{
		"containerd 2.1":                 {node("v1.35.0", "containerd://2.1.0"), true},
		"a later one, of a distribution": {node("v1.36.2-gke.1043", "containerd://2.2.3-k3s1"), true},
		"CRI-O":                          {node("v1.35.4", "cri-o://1.35.1"), true},
		"the testbed's":                  {node("v1.35.4", "containerd://1.6.20"), false},
		"containerd 2.0":                 {node("v1.35.4", "containerd://2.0.9"), false},
		"2.10 is later than 2.1":         {node("v1.35.4", "containerd://2.10.0"), true},
		"an old CRI-O":                   {node("v1.35.4", "cri-o://1.30.9"), false},
		"a kubelet that needs a setting": {node("v1.34.9", "containerd://2.1.0"), false},
		"another runtime":                {node("v1.35.4", "docker://28.0.1"), false},
		"no version":                     {node("v1.35.4", "containerd://Unknown"), false},
		"nothing":                        {`{"status":{}}`, false},
		"one of two":                     {node("v1.35.4", "containerd://2.1.0") + "," + node("v1.35.4", "containerd://1.7.27"), false},
		"no node is seen":                {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			var nodes []corev1.Node
			if err := json.Unmarshal([]byte("["+c.nodes+"]"), &nodes); err != nil {
				t.Fatal(err)
			}
			if got := AllMountImages(nodes); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
