package curl

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// Exit statuses of curl, see EXIT CODES in curl(1).
const (
	codeProtocol   = 1
	codeUsage      = 2
	codeURL        = 3
	codeResolve    = 6
	codeConnect    = 7
	codePartial    = 18
	codeHTTP       = 22
	codeWrite      = 23
	codeRead       = 26
	codeMemory     = 27
	codeTimeout    = 28
	codeRange      = 33
	codeTLS        = 35
	codeFile       = 37
	codeRedirects  = 47
	codeEmpty      = 52
	codeSend       = 55
	codeReceive    = 56
	codeCert       = 58
	codeVerify     = 60
	codeEncoding   = 61
	codeTooLarge   = 63
	codeRewind     = 65
	codeCACert     = 77
	statusNoMemory = 27
)

// fault is the error of a transfer.
type fault struct {
	code int
	text string
	err  error // what it comes from; may be nil
}

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return f.err }

func failed(code int, format string, args ...any) *fault {
	return &fault{code: code, text: fmt.Sprintf(format, args...)}
}

var errBadURL = &fault{code: codeURL, text: "URL using bad/illegal format or missing URL"}

// dialFault returns the fault of a failed connection.
func dialFault(err error, host string, port uint16, ms int64) *fault {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && !dns.IsTimeout:
		return &fault{codeResolve, "Could not resolve host: " + host, err}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return &fault{codeTimeout, fmt.Sprintf("Connection timed out after %d milliseconds", ms), err}
	}
	return &fault{codeConnect, fmt.Sprintf("Failed to connect to %s port %d after %d ms: Couldn't connect to server", host, port, ms), err}
}

// receiveFault returns the fault of a failed read; the caller handles the end of the stream.
func receiveFault(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE) {
		return &fault{codeReceive, "Recv failure: Connection reset by peer", err}
	}
	if alert, ok := errors.AsType[tls.AlertError](err); ok {
		return &fault{codeReceive, "OpenSSL SSL_read: " + alertText(uint8(alert)), err}
	}
	return &fault{codeReceive, "Failure when receiving data from the peer", err}
}

// tlsFault words a handshake that failed, as curl with OpenSSL does.
func tlsFault(err error, host string) *fault {
	if text := verifyText(err, host); text != "" {
		return &fault{codeVerify, text, err}
	}
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &record):
		return &fault{codeTLS, "OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number", err}
	case errors.As(err, &alert):
		return &fault{codeTLS, "OpenSSL/3.0.19: " + alertText(uint8(alert)), err}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe):
		return &fault{codeTLS, "OpenSSL SSL_connect: SSL_ERROR_SYSCALL in connection to " + host + ":443 ", err}
	case errors.Is(err, syscall.ECONNRESET):
		return &fault{codeTLS, "OpenSSL SSL_connect: Connection reset by peer in connection to " + host + ":443 ", err}
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "remote error" {
		return &fault{codeTLS, "OpenSSL/3.0.19: " + remoteAlert(op.Err.Error()), err}
	}
	return &fault{codeTLS, "TLS connect error: " + err.Error(), err}
}

// verifyText returns the reason why a certificate is not trusted; "" for other errors.
func verifyText(err error, host string) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &unknown):
		if c := unknown.Cert; c != nil && c.Issuer.String() == c.Subject.String() && c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil {
			return "SSL certificate problem: self-signed certificate"
		}
		return "SSL certificate problem: unable to get local issuer certificate"
	case errors.As(err, &name):
		return "SSL: no alternative certificate subject name matches target host name '" + host + "'"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		if strings.Contains(invalid.Detail, "not yet valid") || strings.Contains(invalid.Detail, "is before") {
			return "SSL certificate problem: certificate is not yet valid"
		}
		return "SSL certificate problem: certificate has expired"
	case errors.As(err, &invalid):
		return "SSL certificate problem: unsuitable certificate purpose"
	}
	return ""
}

// alertText returns OpenSSL's name of an alert of RFC 8446 §6.
func alertText(alert uint8) string {
	names := map[uint8]string{
		10: "unexpected message", 20: "bad record mac", 40: "handshake failure", 42: "bad certificate", 43: "unsupported certificate",
		44: "certificate revoked", 45: "certificate expired", 46: "certificate unknown", 47: "illegal parameter", 48: "unknown ca",
		49: "access denied", 50: "decode error", 51: "decrypt error", 70: "protocol version", 71: "insufficient security",
		80: "internal error", 112: "unrecognized name", 116: "certificate required", 120: "no application protocol",
	}
	name := names[alert]
	if name == "" {
		name = fmt.Sprint("reason(", 1000+int(alert), ")")
	}
	kind := "sslv3"
	if alert == 20 || alert >= 48 {
		kind = "tlsv1"
	}
	if alert == 116 {
		kind = "tlsv13"
	}
	return fmt.Sprintf("error:0A%06X:SSL routines::%s alert %s", 1000+int(alert), kind, name)
}

// remoteAlert finds the number of an alert, of which crypto/tls returns only the text.
func remoteAlert(text string) string {
	text = strings.TrimPrefix(text, "tls: ")
	for n := range uint8(128) {
		if tls.AlertError(n).Error() == "tls: "+text {
			return alertText(n)
		}
	}
	return "error:0A000000:SSL routines::" + text
}

// moreHelp follows a certificate that was not trusted.
const moreHelp = `More details here: https://curl.se/docs/sslcerts.html

curl failed to verify the legitimacy of the server and therefore could not
establish a secure connection to it. To learn more about this situation and
how to fix it, please visit the web page mentioned above.
`
