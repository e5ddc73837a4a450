// Package mcp implements clients and servers of the Model Context Protocol.
//
// A [Set] has the tools of an assistant's servers, which run on this host; [Sessions] keep sets open between the requests of a
// chat. For a coding agent inside a sandbox the same tools are one server: [Serve] answers over a byte
// stream, such as a connection from the sandbox to a listener of ours, and a [Bridge] answers message by message,
// for agents that embed the protocol in their own. [ServeBox] serves a sandbox to any client.
//
// The user chooses the servers, but their messages are hostile all the same: each length and count is
// bounded.
package mcp
