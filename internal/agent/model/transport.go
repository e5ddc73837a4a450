package model

import (
	"net"
	"net/http"
	"time"
)

// httpClient returns the client of opt, changed so that it follows no redirect: one to another host would get the key.
func httpClient(opt Options) (*http.Client, *http.Transport) {
	var client http.Client
	var own *http.Transport
	if opt.HTTP != nil {
		client = *opt.HTTP
	} else {
		own = &http.Transport{
			Proxy:                  opt.Proxy,
			DialContext:            (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    15 * time.Second,
			ForceAttemptHTTP2:      true,
			MaxIdleConns:           256,
			MaxIdleConnsPerHost:    128,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 256 << 10,
		}
		client.Transport = own
	}
	client.Timeout = 0 // a stream lasts as long as Options.Timeout says
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client, own
}
