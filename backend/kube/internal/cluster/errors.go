package cluster

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/seed434b0696/agent-sandbox/backend/kube/internal/names"
	"github.com/seed434b0696/agent-sandbox/internal/guest/session"
	"github.com/seed434b0696/agent-sandbox/sandbox"
)

// doctorHint is the hint for requests that the cluster forbids.
const doctorHint = "'agent-sandbox doctor --backend kube' prints the Role that is needed"

// quotaHint is the hint where a quota refuses a pod. The quota counts all containers of the pod.
const quotaHint = "lower --limit memory and cpu, or wait until others have ended; of what was requested, " +
	names.DoorCPU + " processors and " + names.DoorMemory + " of memory are for the pod's second container"

// maxText limits how many bytes of a text from the cluster an error repeats.
const maxText = 600

// OneLine returns an error with the text of err as one printable line.
func OneLine(err error) error { return errors.New(Line(err.Error())) }

// Line returns a text from the cluster as one short printable line.
func Line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxText {
		s = s[:maxText] + "..."
	}
	return session.Printable(s)
}

// wrap turns an error of the API into a [sandbox.Error]; nil stays nil. what names the request.
func (c *Cluster) wrap(err error, what string) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		if errors.Is(e, errNotKubernetes) {
			return e // without the request's address around it
		}
		return err
	}
	text := Line(err.Error())
	code, hint := classifyError(err, text)
	if code == sandbox.Unavailable {
		return sandbox.Errorf(code, "no answer from the cluster at %s: %s", c.config.Host, text).WithHint("%s", hint)
	}
	return sandbox.Errorf(code, "%s in namespace %s: %s", what, c.Namespace, text).WithHint("%s", hint)
}

// classifyError returns the code and the hint for an error of the API.
func classifyError(err error, text string) (code sandbox.Code, hint string) {
	var dial *net.OpError
	var fetch *url.Error
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case apierrors.IsUnauthorized(err), has("Unauthorized"), has("getting credentials"):
		return sandbox.Denied, "the credentials are wrong or have expired: log in again, or choose another --context"
	case apierrors.IsForbidden(err) && has("exceeded quota"):
		return sandbox.Exhausted, quotaHint
	case apierrors.IsForbidden(err) && has(" usage per "):
		return sandbox.Exhausted, "the namespace's LimitRange sets this limit: ask for less with --limit"
	case apierrors.IsForbidden(err) && has("PodSecurity"):
		return sandbox.Denied, "the namespace takes no such pod"
	case apierrors.IsForbidden(err) && has("RuntimeClass"):
		return sandbox.NotFound, "'kubectl get runtimeclasses' lists the classes"
	case apierrors.IsForbidden(err) && has("namespace") && has("not found"), apierrors.IsNotFound(err):
		return sandbox.NotFound, "name another one with --namespace"
	case apierrors.IsForbidden(err), has("forbidden"):
		return sandbox.Denied, doctorHint
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		return sandbox.Invalid, ""
	case apierrors.IsAlreadyExists(err), apierrors.IsConflict(err):
		return sandbox.Exists, ""
	case apierrors.IsTooManyRequests(err), apierrors.IsServerTimeout(err), apierrors.IsServiceUnavailable(err), apierrors.IsTimeout(err):
		return sandbox.Unavailable, "try again"
	case errors.As(err, &dial), errors.As(err, &fetch), has("connection refused"), has("x509:"), has("no such host"):
		return sandbox.Unavailable, "see whether 'kubectl version' reaches it, or choose another --context"
	}
	return sandbox.Internal, ""
}

// classifyText is classifyError for an error that a controller reported as text. Internal: the error may be temporary.
func classifyText(text string) (code sandbox.Code, hint string) {
	has := func(part string) bool { return strings.Contains(text, part) }
	switch {
	case has("exceeded quota"):
		return sandbox.Exhausted, quotaHint
	case has("PodSecurity"):
		return sandbox.Denied, "the namespace takes no such pod"
	case has("forbidden"):
		return sandbox.Denied, "give the controller the right, or let pods be made"
	case has("is invalid"):
		return sandbox.Invalid, ""
	}
	return sandbox.Internal, ""
}

// IsCreateForbidden reports whether err means that the credentials do not allow to create an object, or that the cluster does not
// have its kind.
func IsCreateForbidden(err error) bool {
	code := sandbox.CodeOf(err)
	return code == sandbox.NotFound || code == sandbox.Denied && strings.Contains(err.Error(), "cannot create resource")
}
