/* The `gpulua` program: all of it is in the library. */
#include "lua/cli.h"

int main(int argc, char **argv) { return gpulua_main(argc, argv); }
