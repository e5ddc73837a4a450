// Package repo gives each repository a sandbox over Docker of its own: the names of its containers and volumes, what
// its .agent-sandbox directory says, and the worktrees that its branches have in a volume of their own.
package repo
