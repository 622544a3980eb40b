#!/bin/sh
# ptxas.sh TOOL PTXAS FILE: PTX for each target is the same from two processes, has no local
# memory, and assembles without spills or warnings. Exit status 77 (skipped) without ptxas.
tool=$1 ptxas=$2 file=$3 status=0
command -v "$ptxas" >/dev/null || { echo "skipped: no ptxas"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
for target in sm_80 sm_90 sm_90a; do
    "$tool" emit ptx $target "$file" >"$dir/a.ptx" && "$tool" emit ptx $target "$file" >"$dir/b.ptx" ||
        { cat "$dir/a.ptx"; status=1; continue; }
    cmp "$dir/a.ptx" "$dir/b.ptx" || status=1
    if grep -n '\.local' "$dir/a.ptx"; then echo "$target: local memory"; status=1; fi
    "$ptxas" -arch=$target -v "$dir/a.ptx" -o "$dir/a.cubin" >"$dir/log" 2>&1 || status=1
    if grep -iE 'error|warning|fatal|C75[0-9]+|[1-9][0-9]* bytes spill' "$dir/log"; then
        echo "$target: ptxas complains"
        status=1
    fi
done
exit $status
