#!/bin/sh
# check.sh TOOL FILECHECK FILE: does the file's directives.
#   // RUN: PREFIX STAGE TARGET     the text of a stage, judged by FileCheck
#   // REFUSE: PREFIX TARGET        the refusal that a compile for the target gives
tool=$1 filecheck=$2 file=$3 status=0
directives=$(sed -n 's,^// RUN: ,,p; s,^// REFUSE: ,,p' "$file")
[ -n "$directives" ] || { echo "$file: no directive"; exit 1; }
printf '%s\n' "$directives" | {
    while read -r prefix stage target; do
        if [ -n "$target" ]; then
            out=$("$tool" emit "$stage" "$target" "$file") || { printf '%s\n' "$out"; status=1; }
        else
            out=$("$tool" emit llvm "$stage" "$file")
            [ $? -eq 3 ] || { echo "$file: $stage is not refused"; status=1; }
        fi
        printf '%s\n' "$out" | "$filecheck" --check-prefix="$prefix" --dump-input=fail "$file" ||
            status=1
    done
    exit $status
}
