package cluster

import (
	"context"
	"encoding/json"
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

// Groups of the API that kubernetes-sigs/agent-sandbox adds to a cluster.
const (
	SandboxGroup = "agents.x-k8s.io"
	ClaimGroup   = "extensions.agents.x-k8s.io"
)

// Types of conditions: readyCondition has the reason why a Sandbox or SandboxClaim waits, finishedCondition is true when its pod
// has ended.
const (
	readyCondition    = "Ready"
	finishedCondition = "Finished"
)

// Kind is a kind of object for which a controller creates a pod. An empty Version means that the cluster does not have it.
type Kind struct{ Group, Version, Resource, name string }

// Object is an object of a [Kind], with the fields that are used here.
type Object struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   ObjectMetadata `json:"metadata"`
	Spec       any            `json:"spec"`
	Status     objectStatus   `json:"status,omitzero"`
}

// ObjectMetadata are the fields of an object's metadata that are used here.
type ObjectMetadata struct {
	Name            string                  `json:"name,omitempty"`
	UID             types.UID               `json:"uid,omitempty"`
	Labels          map[string]string       `json:"labels,omitempty"`
	Annotations     map[string]string       `json:"annotations,omitempty"`
	OwnerReferences []metav1.OwnerReference `json:"ownerReferences,omitempty"`
}

type objectStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Sandbox    struct {           // of a SandboxClaim: the Sandbox that it was given
		Name string `json:"name,omitempty"`
	} `json:"sandbox,omitzero"`
}

// ControllerOf returns the UID of the controller among owners; empty: none is.
func ControllerOf(owners []metav1.OwnerReference) types.UID {
	for _, owner := range owners {
		if owner.Controller != nil && *owner.Controller {
			return owner.UID
		}
	}
	return ""
}

// condition returns the condition of a type; nil: the controller has not set it.
func (o *Object) condition(of string) *metav1.Condition {
	i := slices.IndexFunc(o.Status.Conditions, func(c metav1.Condition) bool { return c.Type == of })
	if i < 0 {
		return nil
	}
	return &o.Status.Conditions[i]
}

// Kinds are the kinds of kubernetes-sigs/agent-sandbox as a cluster has them.
type Kinds struct{ Sandboxes, Claims Kind }

// discovery stores the answer of FindKinds.
type discovery struct {
	mu    sync.Mutex
	found *Kinds // nil: not asked yet, or no answer
}

// FindKinds asks the cluster which versions of the kinds it serves, until it has answered once. Without the right to ask there
// are none.
func (c *Cluster) FindKinds(ctx context.Context) (Kinds, error) {
	c.discovery.mu.Lock()
	defer c.discovery.mu.Unlock()
	if c.discovery.found != nil {
		return *c.discovery.found, nil
	}
	found := Kinds{
		Sandboxes: Kind{Group: SandboxGroup, Resource: "sandboxes", name: "Sandbox"},
		Claims:    Kind{Group: ClaimGroup, Resource: "sandboxclaims", name: "SandboxClaim"},
	}
	for _, k := range []*Kind{&found.Sandboxes, &found.Claims} {
		var err error
		if k.Version, err = c.findVersion(ctx, k.Group); err != nil {
			return Kinds{}, err
		}
		if k.Version == "" { // SandboxClaim is an extension of Sandbox
			break
		}
	}
	c.discovery.found = &found
	return found, nil
}

// findVersion returns the newest version of an API group that both this client and the cluster support; empty: none.
func (c *Cluster) findVersion(ctx context.Context, group string) (string, error) {
	var about metav1.APIGroup
	data, err := sendRaw(ctx, c.rest.Get().AbsPath("/apis/"+group), nil)
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

// objectPath returns the API path of the objects of a kind, or of the one with that name.
func (c *Cluster) objectPath(k Kind, name string) []string {
	path := []string{"/apis", k.Group, k.Version, "namespaces", c.Namespace, k.Resource}
	if name != "" {
		path = append(path, name)
	}
	return path
}

const contentJSON = "application/json"

// sendRaw sends a request with a JSON body, or nil, and returns the body of the answer.
func sendRaw(ctx context.Context, request *rest.Request, body []byte) ([]byte, error) {
	request.SetHeader("Accept", contentJSON)
	if body != nil {
		request.SetHeader("Content-Type", contentJSON).Body(body)
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil { // Error decodes the server's message, Raw does not
		return nil, err
	}
	return result.Raw()
}

// CreateObject creates an object of a kind and sets o to it as the cluster stored it.
func (c *Cluster) CreateObject(ctx context.Context, k Kind, o *Object) error {
	o.APIVersion, o.Kind = k.Group+"/"+k.Version, k.name
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	data, err := sendRaw(ctx, c.rest.Post().AbsPath(c.objectPath(k, "")...), body)
	if err == nil {
		err = json.Unmarshal(data, o)
	}
	return c.wrap(err, "create a "+k.name)
}

// FindObject returns the object with that name, or NotFound.
func (c *Cluster) FindObject(ctx context.Context, k Kind, name string) (*Object, error) {
	o := &Object{}
	data, err := sendRaw(ctx, c.rest.Get().AbsPath(c.objectPath(k, name)...), nil)
	if err == nil {
		err = json.Unmarshal(data, o)
	}
	return o, c.wrap(err, "look at the "+k.name)
}

// DeleteObject deletes an object; without error when it is gone. If uid is not empty, it deletes only the object with that UID. The
// cluster deletes the object's pod afterwards.
func (c *Cluster) DeleteObject(ctx context.Context, k Kind, name string, uid types.UID) error {
	ctx, cancel := context.WithTimeout(ctx, DeleteTime)
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
	_, err = sendRaw(ctx, c.rest.Delete().AbsPath(c.objectPath(k, name)...), body)
	err = c.wrap(err, "delete the "+k.name)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}

// objectChange is an object after a change, or the error that ended the watch.
type objectChange struct {
	object *Object
	err    error
}

// followObject sends an object as it is and after each change, until ctx ends.
func (c *Cluster) followObject(ctx context.Context, k Kind, name string) <-chan objectChange {
	out := make(chan objectChange)
	tell := func(one objectChange) {
		select {
		case out <- one:
		case <-ctx.Done():
		}
	}
	go func() {
		for ctx.Err() == nil {
			again := time.After(time.Second) // do not ask a server in a loop that ends each watch at once
			if err := c.watchObject(ctx, k, name, tell); err != nil {
				tell(objectChange{err: err})
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

// watchObject calls tell with the changes of an object until the server ends the watch.
func (c *Cluster) watchObject(ctx context.Context, k Kind, name string, tell func(objectChange)) error {
	body, err := c.rest.Get().AbsPath(c.objectPath(k, "")...).Param("watch", "true").Param("resourceVersion", anyVersion).Param("fieldSelector", "metadata.name="+name).
		SetHeader("Accept", contentJSON).Stream(ctx)
	if err != nil {
		return c.wrap(err, "watch the "+k.name)
	}
	defer body.Close()
	for events := json.NewDecoder(io.LimitReader(body, maxWatched)); ; {
		var event struct {
			Type   string
			Object Object
		}
		if events.Decode(&event) != nil {
			return nil // the watch has ended; the object may still exist
		}
		switch event.Type {
		case "ADDED", "MODIFIED":
			tell(objectChange{object: &event.Object})
		case "DELETED":
			tell(objectChange{err: sandbox.Errorf(sandbox.Closed, "the %s of the sandbox was deleted", k.name)})
		}
	}
}

// maxWatched limits how many bytes of one watch are read.
const maxWatched = 64 << 20

// Ref identifies an object for which a controller creates the pod.
type Ref struct {
	Kind Kind
	Name string
	UID  types.UID
}

// IsUncertain reports whether a request that failed with err may have been executed: the server was reachable but has not
// answered.
func IsUncertain(err error) bool {
	switch sandbox.CodeOf(err) {
	case sandbox.Canceled, sandbox.Timeout, sandbox.Internal:
		return true
	default:
		return false
	}
}

// WithdrawObject deletes an object whose creation failed with err, if it may exist all the same.
func (c *Cluster) WithdrawObject(ctx context.Context, k Kind, name string, err error) error {
	if !IsUncertain(err) {
		return nil
	}
	return c.DeleteObject(context.WithoutCancel(ctx), k, name, "")
}

// AwaitPod waits for the pod of that name which a controller creates for an object. Unavailable: there is none after [Patience].
func (c *Cluster) AwaitPod(ctx context.Context, m Ref, name string) (*corev1.Pod, error) {
	pods, stop, err := c.follow(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: anyVersion}})
	if err != nil {
		return nil, err
	}
	defer stop()
	pod, _, err := c.awaitController(ctx, m, pods)
	return pod, err
}

// AwaitSandbox waits until a SandboxClaim was given a Sandbox, and returns the Sandbox's name.
func (c *Cluster) AwaitSandbox(ctx context.Context, m Ref) (string, error) {
	_, name, err := c.awaitController(ctx, m, nil)
	return name, err
}

// awaitController waits for what a controller does for an object: if pods is nil, it returns the name of the Sandbox that the object
// was given, else the pod that the object controls. Unavailable: there is neither after [Patience].
func (c *Cluster) awaitController(ctx context.Context, m Ref, pods <-chan podChange) (pod *corev1.Pod, sandboxName string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	objects := c.followObject(ctx, m.Kind, m.Name)
	late := time.After(Patience)
	var ready *metav1.Condition
	for {
		select {
		case change := <-pods:
			if change.err != nil {
				return nil, "", change.err
			}
			if ControllerOf(change.pod.OwnerReferences) == m.UID {
				return change.pod, "", nil
			}
		case change := <-objects:
			if change.err != nil {
				return nil, "", change.err
			}
			if given := change.object.Status.Sandbox.Name; given != "" && pods == nil {
				return nil, given, nil
			}
			ready = change.object.condition(readyCondition)
			if err := refusalError(m.Kind, ready); err != nil {
				return nil, "", err
			}
		case <-late:
			return nil, "", noPodError(m.Kind, ready)
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		}
	}
}

// refusalError returns the reason why a controller will not create a pod; nil: it may still do so.
func refusalError(k Kind, ready *metav1.Condition) error {
	if ready == nil || ready.Status != metav1.ConditionFalse {
		return nil
	}
	text := Line(ready.Message)
	fail := func(code sandbox.Code, hint string) error {
		return sandbox.Errorf(code, "the controller of the %s makes no pod: %s: %s", k.name, ready.Reason, text).WithHint("%s", hint)
	}
	switch ready.Reason {
	case "WarmPoolNotFound", "TemplateNotFound":
		return fail(sandbox.NotFound, "'kubectl get sandboxwarmpools,sandboxtemplates' lists the pools and templates")
	case "InvalidMetadata", "EnvVarsInjectionRejected", "VolumeClaimTemplatesError":
		return fail(sandbox.Invalid, "")
	case "SandboxExpired", "ClaimExpired", "MultiplePods":
		return fail(sandbox.Closed, "")
	case "ReconcilerError":
		if code, hint := classifyText(text); code != sandbox.Internal {
			return fail(code, hint)
		}
	}
	return nil
}

// noPodError is the error of an object whose controller has created no pod in time.
func noPodError(k Kind, ready *metav1.Condition) error {
	if ready == nil {
		return sandbox.Errorf(sandbox.Unavailable, "no pod for the %s after %s: its controller does not run", k.name, Patience).
			WithHint("see whether agent-sandbox-controller runs in the cluster")
	}
	return sandbox.Errorf(sandbox.Unavailable, "the controller of the %s created no pod in %s: %s: %s", k.name, Patience, ready.Reason, Line(ready.Message))
}
