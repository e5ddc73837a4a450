package coreutils

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fileSamples are files as printf's %b writes them.
const fileSamples = `#!/usr/bin/sh\n
#!/usr/bin/env sh\n
#! /bin/sh -e\n
#!/bin/sh
#!/bin/bash -eu\n
#!/usr/bin/bash\n
#! /bin/bash\n
#!\t/bin/bash\n
#!/usr/bin/env zsh\n
#!/usr/bin/zsh\n
#!/usr/bin/env fish\n
#!/usr/bin/fish\n
#!/usr/bin/env ruby\n
#!/usr/bin/ruby\n
#!/usr/bin/env php\n
#!/usr/bin/env lua\n
#!/usr/bin/node\n
#!/usr/local/bin/node\n
#!/usr/bin/env deno run\n
#!/usr/bin/env python\n
#!/usr/local/bin/python3\n
#!/usr/bin/python3 -u\n
#!/usr/bin/gawk -f\n
#!/usr/bin/env awk -f\n
#!/usr/bin/env -S awk -f\n
#!/usr/bin/nawk -f\n
#!/usr/bin/mawk -f\n
#!/usr/bin/env tclsh\n
#!/usr/bin/env Rscript\n
#!/usr/bin/csh\n
#!/bin/csh\n
#!/usr/bin/env ksh\n
#!/usr/bin/perl\n
#!/usr/bin/env perl -w\n
#!/usr/local/bin/perl\n
#!/usr/bin/env -S bash -e\n
#!/usr/bin/env -S python3\n
#!\n
#! \n
#!/bin/shx\n
#!/bin/env bash\n
#!/usr/bin/env  bash\n
#!/usr/bin/jq -f\n
#!/nix/store/x/bin/bash\n
#!/data/data/com.termux/files/usr/bin/bash\n
eval "exec perl"\n
import os\n
import os, sys\n
from os import path\n
def f(x):\n    return x\n
"""Doc."""\nimport os\n
#!/usr/bin/python3\nimport os\ncaf\303\251\n
#include "x.h"\n
/* c */\n#include <a.h>\n
// c\n#include <a.h>\n
#ifndef X\n#define X\n#endif\n
int main() {}\n
using namespace std;\n#include <iostream>\n
class A {\npublic:\n};\n
template <typename T>\n
extern int x;\n
static int x;\n
struct a { int b; };\n
typedef int x;\n
package x;\nimport y;\n
package com.x;\npublic class A {\n}\n
package main\n
package main\n\nfunc main() {\n}\n
fn main() {}\n
use std::io;\nfn main() {}\n
const x = 1;\nfunction f() {}\n
import React from "react";\nexport default x;\n
module.exports = x;\n
"use strict";\n
var x = 1;\n
body { color: red; }\n
@import "x";\n
SELECT 1;\n
CREATE TABLE x (a int);\n
<!-- x -->\n<html>\n
<HTML>\n
<body>\n
<title>x</title>\n
<div>x</div>\n
<p>x</p>\n
<?xml version='1.0'?>\n<html xmlns="x"/>\n
<?xml version="1.1" encoding="utf-8"?>\n
<?xml version="1.0"?><!DOCTYPE plist>\n
<note/>\n
\n<html>\n
---\na: b\n
%YAML 1.1\n
[a]\nb = 1\n
[package]\nname = "x"\n
a=b\nc=d\n
\\documentclass{article}\n
\\begin{document}\n
.TH X 1\n
# Makefile\nall:\n\techo\n
CC=gcc\nall: x\n\tcc x\n
a: b\n\tc\n
diff -u a b\n--- a\n+++ b\n
Index: x\n--- a\n+++ b\n
*** a\n--- b\n
Only in a: x\n
From x@y Mon Jan  1 00:00:00 2020\n
Return-Path: <x>\n
Received: x\n
Date: x\nFrom: y\n
begin 644 x\n
-----BEGIN PGP MESSAGE-----\n
-----BEGIN PGP SIGNATURE-----\n
-----BEGIN EC PRIVATE KEY-----\n
-----BEGIN CERTIFICATE REQUEST-----\n
-----BEGIN DSA PRIVATE KEY-----\n
-----BEGIN PUBLIC KEY-----\n
ssh-ed25519 AAAA x\n
ssh-dss AAA\n
ecdsa-sha2-nistp256 A\n
[Desktop Entry]\n
[Unit]\n
msgid ""\nmsgstr ""\n
a\tb\n1\t2\n
a;b\n1;2\n
a,b\n
a,b\n1,2\n
a,b\n1,2,3\n
"a","b"\n"c","d"\n
WEBVTT\n
1\n00:00:01,000 --> 00:00:02,000\nx\n
#EXTM3U\n
@echo off\n
REM x\n
<?php\n
<?\n
<%@ page
\x00\x00\x00\x00
a\x00
a\xff\n
\xe9\xe8\n
\xe2\x82
x\xe2\x82\xac\n
\xff\xfe\x00\x00a\x00\x00\x00
\xff\xfe
\xef\xbb\xbf
\xef\xbb\xbf#!/bin/sh\n
\xef\xbb\xbf{"a":1}
{"a":1}\r\n
{"a":1}x
[1,]\n
[1 2]\n
{"a":1} {"b":2}\n
{a:1}\n
{\n
[]\n[]\n
{"a":"\\u00e9\\n"}
{"a":1e5,"b":-1.5,"c":true,"d":null}
nul
null\n
\"x\"
 \n
\n
\n\n
\t
a\r
\r\n
a\x1b[0m
a\x07b\n
a\x01b\n
a\x7fb\n
[Trash Info]\n
!<arch>\ndebian-binary   
%!PS\n
GIF87a\x01\x00\x01\x00
<svg/>\n
<svg\n
LABEL
Salted__xxxx
ustar
#!/bin/bash
#!/usr/bin/env python3
#!/usr/bin/ksh\n
#!/usr/bin/tcsh\n
#!/usr/bin/env tcsh\n
#!/usr/bin/env gawk\n
#!/bin/gawk -f\n
#!/usr/bin/env perl6\n
#!/bin/perl\n
#!/usr/local/bin/zsh\n
#!/usr/local/bin/fish\n
#!/bin/fish\n
#!/usr/bin/wish\n
#!/usr/local/bin/ruby\n
#!/bin/node\n
#!/usr/bin/env nodejs\n
#!/usr/bin/nodejs\n
#!/bin/python\n
#!/usr/bin/env pythonx\n
#!/usr/bin/lua5.4\n
#!/usr/local/bin/php\n
#!/usr/bin/expect\n
#!/usr/bin/env runhaskell\n
<script>x</script>\n
<style>x</style>\n
<table>\n
<a href="x">\n
<h1>x</h1>\n
<!DOCTYPE html PUBLIC "x">\n
text <html> text\n
<!DOCTYPE x>\n
class A {\n  constructor() {}\n}\n
class A extends B {\n}\n
class A\n  def f\n  end\nend\n
def f\n  1\nend\n
def f(x)\n  1\nend\n
class A(object):\n    pass\n
class A:\n    pass\n
    def f(self):\n
  def f(self):\n      pass\n
async def f(x):\n    pass\n
def f(x) -> int:\n    pass\n
import os\nimport sys\n\nprint(1)\n
if __name__ == "__main__":\n    main()\n
from . import x\n
from x import (a,\n b)\n
# comment\nimport os\n\ndef main():\n    pass\n
try:\n    x\nexcept:\n    y\n
print("x")\n
'''doc'''\n
export const x = 1;\n
export function f() {}\n
export default {}\n
import x from './x'\n
import { a } from "x"\n
import "x";\n
const fs = require('fs');\n
let fs = require("fs")\n
var a = require("b").c;\n
(function() {\n})();\n
'use strict';\n
console.log(1)\n
exports.x = 1\n
function f() {\n  return 1;\n}\n
interface A { x: number }\nexport type B = A;\n
public class A {\n  public static void main(String[] a) {}\n}\n
package a.b;\nimport java.util.List;\npublic class A {}\n
import java.util.List;\n
#define X 1\n
#if 0\n
#pragma once\n
#pragma once\nclass A {};\n
class A;\n
namespace x {\n}\n
std::string x;\n
public:\n
private:\n
virtual void f();\n
void f() {}\n
void f();\n
char x;\n
double x;\n
float x;\n
union x {\n
enum x {\n
struct x {\n
struct x;\n
typedef struct {\n
static struct x y;\n
int x;\n
int f(int x) {\n
long x;\n
unsigned x;\n
main()\n
main();\n
x.main()\n
  main()\n
func main() {}\n
# main()\n
"x" main (\n
using System;\n
use strict;\nuse warnings;\n
package Foo;\n
package Foo::Bar;\n
package foo;\n
sub f {\n}\n
BEGIN{\n
BEGIN {\n
/x/ { print }\n
%PDF-1.7\n1 0 obj\n<</Type/Pages/Count 3/Kids[]>>\n
%PDF-1.7\n/Count 3\n
%PDF-1.5\n/Count 1\n
%PDF-2.0
From x@y.z Mon Jan  1 00:00:00 2020\nSubject: x\n
From: x\n
Subject: x\n
To: x\n
Message-ID: <x>\n
MIME-Version: 1.0\n
CFLAGS=-O\n
CFLAGS = -O\n
.PHONY: x\n
x: y\n\tz\n.PHONY: x\n
all: x\n
all :\n
LDFLAGS=x\n
include x.mk\n
VPATH=x\n
SHELL := /bin/bash\n
set -e\n
if [ -f x ]; then\n
export PATH=x\n
alias x=y\n
echo x\n
# bash\n
@ECHO OFF\n
:: x\n
rem x\n
set x=y\r\n
[InternetShortcut]\n
Windows Registry Editor Version 5.00\n
{\\rtf1
#EXTM3U\n#EXTINF\n
.\\" x\n
'\\" t\n
.SH X\n
.Dd x\n
.de x\n
\\input x\n
\\section{x}\n
% x\n\\documentclass{x}\n
@article{x,\n
1c1\n< a\n---\n> b\n
2,3d1\n< x\n
diff --git a/x b/x\nnew file mode 100644\n
--- a\t2020\n+++ b\t2020\n@@ -1 +1 @@\n
--- a\n+++ b\n
x\n--- a\n+++ b\n@@ -1 +1 @@\n
*** a\t2020\n--- b\t2020\n***************\n
>seq\nACGT\n
Binary files a and b differ\n
From 1234567890123456789012345678901234567890 Mon Sep 17 00:00:00 2001\nFrom: x\n
solid x\n
v 1.0 1.0 1.0\n
P1\n1 1\n
P3\n1 1\n255\n
P5\n1 1\n255\n
P6 1 1 255 xxx
`

// fileBinaries makes what has a form of its own.
const fileBinaries = `mkdir dir sticky; chmod 1755 sticky; mkfifo pipe; ln -s dir ld; ln -s nowhere broken; printf 'hello\nworld\n' > txt; ln -s txt l; : > empty
(printf 'x%.0s' {1..500}; echo; echo b) > long; printf 'x%.0s' {1..300} > not-long; head -c 100 /dev/zero > zeros; printf 'a\0b' > nul; touch -d 2020-02-03 txt; cp txt setuid; chmod 4755 setuid; cp txt setgid; chmod 2755 setgid
printf 'a\r\nb\n' > mixed; printf 'a\rb\r' > cr; printf 'a\205b\n' > nel; printf '\377\376h\0i\0\n\0' > u16le; printf '\376\377\0h\0i\0\n' > u16be; printf 'a\bb\n' > bs; printf '\200\201x\n' > extended
gzip -c txt > t.gz; gzip -9 -c txt > t9.gz; gzip -nc txt > tn.gz; gzip -1 < txt > t1.gz; bzip2 -c txt > t.bz2; xz -c txt > t.xz; xz -C crc32 -c txt > tc.xz; tar cf t.tar txt; tar --format=posix -cf p.tar txt; tar --format=v7 -cf v7.tar txt; tar czf t.tgz txt; zip -q t.zip txt; zip -q0 t0.zip txt
printf 'application/epub+zip' > mimetype; zip -q0X e.epub mimetype; mkdir META-INF word; echo > META-INF/MANIFEST.MF; zip -qX j.zip META-INF/MANIFEST.MF
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\020\0\0\0\040\010\006\0\0\0' > png; printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\1\0\0\0\0\040\010\003\0\0\1' > png3; printf '\377\330\377\340\0\020JFIF\0\001\001\001\0\110\0\110\0\0\377\331' > jpg
printf '\377\330\377\340\0\020JFIF\0\001\001\0\0\1\0\1\0\0\377\300\0\021\010\0\012\0\024\003\1\042\0\2\021\1\3\021\1\377\331' > jpg2; printf '\377\330\377\340\0\020JFIF\0\001\001\0\0\1\0\1\0\0\377\376\0\007hello\377\302\0\021\010\0\012\0\024\001\1\042\0\2\021\1\3\021\1\377\331' > jpg3
printf 'BM\066\0\0\0\0\0\0\0\066\0\0\0\050\0\0\0\020\0\0\0\020\0\0\0\001\0\030\0\0\0\0\0\0\0\0\0' > bmp; printf 'RIFF\044\0\0\0WAVEfmt \020\0\0\0\001\0\002\0\104\254\0\0\020\261\002\0\004\0\020\0data' > wav; printf 'RIFF\044\0\0\0WEBPVP8 ' > webp; printf 'OggS\0\002' > ogg; printf 'fLaC\0\0\0\042' > flac
printf '\0\0\0\030ftypmp42\0\0\0\0' > mp4; printf '\0\0\0\030ftypisom\0\0\0\0' > isom; printf '\0asm\001\0\0\0' > wasm; printf '\312\376\272\276\0\0\0\064' > class8; printf '\312\376\272\276\0\0\0\101' > class21; printf 'wOF2' > woff2; printf 'II*\0\010\0\0\0' > tif; printf 'PK\005\006\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' > empty.zip
printf '\x1f\x9d\x90' > Z; printf '\317\372\355\376\7\0\0\1\3\0\0\0\2\0\0\0' > macho; printf 'MZ\220\0' > mz; printf '7z\274\257\047\034\0\4xxxxxxxxxxxxxxxxxxx' > 7z; printf 'Rar!\032\007\0xxxx' > rar; printf '\x04\x22\x4d\x18xxxxx' > lz4; printf 'SQLite format 3\0\020\0\001\001\0\100\040\040' > sqlite; head -c 100 /dev/zero >> sqlite
cp /bin/true elf; cp /bin/busybox static; printf '\177ELF\2\1\1' > cut.elf; printf '{"a":1' > cut.json; (echo '['; seq -s, 1 1000; echo ']') > big.json; (printf 'P6 1 1 255\n'; printf 'a\0b') > ppm`

func Test_File_Tells_What_The_Real_One_Tells(t *testing.T) {
	t.Parallel()
	work := filepath.Join(t.TempDir(), "w")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	samples := strings.Split(strings.TrimSpace(fileSamples), "\n")
	var setup strings.Builder
	for i, s := range samples {
		fmt.Fprintf(&setup, "printf %%b '%s' > s%03d\n", strings.ReplaceAll(s, "'", `'\''`), i)
	}
	prepare(t, work, setup.String()+fileBinaries)
	tree := importTree(t, work)
	entries, err := os.ReadDir(work)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	for _, option := range []string{"-N", "-Ni", "-L"} {
		args := slices.Concat([]string{"file", option}, names)
		got, want := strings.Split(runVirtual(t, tree, work, args, row{}).stdout, "\n"), strings.Split(runReal(t, work, args, row{}).stdout, "\n")
		if len(got) != len(want) || len(got) < len(names) {
			t.Fatalf("%s: %d lines, want %d", option, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				sample := ""
				if n := 0; i < len(names) && strings.HasPrefix(names[i], "s") {
					if _, err := fmt.Sscanf(names[i], "s%d", &n); err == nil {
						sample = samples[n]
					}
				}
				t.Errorf("%s %q\n     %s\nwant %s", option, sample, got[i], want[i])
			}
		}
	}
}

func Test_File_Takes_Options_As_The_Real_One(t *testing.T) {
	t.Parallel()
	runReadOnly(t, "mkdir d; echo x > a; echo '{}' > longer.json; ln -s a l; ln -s nowhere broken; printf 'a\\nlonger.json\\n' > list; : > empty; gzip -nc a > z; printf x > 'new\nline'; printf x > 'caf\303\251'; mkfifo p", append(rowsOf("",
		"file a", "file a longer.json d", "file -b a longer.json", "file -i a d l broken", "file --mime a", "file --mime-type a d", "file --mime-encoding a z d", "file -N a longer.json", "file -F ' ->' a longer.json", "file --separator=- a", "file -0 a longer.json", "file -00 a", "file -b0 a", "file -f list", "file -f list d", "file -bf list", "file -L l broken", "file -h l", "file -Lh l", "file -i -L l broken",
		"file nosuch", "file a nosuch", "file -b nosuch", "file -i nosuch", "file -E nosuch", "file -f nosuch", "file -f empty", "file -- a", "file a/", "file d/", "file ''", "file -s /dev/null", "file -s /dev/zero", "file /dev/null", "file -i /dev/null", "file p", "file -b -i empty", "file 'new\nline'", "file -r 'new\nline'", "file caf\303\251", "file --brief --mime-type z", "file -n a", "file -p a", "file -bL --mime-type l d", "file -b --mime-type a longer.json z",
	), row{line: "file -", stdin: "text\n"}, row{line: "file -b -", stdin: "{}"}, row{line: "file -i -", stdin: "\x00\x01"}, row{line: "file -f -", stdin: "a\nd\n"}, row{line: "file l", env: []string{"POSIXLY_CORRECT=1"}}, row{line: "file -bi -", stdin: ""},
		row{line: "file", loose: sloppyOutput}, row{line: "file --bogus a", loose: sloppyOutput}, row{line: "file -b", loose: sloppyOutput}, row{line: "file --version", loose: sloppyOutput}))
}

func Fuzz_File_Kinds(f *testing.F) {
	for s := range strings.SplitSeq(fileSamples, "\n") {
		f.Add([]byte(s), int64(len(s)))
	}
	elf, err := os.ReadFile("/bin/true")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(elf, int64(len(elf)))
	for i := range binarySigns {
		f.Add([]byte(binarySigns[i].start+strings.Repeat("\x01\x00", 60)), int64(1000))
	}
	f.Fuzz(func(t *testing.T, b []byte, size int64) {
		k := kindOf(fileBytes{head: b, size: max(size, int64(len(b))), seek: bytes.NewReader(b), seekable: true})
		if k.text == "" || k.mime == "" || k.charset == "" {
			t.Errorf("%+v", k)
		}
	})
}
