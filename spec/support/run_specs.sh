#!/bin/sh
# Runs the specs that a bundle holds, with the busted that it holds, from any folder:
#   spec/support/run_specs.sh [SPEC.. or busted's options]
# GPULUA_DEVICE chooses the device; spec/run and spec/lua run otherwise.
set -eu
cd "$(dirname "$0")/../.."
export LUA_PATH="./?.lua;$PWD/spec/busted/?.lua;$PWD/spec/busted/?/init.lua"
export LUA_CPATH="$PWD/spec/busted/?.so;$PWD/lib/lua/5.4/?.so"
[ $# -gt 0 ] || {
    for part in spec/run spec/lua; do
        [ ! -d $part ] || set -- "$@" $part
    done
}
exec bin/gpulua -e 'require "busted.runner" { standalone = false }' /dev/null -o TAP "$@"
