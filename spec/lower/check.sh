#!/bin/sh
# check.sh TOOL FILECHECK FILE [--bind]: the tool's output must match the file's CHECK lines, and the
# tool succeed.
out=$("$1" $4 "$3") || { printf '%s\n' "$out"; exit 1; }
printf '%s\n' "$out" | "$2" --dump-input=fail "$3"
