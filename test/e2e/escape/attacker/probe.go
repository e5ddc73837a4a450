//go:build linux

package attacker

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/seed434b0696/agent-sandbox/test/e2e/escape/testnet"
)

// Probe is one attempt on the proxy.
type Probe struct {
	Name string
	Good bool // it must be allowed; if it fails, the other probes prove nothing

	Via    string // "connect", "socks", "socks4", or "plain": a request to the proxy
	To     string // HOST:PORT of a tunnel; for socks HOST may be an address in []; for plain a URL
	Inner  string // of CONNECT instead of To
	Expect string // in an answer that shows success; "": the answer of a forbidden server

	TLS      bool
	SNI      string // of TLS; "-": none
	Swap     string // replaces SNI in the ClientHello; it has the same length
	Pieces   int    // size of the records into which the ClientHello is split
	Protocol string // ALPN

	Method string // GET
	Target string // "/"
	Host   string // of the request; empty: that of To
	Fields string // lines that end in CRLF
	Body   string
	Raw    string // replaces the whole request
	Base64 []byte // the same, with arbitrary bytes
}

// ProbeArgs returns the arguments with which Main makes probes.
func ProbeArgs(list ...Probe) []string {
	args := []string{"probe"}
	for _, p := range list {
		text, err := json.Marshal(p)
		if err != nil {
			panic(err)
		}
		args = append(args, base64.StdEncoding.EncodeToString(text))
	}
	return args
}

// attackProbe runs the probes of ProbeArgs.
func attackProbe(args []string) {
	for _, arg := range args {
		p, err := parseProbe(arg)
		if err != nil {
			fmt.Println("BROKEN", err)
			return
		}
		p.run()
	}
}

func parseProbe(arg string) (p Probe, err error) {
	text, err := base64.StdEncoding.DecodeString(arg)
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	return p, err
}

func (p *Probe) run() {
	if p.Name == "" {
		p.Name = strings.Join(strings.Fields(fmt.Sprintf("%s %q %s %s %.60q %.60q", p.Via, p.To, p.SNI, p.Host, p.Fields, p.Raw)), " ")
	}
	answer, err := p.answer()
	seen := fmt.Sprintf("%v %.200q", err, answer)
	want := testnet.Forbidden
	if p.Expect != "" {
		want = p.Expect
	}
	switch {
	case p.Good && strings.Contains(answer, testnet.Permitted):
		fmt.Println("passed", p.Name)
	case p.Good:
		fmt.Println("BROKEN", p.Name+":", seen)
	case strings.Contains(answer, want):
		report(p.Name, nil)
	default:
		report(p.Name, errors.New(seen))
	}
}

// answer returns all received data.
func (p *Probe) answer() (string, error) {
	c, err := (&net.Dialer{Timeout: testnet.DialTimeout}).Dial("tcp", testnet.ProxyAddr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * testnet.DialTimeout))
	got, err := p.open(c)
	if err != nil {
		return got, err
	}
	stream := c
	if p.TLS {
		if stream, err = p.handshake(c); err != nil {
			return got, err
		}
	}
	if _, err := stream.Write(p.request()); err != nil {
		return got, err
	}
	more, err := readVerdict(stream, p.Expect)
	return got + more, err
}

// open requests a tunnel.
func (p *Probe) open(c net.Conn) (string, error) {
	switch p.Via {
	case "connect":
		host := p.Inner
		if host == "" {
			host = p.To
		}
		if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", p.To, host); err != nil {
			return "", err
		}
		return readUntil(c, "\r\n\r\n", " 200 ")
	case "socks":
		if _, err := c.Write(append([]byte{5, 1, 0}, p.socksRequest()...)); err != nil {
			return "", err
		}
		return readUntil(c, "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00", "\x05\x00\x05\x00")
	case "socks4":
		host, port := p.hostPort()
		request := []byte{4, 1, byte(port >> 8), byte(port), 0, 0, 0, 1, 0}
		if _, err := c.Write(append(append(request, host...), 0)); err != nil {
			return "", err
		}
		return readUntil(c, "\x00\x5a\x00\x00\x00\x00\x00\x00", "\x00\x5a")
	}
	return "", nil
}

func (p *Probe) hostPort() (string, int) {
	i := strings.LastIndexByte(p.To, ':')
	if i < 0 {
		return p.To, 80
	}
	port, _ := strconv.Atoi(p.To[i+1:])
	return p.To[:i], port
}

func (p *Probe) socksRequest() []byte {
	host, port := p.hostPort()
	out := []byte{5, 1, 0, 3, byte(len(host))}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && host[0] == '[' {
		out = []byte{5, 1, 0, 1}
		if addr.Is6() {
			out[3] = 4
		}
		host = string(addr.AsSlice())
	}
	return append(append(out, host...), byte(port>>8), byte(port))
}

func (p *Probe) request() []byte {
	switch {
	case p.Base64 != nil:
		return p.Base64
	case p.Raw != "":
		return []byte(p.Raw)
	}
	method, target, host := p.Method, p.Target, p.Host
	if method == "" {
		method = "GET"
	}
	if p.Via == "plain" && target == "" {
		target = p.To
	}
	if target == "" {
		target = "/"
	}
	if host == "" {
		_, rest, ok := strings.Cut(p.To, "://")
		if !ok {
			rest = p.To
		}
		host, _, _ = strings.Cut(rest, "/")
	}
	return []byte(method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + p.Fields + "\r\n" + p.Body)
}

// handshake performs a TLS handshake without verifying the server.
func (p *Probe) handshake(c net.Conn) (net.Conn, error) {
	config := &tls.Config{InsecureSkipVerify: true, ServerName: p.SNI} //nolint:gosec // the attacker trusts every server
	switch p.SNI {
	case "":
		config.ServerName, _ = p.hostPort()
	case "-":
		config.ServerName = ""
	}
	if p.Protocol != "" {
		config.NextProtos = []string{p.Protocol}
	}
	inner := tls.Client(&helloConn{Conn: c, probe: p}, config)
	if err := inner.HandshakeContext(context.Background()); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return inner, nil
}

// helloConn changes the first record, which is the ClientHello.
type helloConn struct {
	net.Conn

	probe *Probe
	begun bool
}

// Write forwards data; it changes the first record as the probe says.
func (h *helloConn) Write(b []byte) (int, error) {
	if h.begun || len(b) < 5 {
		return h.Conn.Write(b)
	}
	h.begun = true
	record := b
	if h.probe.Swap != "" {
		record = bytes.Replace(b, []byte(h.probe.SNI), []byte(h.probe.Swap), 1)
	}
	if n := h.probe.Pieces; n > 0 {
		var out []byte
		for rest := record[5:]; len(rest) > 0; rest = rest[min(n, len(rest)):] {
			piece := rest[:min(n, len(rest))]
			out = append(append(out, record[0], record[1], record[2], byte(len(piece)>>8), byte(len(piece))), piece...)
		}
		record = out
	}
	_, err := h.Conn.Write(record)
	return len(b), err
}

// readUntil reads up to end, and fails if the text lacks sign.
func readUntil(c net.Conn, end, sign string) (string, error) {
	var all []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(all, []byte(end)) {
		if _, err := c.Read(one); err != nil {
			return string(all), err
		}
		all = append(all, one...)
		if len(all) >= len(sign) && sign[0] < ' ' && !strings.HasPrefix(string(all), sign) {
			break
		}
	}
	if !strings.Contains(string(all), sign) {
		rest, _ := io.ReadAll(c)
		return string(all) + string(rest), errors.New("refused")
	}
	return string(all), nil
}

// readVerdict reads to the end, to Forbidden or expect, or until the server is silent for a while.
func readVerdict(c net.Conn, expect string) (string, error) {
	var all []byte
	buf := make([]byte, 4096)
	for {
		wait := testnet.DialTimeout
		if len(all) > 0 {
			wait = testnet.DialTimeout / 6
		}
		_ = c.SetReadDeadline(time.Now().Add(wait))
		n, err := c.Read(buf)
		all = append(all, buf[:n]...)
		if strings.Contains(string(all), testnet.Forbidden) || expect != "" && strings.Contains(string(all), expect) {
			return string(all), nil
		}
		if err != nil {
			return string(all), err
		}
	}
}
