module github.com/seed434b0696/agent-sandbox/build/tools/docs

go 1.26

require github.com/yuin/goldmark v1.8.7
