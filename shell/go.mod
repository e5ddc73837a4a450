module github.com/seed434b0696/agent-sandbox/shell

go 1.26.0

require (
	github.com/seed434b0696/agent-sandbox v0.0.0
	github.com/seed434b0696/agent-sandbox/coreutils v0.0.0
)

replace (
	github.com/seed434b0696/agent-sandbox => ../
	github.com/seed434b0696/agent-sandbox/coreutils => ../coreutils
)
