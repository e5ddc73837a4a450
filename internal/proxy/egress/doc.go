// Package egress is the proxy through which a sandbox with an allow-list reaches the network. It runs on
// the host, in the process of agent-sandbox, and speaks HTTP (CONNECT and plain requests)
// and SOCKS5 on one port.
//
// [New] makes a [Proxy] of the rules of package policy/hosts, and [Proxy.Serve] answers the connections
// of one listener until its context ends. The sandbox has no other route: when the proxy ends, the
// sandbox has no network.
//
// All received data is hostile. A host is parsed once, by hosts.ParseHost, and the same value is
// matched, resolved and compared with the TLS server name, so two parsers can never disagree about it. A
// name is resolved once, and only the addresses that were checked are connected to.
//
// # What it cannot see
//
// Inside TLS that is not inspected, the proxy knows only the server name. If a server answers for
// several names (a CDN), a client can request another one there, with an inner Host header or with
// Encrypted Client Hello. Hosts with method or path rules, and hosts that secrets are bound to, are
// therefore always inspected. On ports that a rule names without a scheme, and that are neither 80 nor
// 443, a stream that does not begin as TLS is forwarded without inspection. A placeholder is not found
// there; this is harmless, because a placeholder is not the secret. A server to which a secret is bound
// receives the secret, and could send it back.
package egress
