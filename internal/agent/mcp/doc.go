// Package mcp speaks the Model Context Protocol, both ways.
//
// A [Set] has the tools of an assistant's servers, which run on this host; [Sessions] keep sets open from one request of a
// chat to the next. Towards a coding agent inside a sandbox the same tools are one server: [Serve] answers over a byte
// stream, such as a connection that the sandbox makes to a listener of ours, and a [Bridge] answers message by message,
// for agents that carry the protocol within their own. [ServeBox] is the other way round: a sandbox, as a server for any
// client.
//
// Servers are programs that the user has chosen, but what they send is hostile all the same: each length and count is
// bounded.
package mcp
