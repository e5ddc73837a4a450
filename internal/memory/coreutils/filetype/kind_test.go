package filetype

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// FileSamples are files as printf's %b writes them.
const FileSamples = `#!/usr/bin/sh\n
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

func Fuzz_File_Kinds(f *testing.F) {
	for s := range strings.SplitSeq(FileSamples, "\n") {
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
