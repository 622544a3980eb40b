fn f() {
    print("text);
}
