package interpreter

import "strings"

// preludeText defines functions in the language itself.
const preludeText = `
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type == "array" or type == "object");
def scalars: select(type != "array" and type != "object");
def finites: select(isinfinite or isnan | not);
def normals: select(isnormal);
def map_values(f): .[] |= f;
def recurse(f; cond): def r: ., (f | select(cond) | r); r;
def recurse_down: recurse;
def del(f): delpaths([path(f)]);
def paths: path(..) | select(length > 0);
def paths(node_filter): . as $dot | paths | select(. as $p | $dot | getpath($p) | node_filter);
def leaf_paths: paths(scalars);
def to_entries: [keys_unsorted[] as $k | {key: $k, value: .[$k]}];
def with_entries(f): to_entries | map(f) | from_entries;
def in(xs): . as $x | xs | has($x);
def inside(xs): . as $x | xs | contains($x);
def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $w | [$x] + $w end;
def combinations(n): . as $dot | [range(n)] | map($dot) | combinations;
def walk(f): def w: if type == "object" then map_values(w) elif type == "array" then map(w) else . end | f; w;
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def nth($n; f): if $n < 0 then error("Out of bounds negative array index") else last(limit($n + 1; f)) end;
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdate: fromdateiso8601;
def date: todate;
def dateadd(u; n): . + n;
def datesub(u; n): . - n;
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def INDEX(stream; idx_expr): reduce stream as $row ({}; .[$row | idx_expr | tostring] |= $row);
def INDEX(idx_expr): INDEX(.[]; idx_expr);
def tostream: path(def r: (.[]? | r), .; r) as $p | getpath($p) | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
def fromstream(f): {x: null, e: false} as $init | foreach f as $i ($init; if .e then $init else . end | if $i | length == 2 then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1]) else setpath(["e"]; $i[0] | length == 1) end; if .e then .x else empty end);
def truncate_stream(stream): . as $n | null | stream | . as $input | if (.[0] | length) > $n then setpath([0]; .[0][$n:]) else empty end;
def env: $ENV;
def halt_error: halt_error(5);
def pick(pathexps): . as $top | reduce path(pathexps) as $p (null; setpath($p; $top | getpath($p)));
def debug(msg): (msg | debug | empty), .;
def toarray: if type == "array" then . else [.] end;
def have_literal_numbers: true;
def have_decnum: true;
`

// preludeDefs are the sources of the functions by name and arity.
var preludeDefs = func() map[string]string {
	defs := map[string]string{}
	for line := range strings.Lines(preludeText) {
		line = strings.TrimSpace(line)
		head, _, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		name, params, hasParams := strings.Cut(strings.TrimPrefix(head, "def "), "(")
		arity := 0
		if hasParams {
			arity = strings.Count(params, ";") + 1
		}
		defs[arityName(name, arity)] = line
	}
	return defs
}()

// prelude returns a function of the prelude, compiled when it is first asked for.
func (c *compiler) prelude(name string, arity int) (*compiledFunc, bool) {
	key := arityName(name, arity)
	if f, ok := c.builtin[key]; ok {
		return f, true
	}
	src, ok := preludeDefs[key]
	if !ok {
		return nil, false
	}
	m, err := parse(src, func() error { return nil }) // of this package
	if err != nil || len(m.defs) != 1 {
		c.errorAt(0, "%s is broken", key)
		return nil, false
	}
	fn := &compiledFunc{params: m.defs[0].params}
	// It may call itself.
	c.builtin[key] = fn // bounded: by the number of functions of this package
	deep := c.deep
	c.deep = 0
	c.compileBody(nil, fn, m.defs[0])
	c.deep = deep
	return fn, true
}
