#!/bin/sh
# All that is run on a machine with a GPU, in one command of less than 8 minutes:
#   sh spec/bench/h200.sh BUNDLE_DIR OUT_DIR
# BUNDLE_DIR is an unpacked bundle (`./x bundle`). OUT_DIR gets summary.txt, log.txt, bench.json (which
# is committed as results/h200-DATE.json) and run.json. Every step has a time limit and every failure
# is a line of the summary; the rest goes on. The exit status is 1 when something failed.
# GPULUA_COMMIT names the commit where there is no git. GPU and LIMIT (seconds for all) can be set.
set -u
[ $# = 2 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
bundle=$(cd "$1" && pwd) || exit 2
mkdir -p "$2" || exit 2
out=$(cd "$2" && pwd)
gpulua=$bundle/bin/gpulua
gpu=${GPU:-cuda:0}
limit=${LIMIT:-465}
examples=$bundle/examples
[ -d "$examples" ] || examples=$here/../../examples
run=$here/../run/run.lua
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
started=$(date +%s)
failures=0
export GPULUA_CACHE="$scratch/cache"
export CUDA_CACHE_PATH="$scratch/driver-cache"
export LD_LIBRARY_PATH="$bundle/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
: >"$out/summary.txt"
: >"$out/log.txt"

left() { echo $((limit - ($(date +%s) - started))); }

say() {
    echo "$*" | tee -a "$out/summary.txt"
    echo "== $*" >>"$out/log.txt"
}

# limited SECONDS COMMAND..: at most so long, and not beyond the end.
limited() {
    seconds=$1
    shift
    most=$(left)
    [ "$most" -gt 3 ] || return 124
    [ "$seconds" -lt "$most" ] || seconds=$most
    timeout -k 5 "$seconds" "$@"
}

# verdict NAME STATUS [DETAIL]
verdict() {
    case $2 in
    0) say "ok    $1 ${3-}" ;;
    124 | 137) failures=$((failures + 1)); say "FAIL  $1: out of time ${3-}" ;;
    *) failures=$((failures + 1)); say "FAIL  $1: status $2 ${3-}" ;;
    esac
}

# ---- The program and the examples -----------------------------------------------------------------

limited 30 "$gpulua" doctor >"$scratch/doctor" 2>&1
status=$?
cat "$scratch/doctor" >>"$out/log.txt"
sed 's/^/      /' "$scratch/doctor" | head -n 14 | tee -a "$out/summary.txt"
grep -q "^ok *$gpu " "$scratch/doctor" || status=1
verdict doctor $status

# example NAME DEVICE FOLDER: its output, with the device's name made equal.
example() {
    mkdir -p "$3"
    (cd "$3" && GPULUA_DEVICE=$2 limited 40 "$gpulua" "$examples/$1.lua") >"$3/out" 2>"$3/err"
    echo $? >"$3/status"
    # Device math may differ in the last digits: four behind the point are compared.
    sed -i -E -e "s/\\b$2\\b/DEVICE/g" -e "s/([0-9]\.[0-9]{4})[0-9]+/\1/g" "$3/out"
    { echo "-- $1 on $2"; cat "$3/out" "$3/err"; } >>"$out/log.txt"
}

for path in "$examples"/*.lua; do
    name=$(basename "$path" .lua)
    on_gpu=$scratch/$name-gpu on_cpu=$scratch/$name-cpu
    example "$name" "$gpu" "$on_gpu"
    example "$name" cpu "$on_cpu"
    status=$(cat "$on_gpu/status")
    detail=
    if [ "$status" = 0 ] && [ "$(cat "$on_cpu/status")" != 0 ]; then
        status=1 detail="(failed on the CPU)"
    elif [ "$status" = 0 ]; then
        # The pictures too; err is not compared.
        for file in "$on_gpu"/*; do
            case $file in */err) continue ;; esac
            cmp -s "$file" "$on_cpu/$(basename "$file")" || { status=1; detail="$detail $(basename "$file") differs"; }
        done
        [ "$status" = 0 ] || diff "$on_gpu/out" "$on_cpu/out" >>"$out/log.txt"
    else
        detail=$(grep -m 1 error "$on_gpu/err" | cut -c1-120)
    fi
    verdict "example $name" "$status" "$detail"
done

GPULUA_DEVICE=$gpu limited 60 "$gpulua" "$here/faults.lua" >"$scratch/faults" 2>&1
status=$?
cat "$scratch/faults" >>"$out/log.txt"
verdict "failed checks" $status "$([ $status = 0 ] || grep -m 1 'FAIL\|error' "$scratch/faults" | cut -c1-120)"

# ---- The figures ----------------------------------------------------------------------------------

limited 390 python3 "$here/driver.py" --gpulua "$gpulua" --out "$scratch/bench.json" \
    --limit "$(if [ "$(left)" -lt 400 ]; then echo $(($(left) - 15)); else echo 380; fi)" \
    >"$scratch/bench" 2>>"$out/log.txt"
status=$?
cat "$scratch/bench.json.log" >>"$out/log.txt" 2>/dev/null
[ ! -f "$scratch/bench.json" ] || cp "$scratch/bench.json" "$out/bench.json"
cat "$scratch/bench" >>"$out/log.txt"
sed 's/^/      /' "$scratch/bench" | cut -c1-200 | tee -a "$out/summary.txt"
if [ $status = 0 ] && grep -q ' ERROR ' "$scratch/bench"; then status=1; fi
verdict bench $status

# ---- Numbers and memory ---------------------------------------------------------------------------

# Ends early enough for the sanitizer.
if [ -f "$run" ]; then
    most=$(($(left) - 40))
    [ "$most" -gt 10 ] || most=10
    (cd "$here/../.." && limited "$most" "$gpulua" "$run" --device "$gpu" --json "$scratch/run.json") \
        >"$scratch/run" 2>&1
    status=$?
    cat "$scratch/run" >>"$out/log.txt"
    [ ! -f "$scratch/run.json" ] || cp "$scratch/run.json" "$out/run.json"
    grep '^FAIL\|^device\|: .*expected\|error\[\| wrong' "$scratch/run" | cut -c1-140 | tail -n 20 | sed 's/^/      /' | tee -a "$out/summary.txt"
    verdict "spec/run on $gpu" $status
else
    say "-     spec/run: not there"
fi

if command -v compute-sanitizer >/dev/null 2>&1; then
    (cd "$scratch" && GPULUA_DEVICE=$gpu GPULUA_CACHE='' limited 60 compute-sanitizer --tool memcheck \
        --error-exitcode 9 "$gpulua" "$examples/saxpy.lua") >"$scratch/memcheck" 2>&1
    status=$?
    cat "$scratch/memcheck" >>"$out/log.txt"
    if grep -qi 'not supported' "$scratch/memcheck"; then
        say "-     memcheck: the device does not support it"
    else
        verdict "memcheck of saxpy" $status "$(grep 'ERROR SUMMARY' "$scratch/memcheck" | cut -c1-80)"
    fi
else
    say "-     memcheck: there is no compute-sanitizer"
fi

say "$failures failed, $(($(date +%s) - started)) s"
[ "$failures" = 0 ]
