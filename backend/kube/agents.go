package kube

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// Values of Options.Agents.
const (
	AgentsNever  = "never"
	AgentsAlways = "always"
)

// Groups of the API that kubernetes-sigs/agent-sandbox adds to a cluster.
const (
	sandboxGroup = "agents.x-k8s.io"
	claimGroup   = "extensions.agents.x-k8s.io"
)

// podNameAnnotation has the name of a Sandbox's pod, when it is another one than the Sandbox's.
const podNameAnnotation = sandboxGroup + "/pod-name"

// readyCondition tells what a Sandbox or SandboxClaim waits for, finishedCondition that its pod has ended.
const (
	readyCondition    = "Ready"
	finishedCondition = "Finished"
)

// agentKind is a kind of object for which a controller makes a pod. Without a version the cluster does not have it.
type agentKind struct{ group, version, resource, name string }

// object is one of a kind.
type object struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   objectMetadata `json:"metadata"`
	Spec       any            `json:"spec"`
	Status     objectStatus   `json:"status,omitzero"`
}

type objectMetadata struct {
	Name            string                  `json:"name,omitempty"`
	UID             types.UID               `json:"uid,omitempty"`
	Labels          map[string]string       `json:"labels,omitempty"`
	Annotations     map[string]string       `json:"annotations,omitempty"`
	OwnerReferences []metav1.OwnerReference `json:"ownerReferences,omitempty"`
}

type objectStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Sandbox    struct {           // of a claim: which Sandbox it has got
		Name string `json:"name,omitempty"`
	} `json:"sandbox,omitzero"`
}

// controllerOf is the controller among owners; empty: there is none.
func controllerOf(owners []metav1.OwnerReference) types.UID {
	for _, owner := range owners {
		if owner.Controller != nil && *owner.Controller {
			return owner.UID
		}
	}
	return ""
}

// condition is that of a type; nil: the controller has not said anything about it.
func (o *object) condition(of string) *metav1.Condition {
	i := slices.IndexFunc(o.Status.Conditions, func(c metav1.Condition) bool { return c.Type == of })
	if i < 0 {
		return nil
	}
	return &o.Status.Conditions[i]
}

// sandboxSpec is the part of a Sandbox that is ours to say.
type sandboxSpec struct {
	PodTemplate    podTemplate `json:"podTemplate"`
	Service        bool        `json:"service"`
	ShutdownTime   time.Time   `json:"shutdownTime,omitzero"`
	ShutdownPolicy string      `json:"shutdownPolicy,omitempty"`
}

type podTemplate struct {
	Metadata objectMetadata `json:"metadata"`
	Spec     corev1.PodSpec `json:"spec"`
}

// agents is what a cluster was found to have of those kinds.
type agents struct{ sandboxes, claims agentKind }

// discovery remembers the agents of a cluster.
type discovery struct {
	mu    sync.Mutex
	found *agents // nil: nobody asked yet, or there was no answer
}

// agents asks, once, what the cluster has. Whoever may not ask has none.
func (c *cluster) agents(ctx context.Context) (agents, error) {
	c.discovery.mu.Lock()
	defer c.discovery.mu.Unlock()
	if c.discovery.found != nil {
		return *c.discovery.found, nil
	}
	found := agents{
		sandboxes: agentKind{group: sandboxGroup, resource: "sandboxes", name: "Sandbox"},
		claims:    agentKind{group: claimGroup, resource: "sandboxclaims", name: "SandboxClaim"},
	}
	for _, k := range []*agentKind{&found.sandboxes, &found.claims} {
		var err error
		if k.version, err = c.served(ctx, k.group); err != nil {
			return agents{}, err
		}
		if k.version == "" { // the second is an extension of the first
			break
		}
	}
	c.discovery.found = &found
	return found, nil
}

// served is the version of a group that we speak and the cluster serves; empty: none.
func (c *cluster) served(ctx context.Context, group string) (string, error) {
	var about metav1.APIGroup
	data, err := answer(ctx, c.rest.Get().AbsPath("/apis/"+group), nil)
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return "", nil
	}
	if err == nil {
		err = json.Unmarshal(data, &about)
	}
	if err != nil {
		return "", c.wrap(err, "ask for "+group)
	}
	for _, ours := range []string{"v1beta1", "v1alpha1"} {
		if slices.ContainsFunc(about.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.Version == ours }) {
			return ours, nil
		}
	}
	return "", nil
}

// path is where objects of a kind are, or the one of a name.
func (c *cluster) path(k agentKind, name string) []string {
	path := []string{"/apis", k.group, k.version, "namespaces", c.namespace, k.resource}
	if name != "" {
		path = append(path, name)
	}
	return path
}

const contentJSON = "application/json"

// answer sends a request, with a body or nil, and returns what comes back.
func answer(ctx context.Context, request *rest.Request, body []byte) ([]byte, error) {
	request.SetHeader("Accept", contentJSON)
	if body != nil {
		request.SetHeader("Content-Type", contentJSON).Body(body)
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil { // which reads what the server says about it
		return nil, err
	}
	return result.Raw()
}

// create makes an object of a kind, and completes it.
func (c *cluster) create(ctx context.Context, k agentKind, o *object) error {
	o.APIVersion, o.Kind = k.group+"/"+k.version, k.name
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	data, err := answer(ctx, c.rest.Post().AbsPath(c.path(k, "")...), body)
	if err == nil {
		err = json.Unmarshal(data, o)
	}
	return c.wrap(err, "create a "+k.name)
}

// object is the one of a name.
func (c *cluster) object(ctx context.Context, k agentKind, name string) (*object, error) {
	o := &object{}
	data, err := answer(ctx, c.rest.Get().AbsPath(c.path(k, name)...), nil)
	if err == nil {
		err = json.Unmarshal(data, o)
	}
	return o, c.wrap(err, "look at the "+k.name)
}

// delete removes that very object, and leaves its pod to the cluster; one that is gone is fine. Without a UID it is whatever
// has the name.
func (c *cluster) delete(ctx context.Context, k agentKind, name string, uid types.UID) error {
	ctx, cancel := context.WithTimeout(ctx, deleteTime)
	defer cancel()
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}, PropagationPolicy: &background}
	if uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	body, err := json.Marshal(options)
	if err != nil {
		return err
	}
	_, err = answer(ctx, c.rest.Delete().AbsPath(c.path(k, name)...), body)
	err = c.wrap(err, "delete the "+k.name)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}

// said is what became of an object, or why nobody can tell.
type said struct {
	object *object
	err    error
}

// followObject sends what becomes of an object, first what it is, until ctx ends.
func (c *cluster) followObject(ctx context.Context, k agentKind, name string) <-chan said {
	out := make(chan said)
	tell := func(one said) {
		select {
		case out <- one:
		case <-ctx.Done():
		}
	}
	go func() {
		for ctx.Err() == nil {
			again := time.After(time.Second) // a server that ends each at once is not asked in a loop
			if err := c.watchObject(ctx, k, name, tell); err != nil {
				tell(said{err: err})
				return
			}
			select {
			case <-again:
			case <-ctx.Done():
			}
		}
	}()
	return out
}

// watchObject tells what becomes of an object until the server has had enough.
func (c *cluster) watchObject(ctx context.Context, k agentKind, name string, tell func(said)) error {
	body, err := c.rest.Get().AbsPath(c.path(k, "")...).Param("watch", "true").Param("resourceVersion", anyVersion).Param("fieldSelector", "metadata.name="+name).
		SetHeader("Accept", contentJSON).Stream(ctx)
	if err != nil {
		return c.wrap(err, "watch the "+k.name)
	}
	defer body.Close()
	for events := json.NewDecoder(io.LimitReader(body, maxWatched)); ; {
		var event struct {
			Type   string
			Object object
		}
		if events.Decode(&event) != nil {
			return nil // the end of a watch, which is none of its object
		}
		switch event.Type {
		case "ADDED", "MODIFIED":
			tell(said{object: &event.Object})
		case "DELETED":
			tell(said{err: sandbox.Errorf(sandbox.Closed, "the %s of the sandbox was deleted", k.name)})
		}
	}
}

// maxWatched is how much is read of one watch.
const maxWatched = 64 << 20

// choose returns what the cluster has that the sandbox is to be made of; no versions: a pod of its own.
func (p *prepared) choose(ctx context.Context) (agents, error) {
	mode := p.driver.options.Agents
	switch mode {
	case AgentsNever:
		return agents{}, nil
	case "", AgentsAlways:
	default:
		return agents{}, sandbox.Errorf(sandbox.Invalid, "agents %q is neither empty nor %q nor %q", mode, AgentsNever, AgentsAlways)
	}
	demanded := mode == AgentsAlways || p.fromPool()
	found, err := p.cluster.agents(ctx)
	switch {
	case err != nil && !demanded:
		return agents{}, nil // whoever makes the pod is told
	case err != nil:
		return agents{}, err
	case demanded && found.sandboxes.version == "":
		return agents{}, sandbox.Errorf(sandbox.Unavailable, "the cluster has no Sandboxes (%s)", sandboxGroup).
			WithHint("install kubernetes-sigs/agent-sandbox there, or let pods be made")
	case p.fromPool() && found.claims.version == "":
		return agents{}, sandbox.Errorf(sandbox.Unavailable, "the cluster has no warm pools (%s)", claimGroup).
			WithHint("install the extensions of kubernetes-sigs/agent-sandbox there, or name no pool")
	}
	return found, nil
}

// made is an object for which a controller makes the pod.
type made struct {
	kind agentKind
	name string
	uid  types.UID
}

// makePod makes the pod, or that of which a controller makes it.
func (i *instance) makePod(ctx context.Context) error {
	if i.fromPool() {
		return i.claimPod(ctx)
	}
	if i.agents.sandboxes.version != "" {
		err := i.makeSandbox(ctx)
		if i.made != nil || i.driver.options.Agents == AgentsAlways || !mayNotCreate(err) {
			return err
		}
		i.driver.options.Trace("kube", "make a pod instead: "+err.Error())
	}
	pod, err := i.create(ctx)
	if err != nil {
		return err
	}
	i.pod = pod
	return nil
}

// makeSandbox makes a Sandbox, and waits for its pod.
func (i *instance) makeSandbox(ctx context.Context) error {
	i.mounted = false // only of a pod that we make it is known whether the API server takes the volume
	pod, err := i.prepared.pod()
	if err != nil {
		return err
	}
	i.driver.options.Trace("kube", "create Sandbox "+pod.Name+" in namespace "+i.cluster.namespace)
	meta := objectMetadata{Name: pod.Name, Labels: pod.Labels, Annotations: pod.Annotations}
	o := &object{Metadata: meta, Spec: sandboxSpec{
		PodTemplate:  podTemplate{Metadata: objectMetadata{Labels: pod.Labels, Annotations: pod.Annotations}, Spec: pod.Spec},
		ShutdownTime: time.Now().Add(time.Duration(i.lifetime()) * time.Second).UTC().Truncate(time.Second), ShutdownPolicy: "Delete",
	}}
	if err := i.cluster.create(ctx, i.agents.sandboxes, o); err != nil {
		return errors.Join(err, i.cluster.withdrawObject(ctx, i.agents.sandboxes, pod.Name, err))
	}
	i.made = &made{kind: i.agents.sandboxes, name: pod.Name, uid: o.Metadata.UID}
	found, err := i.cluster.appear(ctx, *i.made, pod.Name)
	if err != nil {
		return err
	}
	i.pod = found
	return nil
}

// uncertain reports whether err is neither an answer nor that there is nobody to ask.
func uncertain(err error) bool {
	switch sandbox.CodeOf(err) {
	case sandbox.Canceled, sandbox.Timeout, sandbox.Internal:
		return true
	default:
		return false
	}
}

// withdrawObject deletes the object that may have been made although nobody has told us so.
func (c *cluster) withdrawObject(ctx context.Context, k agentKind, name string, err error) error {
	if !uncertain(err) {
		return nil
	}
	return c.delete(context.WithoutCancel(ctx), k, name, "")
}

// appear returns the pod that a controller makes for an object, or why there is none.
func (c *cluster) appear(ctx context.Context, m made, name string) (*corev1.Pod, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pods, stop, err := c.follow(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: anyVersion}})
	if err != nil {
		return nil, err
	}
	defer stop()
	objects := c.followObject(ctx, m.kind, m.name)
	late := time.After(patience)
	var ready *metav1.Condition
	for {
		select {
		case change := <-pods:
			if change.err != nil {
				return nil, change.err
			}
			if controllerOf(change.pod.OwnerReferences) == m.uid {
				return change.pod, nil
			}
		case one := <-objects:
			if one.err != nil {
				return nil, one.err
			}
			ready = one.object.condition(readyCondition)
			if err := refusal(m.kind, ready); err != nil {
				return nil, err
			}
		case <-late:
			return nil, idle(m.kind, ready)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// refusal is what a controller says about a pod that it will not get; nil: it may get one yet.
func refusal(k agentKind, ready *metav1.Condition) error {
	if ready == nil || ready.Status != metav1.ConditionFalse {
		return nil
	}
	text := line(ready.Message)
	fail := func(code sandbox.Code, hint string) error {
		return sandbox.Errorf(code, "the controller of the %s makes no pod: %s: %s", k.name, ready.Reason, text).WithHint("%s", hint)
	}
	switch ready.Reason {
	case "WarmPoolNotFound", "TemplateNotFound":
		return fail(sandbox.NotFound, "'kubectl get sandboxwarmpools,sandboxtemplates' lists what there is")
	case "InvalidMetadata", "EnvVarsInjectionRejected", "VolumeClaimTemplatesError":
		return fail(sandbox.Invalid, "")
	case "SandboxExpired", "ClaimExpired", "MultiplePods":
		return fail(sandbox.Closed, "")
	case "ReconcilerError":
		if code, hint := judgeText(text); code != sandbox.Internal {
			return fail(code, hint)
		}
	}
	return nil
}

// idle is the error of an object whose pod nobody has made in time.
func idle(k agentKind, ready *metav1.Condition) error {
	if ready == nil {
		return sandbox.Errorf(sandbox.Unavailable, "nobody makes a pod for the %s in %s: its controller does not run", k.name, patience).
			WithHint("see whether agent-sandbox-controller runs in the cluster")
	}
	return sandbox.Errorf(sandbox.Unavailable, "the controller of the %s has made no pod in %s: %s: %s", k.name, patience, ready.Reason, line(ready.Message))
}

// deleteMade deletes what was made.
func (i *instance) deleteMade(ctx context.Context) error {
	switch {
	case i.made != nil:
		return i.cluster.delete(ctx, i.made.kind, i.made.name, i.made.uid)
	case i.pod != nil:
		return i.cluster.deletePod(ctx, i.pod.Name, i.pod.UID)
	}
	return nil
}

// sweepSandboxes deletes the Sandboxes of ours whose pods have ended, as sweep does.
func (c *cluster) sweepSandboxes(ctx context.Context, k agentKind) {
	data, err := answer(ctx, c.rest.Get().AbsPath(c.path(k, "")...).Param("labelSelector", labelManaged+"="+manager), nil)
	var list struct{ Items []object }
	if err != nil || json.Unmarshal(data, &list) != nil {
		return
	}
	for i := range list.Items {
		o := &list.Items[i]
		if end := o.condition(finishedCondition); end != nil && end.Status == metav1.ConditionTrue && time.Since(end.LastTransitionTime.Time) > restTime {
			_ = c.delete(ctx, k, o.Metadata.Name, o.Metadata.UID) // the next one tries again
		}
	}
}
