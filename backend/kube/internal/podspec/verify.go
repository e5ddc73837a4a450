package podspec

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// ignoredFields are the fields of a pod that do not weaken the isolation, independent of their value: where the pod runs, how its images
// are pulled, what it requests.
var ignoredFields = map[string]bool{
	"spec.nodeName": true, "spec.nodeSelector": true, "spec.affinity": true, "spec.tolerations": true, "spec.topologySpreadConstraints": true,
	"spec.schedulerName": true, "spec.priority": true, "spec.priorityClassName": true, "spec.preemptionPolicy": true,
	"spec.serviceAccount": true, "spec.serviceAccountName": true, // the pod has no token of it
	"spec.imagePullSecrets": true, "spec.dnsPolicy": true, "spec.dnsConfig": true, "spec.activeDeadlineSeconds": true,
	"spec.runtimeClassName": true, "spec.overhead": true, // more isolation
	"spec.containers.imagePullPolicy": true, "spec.containers.terminationMessagePolicy": true,
	"spec.containers.resources.requests": true,
}

// compare describes the first difference between the wanted and the found pod; empty: there is none. Unknown fields count, so a
// pod with a field of a later Kubernetes is rejected.
func (p *Design) compare(want, found *corev1.Pod) (string, error) {
	var trees [2]any
	for i, pod := range []*corev1.Pod{want, found} {
		data, err := json.Marshal(pod.Spec)
		if err == nil {
			err = json.Unmarshal(data, &trees[i])
		}
		if err != nil {
			return "", err
		}
	}
	return p.findDifference("spec", "spec", trees[0], trees[1]), nil
}

// findDifference compares the values at a path. The pattern is the path without the names of elements, and with one name for init
// containers and others.
func (p *Design) findDifference(path, pattern string, want, found any) string {
	if ignoredFields[pattern] {
		return ""
	}
	if decided, ok := p.decide(pattern, want, found); decided {
		if ok {
			return ""
		}
		return describeDifference(path, want, found)
	}
	switch wanted := want.(type) {
	case map[string]any:
		if has, ok := found.(map[string]any); ok {
			return p.findMapDifference(path, pattern, wanted, has)
		}
	case []any:
		key := map[string]string{
			"spec.containers": "name", "spec.volumes": "name", "spec.containers.volumeMounts": "mountPath",
		}[pattern]
		if has, ok := found.([]any); ok && key != "" {
			return p.findElementDifference(path, pattern, indexByName(wanted, key), indexByName(has, key), len(wanted), len(has))
		}
	}
	if reflect.DeepEqual(want, found) {
		return ""
	}
	return describeDifference(path, want, found)
}

func describeDifference(path string, want, found any) string {
	text := func(v any) string {
		data, _ := json.Marshal(v) // v was decoded from JSON
		if v == nil {
			return "nothing"
		}
		return string(data)
	}
	return fmt.Sprintf("%s is %.200s, not %.200s", path, text(found), text(want))
}

func (p *Design) findMapDifference(path, pattern string, want, found map[string]any) string {
	for _, key := range unionKeys(want, found) {
		at := pattern + "." + key
		if at == "spec.initContainers" {
			at = "spec.containers"
		}
		if why := p.findDifference(path+"."+key, at, want[key], found[key]); why != "" {
			return why
		}
	}
	return ""
}

// findElementDifference compares the elements of two lists by name. wanted and has are their lengths: a name may not occur twice.
func (p *Design) findElementDifference(path, pattern string, want, found map[string]any, wanted, has int) string {
	for _, key := range unionKeys(want, found) {
		if why := p.findDifference(path+"["+key+"]", pattern, want[key], found[key]); why != "" {
			return why
		}
	}
	if wanted != has {
		return fmt.Sprintf("%s has %d elements, not %d", path, has, wanted)
	}
	return ""
}

func unionKeys(a, b map[string]any) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func indexByName(list []any, key string) map[string]any {
	all := map[string]any{}
	for _, one := range list {
		element, _ := one.(map[string]any)
		name, _ := element[key].(string)
		all[name] = element
	}
	return all
}

// decide compares the fields that may have another value than ours, or none.
func (p *Design) decide(pattern string, want, found any) (decided, ok bool) {
	limits := p.Plan.Limits
	switch pattern {
	case "spec.hostUsers": // false isolates more
		return true, found == false || want == nil && found == nil
	case "spec.securityContext.runAsUser", "spec.securityContext.runAsGroup":
		number, is := found.(float64)
		return true, is && number > 0
	case "spec.containers.terminationMessagePath":
		return true, found == want || want == nil && found == corev1.TerminationMessagePathDefault
	case "spec.containers.image":
		free := p.Spec.Image == "" && want != p.Options.GuestImage
		return free, found != nil && found != ""
	case "spec.containers.resources.limits.cpu":
		return true, found != nil && (limits.CPU == 0 || isAtMost(want, found))
	case "spec.containers.resources.limits.memory":
		return true, found != nil && (limits.Memory == 0 || isAtMost(want, found))
	case "spec.containers.resources.limits.ephemeral-storage":
		return true, found != nil
	case "spec.volumes.emptyDir.sizeLimit":
		return true, isAtMost(want, found)
	}
	return false, false
}

// isAtMost reports whether found is a quantity that is not larger than want.
func isAtMost(want, found any) bool {
	var q [2]resource.Quantity
	for i, v := range []any{want, found} {
		text, is := v.(string)
		one, err := resource.ParseQuantity(text)
		if !is || err != nil {
			return false
		}
		q[i] = one
	}
	return q[1].Cmp(q[0]) <= 0
}

// Verify returns Unsupported, with the field, for a pod that isolates less than the one that Render returns.
func (p *Design) Verify(found *corev1.Pod) error {
	own := *p
	if owner := found.Spec.SecurityContext; owner != nil && owner.RunAsUser != nil {
		own.UID = *owner.RunAsUser // any user can own the copy of the workspace, which comes later
	}
	want, err := own.Render()
	if err != nil {
		return err
	}
	why, err := p.compare(want, found)
	if err == nil && why != "" {
		err = sandbox.Errorf(sandbox.Unsupported, "pool %s: its pods are not as the policy needs them: %s", p.Options.Pool, cluster.Line(why)).
			WithHint("'agent-sandbox explain --backend kube --warm-pool NAME --manifest' prints the template that is")
	}
	return err
}
