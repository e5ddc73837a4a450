module github.com/seed434b0696/agent-sandbox

go 1.26
