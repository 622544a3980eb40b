#!/bin/sh
# ui.sh TOOL FILE: the tool must refuse FILE with the text of its .stderr. BLESS=1 rewrites that.
expected="${2%.rs}.stderr"
out=$("$1" "$2")
code=$?
[ "$code" -eq 1 ] || { printf 'exit code %s\n%s\n' "$code" "$out"; exit 1; }
[ -z "$BLESS" ] || printf '%s\n' "$out" > "$expected"
printf '%s\n' "$out" | diff -u "$expected" -
