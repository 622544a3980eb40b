#!/bin/sh
# check.sh TOOL FILE [EDIT]: a file alone must be right for every seed; one with a .txt beside it, and
# every edit, must be found wrong for every seed, with that text for seed 0. BLESS=1 rewrites it. A .out
# beside a file is what it prints.
tool=$1 file=$2 edit=${3-} status=0
expected=${edit:-$file}
expected=${expected%.*}.txt
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
for seed in 0 1 2 3; do
    GPULUA_VGPU_SEED=$seed "$tool" "$file" $edit >"$dir/raw" 2>&1
    result=$?
    sed 's/0x[0-9a-f]\{9,\}/ADDRESS/g' "$dir/raw" >"$dir/out" # global memory is where the host's heap is
    if [ -z "$edit" ] && [ ! -e "$expected" ]; then
        [ $result = 0 ] || { echo "seed $seed: status $result"; cat "$dir/out"; status=1; }
        [ ! -e "${file%.*}.out" ] || diff "${file%.*}.out" "$dir/out" || status=1
        continue
    fi
    [ $result = 1 ] || [ $result = 2 ] || { echo "seed $seed: not noticed, status $result"; cat "$dir/out"; status=1; }
    [ $seed = 0 ] || continue
    if [ -n "${BLESS-}" ] && [ $result -le 2 ]; then cp "$dir/out" "$expected"; fi
    diff "$expected" "$dir/out" || status=1
done
exit $status
