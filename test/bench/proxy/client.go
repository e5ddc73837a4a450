package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

// The ways in which the client downloads.
const (
	direct   = "direct"
	tunneled = "tunneled"
	plain    = "plain"
)

// serveClient downloads once, and prints how long that took: MANNER SOURCE SIZE.
func serveClient(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errors.New("the client needs a manner, an address and a size")
	}
	size, err := strconv.ParseInt(args[2], 10, 64)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := download(ctx, args[0], args[1], size); err != nil {
		return err
	}
	fmt.Println(time.Since(begin))
	return nil
}

// download reads one response to its end, and discards it.
func download(ctx context.Context, manner, source string, size int64) error {
	addr, target, fields := source, "", ""
	if manner != direct {
		proxy, err := url.Parse(os.Getenv("HTTP_PROXY"))
		if err != nil || proxy.Host == "" {
			return errors.New("HTTP_PROXY names no proxy")
		}
		addr = proxy.Host
		if proxy.User != nil {
			password, _ := proxy.User.Password()
			credentials := base64.StdEncoding.EncodeToString([]byte(proxy.User.Username() + ":" + password))
			fields = "Proxy-Authorization: Basic " + credentials + "\r\n"
		}
	}
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	switch manner {
	case tunneled:
		if err := tunnel(c, source, fields); err != nil {
			return err
		}
		fields = ""
	case plain:
		target = "http://" + source
	}
	if _, err := fmt.Fprintf(c, "GET %s/%d HTTP/1.1\r\nHost: %s\r\n%s\r\n", target, size, source, fields); err != nil {
		return err
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, res.Body, make([]byte, 256<<10))
	if err != nil || n != size || res.StatusCode != http.StatusOK {
		return errors.Join(fmt.Errorf("%s with %d bytes", res.Status, n), err)
	}
	return nil
}

// tunnel requests a connection from the proxy at the other end of c.
func tunnel(c net.Conn, to, fields string) error {
	if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n%s\r\n", to, fields); err != nil {
		return err
	}
	// The source sends nothing before it gets a request, so the reader has buffered
	// none of its data.
	res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the proxy answered %s", res.Status)
	}
	return nil
}
