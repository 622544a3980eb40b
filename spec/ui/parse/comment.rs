fn f() {}
/* outer /* inner */
fn g() {}
