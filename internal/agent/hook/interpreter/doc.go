// Package interpreter compiles and runs hooks: esbuild bundles TypeScript and modules into one script, and goja runs it.
// Only the worker program, tests and benchmarks link it, because goja calls methods by name: in a program that does
// so the linker keeps every exported method.
package interpreter
