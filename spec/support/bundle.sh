#!/bin/sh
# Makes build/gpulua-VERSION-x86_64-linux.tar.xz: the program, the Lua module and the C library over
# one libgpulua with LLVM inside, for any x86-64 Linux with glibc 2.34 or newer. Called by
# `./x bundle`, from the root. spec/bundle_spec.lua checks what it makes.
set -eu

version=$(sed -n 's/^project(gpulua VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=gpulua-$version-x86_64-linux
stage=build/$name
oldest_glibc=2.34

cmake --preset bundle >/dev/null
cmake --build build/bundle >&2
rm -rf "$stage"
cmake --install build/bundle --prefix "$PWD/$stage" --strip >/dev/null

# Lua, which the program, libgpulua and a host's own code must share.
lua=$(ldconfig -p | awk '$1 == "liblua5.4.so.0" && /x86-64/ { print $NF; exit }')
cp -L "$lua" "$stage/lib/liblua5.4.so.0"

# Device math for machines without a CUDA toolkit.
mkdir -p "$stage/share/gpulua"
cp -L /usr/lib/clc/nvptx64--.bc "$stage/share/gpulua/"

# What there is to read and to run. Specs that need a GPU run from here: spec/support/run_specs.sh.
cp -R examples README.md CHANGELOG.md "$stage/"
mkdir -p "$stage/spec/support"
for part in run lua bench; do
    [ ! -d "spec/$part" ] || cp -R "spec/$part" "$stage/spec/"
done
cp spec/support/*.lua spec/support/run_specs.sh "$stage/spec/support/"
cp .busted "$stage/"

# busted, with what it requires, so that the specs need nothing of the machine.
busted="$stage/spec/busted"
mkdir -p "$busted"
for package in lua-busted lua-luassert lua-say lua-mediator lua-penlight lua-cliargs lua-term \
    lua-system lua-dkjson lua-filesystem lua-lpeg; do
    dpkg -L "$package" | sed -n 's#^/usr/\(share\|lib/x86_64-linux-gnu\)/lua/5\.4/##p' |
        while read -r file; do
            for root in /usr/share/lua/5.4 /usr/lib/x86_64-linux-gnu/lua/5.4; do
                [ -f "$root/$file" ] || continue
                mkdir -p "$busted/$(dirname "$file")"
                cp -L "$root/$file" "$busted/$file"
            done
        done
done

# The licences of all that is inside.
mkdir -p "$stage/licenses"
cp LICENSE "$stage/licenses/gpulua"
for package in llvm-22-dev libclc-22 liblua5.4-0 libstb-dev libzstd-dev zlib1g-dev gcc-12-base \
    lua-busted lua-luassert lua-say lua-mediator lua-penlight lua-cliargs lua-term lua-system \
    lua-dkjson lua-filesystem lua-lpeg; do
    cp -L "/usr/share/doc/$package/copyright" "$stage/licenses/$package"
done

# Nothing may need a newer C library than promised.
for file in $(find "$stage" -type f \( -name '*.so*' -o -path '*/bin/*' \)); do
    newest=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -Vu | tail -n 1)
    if [ "$(printf '%s\n' "$newest" $oldest_glibc | sort -V | tail -n 1)" != $oldest_glibc ]; then
        echo "bundle: ${file#"$stage/"} needs glibc $newest:" >&2
        objdump -T "$file" | grep "GLIBC_$newest" >&2
        exit 1
    fi
done

archive=build/$name.tar.xz
tar -C build --sort=name --owner=0 --group=0 --numeric-owner --mtime='2020-01-01 00:00Z' \
    -c "$name" | xz -6 -T0 >"$archive"
echo "$archive: $(($(stat -c %s "$archive") / 1000)) kB"
