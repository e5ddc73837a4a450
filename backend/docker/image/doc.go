// Package image reads what a sandbox needs to know of a container image: its accounts, search path and programs.
package image
