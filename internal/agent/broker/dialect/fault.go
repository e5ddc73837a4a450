package dialect

import (
	"fmt"
	"net/http"
)

// Fault is an error that an API reports.
type Fault struct {
	Status  int    // HTTP status; 0: the error came within a stream, without a status
	Type    string // the API's own name of the error; "": derived from Status
	Code    string // a more exact reason; "": none
	Message string
}

// Error returns the message.
func (f *Fault) Error() string { return f.Message }

// invalid returns the fault of an invalid request.
func invalid(format string, args ...any) *Fault {
	return &Fault{Status: http.StatusBadRequest, Message: clip(fmt.Sprintf(format, args...), 1<<10)}
}

// garbage returns the fault of a stream that does not follow its API.
func garbage(format string, args ...any) *Fault {
	return &Fault{Status: http.StatusBadGateway, Code: "bad_answer", Message: clip(fmt.Sprintf(format, args...), 1<<10)}
}

// anthropicType returns Anthropic's error type for a status.
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

// openaiType returns OpenAI's error type for a status.
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
