fn f() {
    let a = b − c;
    let d = “text”;
    let e = a ~ b;
    let g = `h`;
}
