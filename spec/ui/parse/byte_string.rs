fn f() {
    print(b"text);
}
