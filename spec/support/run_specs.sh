#!/bin/sh
# Runs the specs that a bundle holds, from any folder, with the busted that it holds:
#   spec/support/run_specs.sh             the numbers (spec/run), then spec/lua
#   spec/support/run_specs.sh ARG..       busted with these arguments, from the bundle's root
# GPULUA_DEVICE chooses the device.
set -eu
cd "$(dirname "$0")/../.."
export LUA_PATH="./?.lua;$PWD/spec/busted/?.lua;$PWD/spec/busted/?/init.lua"
export LUA_CPATH="$PWD/spec/busted/?.so;$PWD/lib/lua/5.4/?.so"
if [ $# -eq 0 ]; then
    bin/gpulua spec/run/run.lua
    set -- spec/lua
fi
exec bin/gpulua -e 'require "busted.runner" { standalone = false }' /dev/null -o TAP "$@"
