package dialect

import (
	"fmt"
	"net/http"
)

// Fault is an error that an API tells.
type Fault struct {
	Status  int    // of HTTP; 0: in the middle of a stream, the server gave none
	Type    string // in the words of the API that it comes from; "": by Status
	Code    string // more exactly; "": there is none
	Message string
}

// Error is the message.
func (f *Fault) Error() string { return f.Message }

// invalid is a request that cannot be.
func invalid(format string, args ...any) *Fault {
	return &Fault{Status: http.StatusBadRequest, Message: clip(fmt.Sprintf(format, args...), 1<<10)}
}

// garbage is a stream that is none of its API's.
func garbage(format string, args ...any) *Fault {
	return &Fault{Status: http.StatusBadGateway, Code: "bad_answer", Message: clip(fmt.Sprintf(format, args...), 1<<10)}
}

// anthropicType is the type of an error in Anthropic's words.
func anthropicType(status int) string {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
		return "invalid_request_error"
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case http.StatusServiceUnavailable, 529:
		return "overloaded_error"
	}
	return "api_error"
}

// openaiType is the type of an error in OpenAI's words.
func openaiType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 400 && status < 500:
		return "invalid_request_error"
	}
	return "server_error"
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
