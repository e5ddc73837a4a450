package model

import (
	"net"
	"net/http"
	"time"
)

// httpClient is the client of opt that follows no redirect: one that leads to another host would take the key there.
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
