package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// cluster is the API server, and the namespace in which our pods are.
type cluster struct {
	config    *rest.Config
	rest      rest.Interface
	params    runtime.ParameterCodec
	context   string // its name in the kubeconfig; empty: this process is a pod of it
	namespace string
	imageless atomic.Bool // the server has no image volumes
	discovery discovery
}

// silence keeps the client library from writing to standard error: what goes wrong comes back as an error, too. Its
// logger belongs to the process, which may use it already when another driver begins.
var silence = sync.OnceFunc(func() { klog.SetLogger(logr.Discard()) })

// openCluster finds a cluster as kubectl does: the kubeconfig that KUBECONFIG names, or the one of the home directory, with
// its credential plugins; and without any, the cluster in which this process is a pod. It asks nobody.
func openCluster(o Options) (*cluster, error) {
	silence()
	rules := &clientcmd.ClientConfigLoadingRules{Precedence: kubeconfigs(o.Env), WarnIfAllMissing: false}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	config, err := loader.ClientConfig()
	if err != nil {
		if clientcmd.IsEmptyConfig(err) {
			return nil, sandbox.Errorf(sandbox.Unavailable, "no cluster: there is no kubeconfig").WithHint("name one in KUBECONFIG")
		}
		return nil, sandbox.Errorf(sandbox.Invalid, "kubeconfig: %w", oneLine(err)).WithHint("'kubectl config get-contexts' lists what there is")
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "kubeconfig: %w", oneLine(err))
	}
	namespace := o.Namespace
	if namespace == "" {
		if namespace, _, err = loader.Namespace(); err != nil {
			return nil, sandbox.Errorf(sandbox.Invalid, "kubeconfig: %w", oneLine(err))
		}
	}
	config.QPS = -1 // the server has its own fairness
	config.UserAgent = "agent-sandbox"
	config.WarningHandler = rest.NoWarnings{}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	metav1.AddToGroupVersion(scheme, corev1.SchemeGroupVersion)
	config.APIPath, config.GroupVersion = "/api", &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, sandbox.Errorf(sandbox.Invalid, "kubeconfig: %w", oneLine(err))
	}
	return &cluster{config: config, rest: client, params: runtime.NewParameterCodec(scheme), context: cmp.Or(o.Context, raw.CurrentContext), namespace: namespace}, nil
}

func kubeconfigs(env []string) []string {
	var home string
	for _, kv := range env {
		if list, ok := strings.CutPrefix(kv, "KUBECONFIG="); ok && list != "" {
			return filepath.SplitList(list)
		}
		if v, ok := strings.CutPrefix(kv, "HOME="); ok {
			home = v
		}
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, ".kube", "config")}
}

// send is a request about an object of a kind that the client does not know, in JSON: each that it knew would be in every
// program. A nil in sends none, a nil out reads none.
func (c *cluster) send(ctx context.Context, r *rest.Request, in, out any, what string) error {
	r = r.SetHeader("Accept", "application/json")
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return err
		}
		r = r.SetHeader("Content-Type", "application/json").Body(body)
	}
	data, err := r.Do(ctx).Raw()
	if err == nil && out != nil {
		err = json.Unmarshal(data, out)
	}
	return c.wrap(err, what)
}

// createPod returns the pod as it was made. With "All" as dryRun none is, and it is what would have been.
func (c *cluster) createPod(ctx context.Context, pod *corev1.Pod, dryRun ...string) (*corev1.Pod, error) {
	made := &corev1.Pod{}
	options := &metav1.CreateOptions{DryRun: dryRun}
	err := c.rest.Post().Namespace(c.namespace).Resource("pods").VersionedParams(options, c.params).Body(pod).Do(ctx).Into(made)
	return made, c.wrap(err, "create a pod")
}

func (c *cluster) pod(ctx context.Context, name string) (*corev1.Pod, error) {
	found := &corev1.Pod{}
	err := c.rest.Get().Namespace(c.namespace).Resource("pods").Name(name).Do(ctx).Into(found)
	return found, c.wrap(err, "look at the pod")
}

// name puts a sandbox's name, which is for people, on its pod. Who may not change pods leaves them without.
func (c *cluster) name(ctx context.Context, pod, name string) error {
	if name == "" {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{annotationName: name}}})
	if err != nil {
		return err
	}
	err = c.rest.Patch(types.MergePatchType).Namespace(c.namespace).Resource("pods").Name(pod).Body(patch).Do(ctx).Error()
	if err = c.wrap(err, "name the pod"); sandbox.CodeOf(err) == sandbox.Denied {
		return nil
	}
	return err
}

// deleteTime is how long a cluster gets to answer that a pod is deleted, by callers who wait for nothing else.
const deleteTime = 30 * time.Second

// withdraw deletes the pod that may have been made although nobody has told us so, and nobody else's of its name.
func (c *cluster) withdraw(ctx context.Context, pod *corev1.Pod, err error) error {
	switch sandbox.CodeOf(err) {
	case sandbox.Canceled, sandbox.Timeout, sandbox.Internal:
	default: // an answer, or nobody to ask
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTime)
	defer cancel()
	found, err := c.pod(ctx, pod.Name)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	if err != nil || found.Annotations[annotationMaker] != pod.Annotations[annotationMaker] {
		return err
	}
	return c.deletePod(ctx, found.Name, found.UID)
}

// deletePod removes that very pod at once; one that is gone is fine. Without a UID it is whatever has the name.
func (c *cluster) deletePod(ctx context.Context, name string, uid types.UID) error {
	ctx, cancel := context.WithTimeout(ctx, deleteTime)
	defer cancel()
	now := int64(0)
	options := &metav1.DeleteOptions{GracePeriodSeconds: &now}
	if uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	err := c.rest.Delete().Namespace(c.namespace).Resource("pods").Name(name).Body(options).Do(ctx).Error()
	err = c.wrap(err, "delete the pod")
	if sandbox.CodeOf(err) == sandbox.NotFound {
		return nil
	}
	return err
}

// watch follows what a field selector says.
func (c *cluster) watch(ctx context.Context, resource, fields, version string) (watch.Interface, error) {
	options := &metav1.ListOptions{FieldSelector: fields, ResourceVersion: version, Watch: true}
	w, err := c.rest.Get().Namespace(c.namespace).Resource(resource).VersionedParams(options, c.params).Watch(ctx)
	return w, c.wrap(err, "watch "+resource)
}
