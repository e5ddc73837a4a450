package kube

import (
	"encoding/json"
	"regexp"
	"time"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/cluster"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"

	corev1 "k8s.io/api/core/v1"

	"github.com/seed434b0696/agent-sandbox/internal/persist"
	"github.com/seed434b0696/agent-sandbox/policy"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Labels and annotations of what a sandbox that lives on consists of. There is no other state: any process can serve it.
const (
	annotationRecord   = "agent-sandbox.dev/record"   // what it was made from
	annotationForm     = "agent-sandbox.dev/form"     // how its pods are made
	annotationWhole    = "agent-sandbox.dev/whole"    // when its files were complete; without it there is no sandbox yet
	annotationStarting = "agent-sandbox.dev/starting" // when somebody began to start it
	annotationMaking   = "agent-sandbox.dev/making"   // when its maker was last seen
	annotationUnrest   = "agent-sandbox.dev/unrest"   // a restore has begun: the files have to be settled before the next start
)

// form is how the pods of a sandbox are made, wherever: what this host was asked for when it was created.
type form struct {
	Pod       corev1.PodSpec      `json:"pod"`
	UID       int64               `json:"uid"`
	Image     string              `json:"image"`
	Workspace string              `json:"workspace,omitempty"` // on the host that made it, resolved
	Dir       string              `json:"dir"`                 // as the host has it
	Limits    sandbox.Limits      `json:"limits"`
	Network   sandbox.NetworkMode `json:"network,omitempty"`
	Debug     bool                `json:"debug,omitempty"`
}

// namePattern is a DNS label.
const namePattern = `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`

// checkName refuses what cannot be the name of an object of the cluster.
func checkName(name string) error {
	if !regexp.MustCompile(namePattern).MatchString(name) {
		return sandbox.Errorf(sandbox.Invalid, "%.100q cannot be the name of a sandbox in a cluster", name).
			WithHint("up to 63 small letters, digits and '-', with a letter or digit at both ends")
	}
	return nil
}

// identify returns the ID of a sandbox that is to be called so: any text that nobody can take for an ID stays a label.
func identify(name string) (string, error) {
	if persist.CheckName(name) != nil {
		return persist.NewID()
	}
	return name, checkName(name)
}

func noSuch(name string) error {
	return sandbox.Errorf(sandbox.NotFound, "no sandbox %.100q", name).WithHint("'agent-sandbox list' shows those that there are")
}

// encode is what a claim says of a sandbox.
func encode(r persist.Record, f form) (map[string]string, error) {
	r.Spec.Env, r.Spec.State = nil, ""
	record, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	shape, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return map[string]string{annotationRecord: string(record), annotationForm: string(shape), names.AnnotationName: r.Name}, nil
}

// known is what is known of a sandbox that lives on.
type known struct {
	claim  *corev1.PersistentVolumeClaim
	record persist.Record
	form   form
}

// decode reads what a claim says.
func decode(claim *corev1.PersistentVolumeClaim) (*known, error) {
	k := &known{claim: claim}
	err := json.Unmarshal([]byte(claim.Annotations[annotationRecord]), &k.record)
	if err == nil {
		err = json.Unmarshal([]byte(claim.Annotations[annotationForm]), &k.form)
	}
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "the annotations of volume claim %s: %w", claim.Name, cluster.OneLine(err)).
			WithHint("'agent-sandbox destroy %s' removes it", claim.Labels[names.LabelID])
	}
	k.record.ID = claim.Labels[names.LabelID]
	return k, nil
}

// whole reports whether a claim is a sandbox: it has been made altogether, and nobody removes it.
func whole(claim *corev1.PersistentVolumeClaim) bool {
	return claim.DeletionTimestamp == nil && claim.Annotations[annotationWhole] != ""
}

// over reports whether its time is.
func (k *known) over(now time.Time) bool {
	return k.record.TTL > 0 && now.After(k.record.Created.Add(time.Duration(k.record.TTL)))
}

// formOf is how pods of what was decided are made.
func formOf(p *prepared, pod *corev1.Pod) form {
	return form{
		Pod: pod.Spec, UID: p.uid, Image: p.image, Workspace: p.plan.Workspace, Dir: p.plan.Dir,
		Limits: p.plan.Limits.Limits, Network: p.plan.Network.Mode, Debug: p.plan.Debug,
	}
}

// plan is as much of that plan as a pod that runs needs, with the environment that env gives commands. What the host's
// directories are to it was decided when it was made.
func (k *known) plan(env []string) (*policy.Plan, error) {
	spec := sandbox.Spec{Env: env, Policy: sandbox.Policy{Env: k.record.Spec.Policy.Env}}
	for _, l := range k.record.Spec.Layers {
		l.Policy = sandbox.Policy{Env: l.Policy.Env}
		spec.Layers = append(spec.Layers, l)
	}
	p, err := policy.Resolve(spec)
	if err != nil {
		return nil, err
	}
	f := k.form
	out := &policy.Plan{Workspace: f.Workspace, Dir: f.Dir, Debug: f.Debug, Env: p.Env, Limits: policy.Limits{Limits: f.Limits}}
	out.Network.Mode = f.Network
	return out, nil
}
