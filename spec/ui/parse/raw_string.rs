fn f() {
    print(r#"text");
}
