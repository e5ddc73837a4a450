// Package record stores a persistent sandbox's record in the annotations of its volume claim. No other state exists:
// any process that may use the namespace can serve the sandbox.
package record

import (
	"encoding/json"
	"regexp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/podspec"
	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Annotations of the volume claim of a persistent sandbox. Times are RFC 3339, as [Stamp] returns them.
const (
	AnnotationRecord   = "agent-sandbox.dev/record"   // the [persist.Record], as JSON
	annotationForm     = "agent-sandbox.dev/form"     // the [Form], as JSON
	AnnotationWhole    = "agent-sandbox.dev/whole"    // when its files were complete; without it the sandbox does not exist yet
	AnnotationStarting = "agent-sandbox.dev/starting" // when a process began to start it
	AnnotationMaking   = "agent-sandbox.dev/making"   // when the process that creates it last reported
	AnnotationUnrest   = "agent-sandbox.dev/unrest"   // when a restore began that has not ended: the next start finishes it
)

// Form contains the decisions of the host that created a sandbox. Every host renders the sandbox's pods from them.
type Form struct {
	Pod       corev1.PodSpec      `json:"pod"`
	UID       int64               `json:"uid"`
	Image     string              `json:"image"`
	Workspace string              `json:"workspace,omitempty"` // on the host that created it, resolved
	Dir       string              `json:"dir"`                 // the directory of commands, on that host
	Limits    sandbox.Limits      `json:"limits"`
	Network   sandbox.NetworkMode `json:"network,omitempty"`
	Debug     bool                `json:"debug,omitempty"`
}

// namePattern matches a DNS label.
const namePattern = `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`

// CheckName returns Invalid unless name can be part of the name of an object in a cluster.
func CheckName(name string) error {
	if !regexp.MustCompile(namePattern).MatchString(name) {
		return sandbox.Errorf(sandbox.Invalid, "invalid name %.100q of a sandbox in a cluster; expected a DNS label", name).
			WithHint("up to 63 small letters, digits and '-', with a letter or digit at both ends")
	}
	return nil
}

// ChooseID returns the ID of a sandbox with that name: the name itself, or a random ID for a text that cannot be an ID.
func ChooseID(name string) (string, error) {
	if persist.CheckName(name) != nil {
		return persist.NewID()
	}
	return name, CheckName(name)
}

// NotFoundError returns the error for a sandbox that does not exist.
func NotFoundError(name string) error {
	return sandbox.Errorf(sandbox.NotFound, "no sandbox %.100q", name).WithHint("'agent-sandbox list' shows those that there are")
}

// Encode returns the annotations of the claim of a sandbox. They hold no environment.
func Encode(r persist.Record, f Form) (map[string]string, error) {
	r.Spec.Env, r.Spec.State = nil, ""
	record, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	shape, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return map[string]string{AnnotationRecord: string(record), annotationForm: string(shape), names.AnnotationName: r.Name}, nil
}

// Sandbox is a persistent sandbox as its claim describes it.
type Sandbox struct {
	Claim  *corev1.PersistentVolumeClaim
	Record persist.Record
	Form   Form
}

// Decode reads the annotations of a claim. Invalid: they are damaged.
func Decode(claim *corev1.PersistentVolumeClaim) (*Sandbox, error) {
	k := &Sandbox{Claim: claim}
	err := json.Unmarshal([]byte(claim.Annotations[AnnotationRecord]), &k.Record)
	if err == nil {
		err = json.Unmarshal([]byte(claim.Annotations[annotationForm]), &k.Form)
	}
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "the annotations of volume claim %s: %w", claim.Name, cluster.OneLine(err)).
			WithHint("'agent-sandbox destroy %s' removes it", claim.Labels[names.LabelID])
	}
	k.Record.ID = claim.Labels[names.LabelID]
	return k, nil
}

// IsComplete reports whether the sandbox of a claim was created completely and is not being deleted.
func IsComplete(claim *corev1.PersistentVolumeClaim) bool {
	return claim.DeletionTimestamp == nil && claim.Annotations[AnnotationWhole] != ""
}

// IsExpired reports whether the sandbox's time to live has passed.
func (k *Sandbox) IsExpired(now time.Time) bool {
	return k.Record.TTL > 0 && now.After(k.Record.Created.Add(time.Duration(k.Record.TTL)))
}

// FormOf returns the form of a sandbox from its design and the pod rendered from that.
func FormOf(p *podspec.Design, pod *corev1.Pod) Form {
	return Form{
		Pod: pod.Spec, UID: p.UID, Image: p.Image, Workspace: p.Plan.Workspace, Dir: p.Plan.Dir,
		Limits: p.Plan.Limits.Limits, Network: p.Plan.Network.Mode, Debug: p.Plan.Debug,
	}
}

// Plan returns the part of a plan that a running pod needs, with an environment from env. The rules for the host's directories were
// applied when the sandbox was created.
func (k *Sandbox) Plan(env []string) (*policy.Plan, error) {
	spec := sandbox.Spec{Env: env, Policy: sandbox.Policy{Env: k.Record.Spec.Policy.Env}}
	for _, l := range k.Record.Spec.Layers {
		l.Policy = sandbox.Policy{Env: l.Policy.Env}
		spec.Layers = append(spec.Layers, l)
	}
	p, err := policy.Resolve(spec)
	if err != nil {
		return nil, err
	}
	f := k.Form
	out := &policy.Plan{Workspace: f.Workspace, Dir: f.Dir, Debug: f.Debug, Env: p.Env, Limits: policy.Limits{Limits: f.Limits}}
	out.Network.Mode = f.Network
	return out, nil
}

// IsStarting reports whether a process began to start the sandbox within [UnseenTime] and has not reported the end.
func IsStarting(claim *corev1.PersistentVolumeClaim) bool {
	at, err := time.Parse(time.RFC3339, claim.Annotations[AnnotationStarting])
	return err == nil && time.Since(at) < UnseenTime
}

// UnseenTime is the time without a report after which a process that creates or starts a sandbox counts as killed.
const UnseenTime = 5 * SeenInterval

// StartingInterval is the interval in which a process that starts a sandbox renews [AnnotationStarting].
const StartingInterval = 10 * time.Second

// SilentTime is the time without such a report after which an observer takes that process for killed. It counts from what the observer
// has seen, because the clocks of two machines may differ.
const SilentTime = 3 * StartingInterval

// Stamp returns the current time as annotations have it.
func Stamp() string { return time.Now().UTC().Format(time.RFC3339) }

// SeenInterval is the interval between the reports of a process that creates a sandbox.
const SeenInterval = time.Minute
