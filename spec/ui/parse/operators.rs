fn f() {
    i++;
    if a === b {}
    if a !== b {}
    if a <> b {}
    if a and b {}
    if a or b {}
}
