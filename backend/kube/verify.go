package kube

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// anything are the fields of a pod that are no wall, whoever sets them: where it runs, how its images come, what it asks for.
var anything = map[string]bool{
	"spec.nodeName": true, "spec.nodeSelector": true, "spec.affinity": true, "spec.tolerations": true, "spec.topologySpreadConstraints": true,
	"spec.schedulerName": true, "spec.priority": true, "spec.priorityClassName": true, "spec.preemptionPolicy": true,
	"spec.serviceAccount": true, "spec.serviceAccountName": true, // which nobody inside has a token of
	"spec.imagePullSecrets": true, "spec.dnsPolicy": true, "spec.dnsConfig": true, "spec.activeDeadlineSeconds": true,
	"spec.runtimeClassName": true, "spec.overhead": true, // more walls
	"spec.containers.imagePullPolicy": true, "spec.containers.terminationMessagePolicy": true,
	"spec.containers.resources.requests": true,
}

// difference names the first field in which a pod that was found is not as the one that is wanted; empty: there is none. A field
// that is not known here counts, too, so what Kubernetes learns later is refused.
func (p *prepared) difference(want, found *corev1.Pod) (string, error) {
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
	return p.differs("spec", "spec", trees[0], trees[1]), nil
}

// differs compares what is at a path. The pattern is the path without the names of elements, and with the same name for init
// containers as for others.
func (p *prepared) differs(path, pattern string, want, found any) string {
	if anything[pattern] {
		return ""
	}
	if decided, ok := p.allowed(pattern, want, found); decided {
		if ok {
			return ""
		}
		return tell(path, want, found)
	}
	switch wanted := want.(type) {
	case map[string]any:
		if has, ok := found.(map[string]any); ok {
			return p.differsInside(path, pattern, wanted, has)
		}
	case []any:
		key := map[string]string{
			"spec.containers": "name", "spec.volumes": "name", "spec.containers.volumeMounts": "mountPath",
		}[pattern]
		if has, ok := found.([]any); ok && key != "" {
			return p.differsByName(path, pattern, byName(wanted, key), byName(has, key), len(wanted), len(has))
		}
	}
	if reflect.DeepEqual(want, found) {
		return ""
	}
	return tell(path, want, found)
}

func tell(path string, want, found any) string {
	text := func(v any) string {
		data, _ := json.Marshal(v) // what was JSON
		if v == nil {
			return "nothing"
		}
		return string(data)
	}
	return fmt.Sprintf("%s is %.200s, not %.200s", path, text(found), text(want))
}

func (p *prepared) differsInside(path, pattern string, want, found map[string]any) string {
	for _, key := range keys(want, found) {
		at := pattern + "." + key
		if at == "spec.initContainers" {
			at = "spec.containers"
		}
		if why := p.differs(path+"."+key, at, want[key], found[key]); why != "" {
			return why
		}
	}
	return ""
}

// differsByName compares elements, of which there may be no two of a name.
func (p *prepared) differsByName(path, pattern string, want, found map[string]any, wanted, has int) string {
	for _, key := range keys(want, found) {
		if why := p.differs(path+"["+key+"]", pattern, want[key], found[key]); why != "" {
			return why
		}
	}
	if wanted != has {
		return fmt.Sprintf("%s has %d elements, not %d", path, has, wanted)
	}
	return ""
}

func keys(a, b map[string]any) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}

func byName(list []any, key string) map[string]any {
	all := map[string]any{}
	for _, one := range list {
		element, _ := one.(map[string]any)
		name, _ := element[key].(string)
		all[name] = element
	}
	return all
}

// allowed decides about the fields that may have another value than ours, or none at all.
func (p *prepared) allowed(pattern string, want, found any) (decided, ok bool) {
	limits := p.plan.Limits
	switch pattern {
	case "spec.hostUsers": // false is one more wall
		return true, found == false || want == nil && found == nil
	case "spec.securityContext.runAsUser", "spec.securityContext.runAsGroup":
		number, is := found.(float64)
		return true, is && number > 0
	case "spec.containers.terminationMessagePath":
		return true, found == want || want == nil && found == corev1.TerminationMessagePathDefault
	case "spec.containers.image":
		free := p.spec.Image == "" && want != p.driver.options.GuestImage
		return free, found != nil && found != ""
	case "spec.containers.resources.limits.cpu":
		return true, found != nil && (limits.CPU == 0 || atMost(want, found))
	case "spec.containers.resources.limits.memory":
		return true, found != nil && (limits.Memory == 0 || atMost(want, found))
	case "spec.containers.resources.limits.ephemeral-storage":
		return true, found != nil
	case "spec.volumes.emptyDir.sizeLimit":
		return true, atMost(want, found)
	}
	return false, false
}

// atMost compares two quantities. None is no limit.
func atMost(want, found any) bool {
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
