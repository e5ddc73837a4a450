// Package repo describes the Docker sandbox of a repository: the names of its containers and volumes, the content of its
// .agent-sandbox directory, and the worktrees of its branches in a volume.
package repo
