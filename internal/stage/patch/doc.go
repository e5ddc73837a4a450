// Package patch describes changes between two trees and writes them as a patch that git apply and patch -p1 accept.
package patch
