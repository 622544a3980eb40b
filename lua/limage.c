/* Pictures, by stb_image_write. */
#include <stdlib.h>

#include "lua/state.h"

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

/* Rows x columns is grey; rows x columns x 1..4 has channels. */
static int gpu_write_png(lua_State *L) {
    const char *path = luaL_checkstring(L, 1);
    GpTensor *t = gp_box_check(L, 2, GP_TENSOR)->tensor;
    const GpShape *shape = gp_tensor_shape(t);
    int64_t channels = shape->rank == 3 ? shape->dim[2] : 1;
    if (gp_tensor_elem(t) != GpElem_U8 || shape->rank < 2 || shape->rank > 3 || channels < 1 ||
        channels > 4 || shape->dim[0] < 1 || shape->dim[1] < 1 || shape->dim[0] > INT16_MAX ||
        shape->dim[1] > INT16_MAX)
        return luaL_argerror(L, 2, "a u8 tensor of {rows, columns} or {rows, columns, 1..4} is expected");
    GpDiags *diags = gp_lua_diags(L);
    size_t bytes = (size_t)gp_tensor_bytes(t);
    void *host = lua_newuserdatauv(L, bytes, 0);
    gp_lua_check(L, gp_tensor_read(t, host, bytes, gp_lua_site(L), diags));
    int width = (int)shape->dim[1], height = (int)shape->dim[0], stride = 0; /* no gaps */
    if (!stbi_write_png(path, width, height, (int)channels, host, stride)) {
        lua_pushnil(L);
        lua_pushfstring(L, "cannot write '%s'", path);
        return 2;
    }
    lua_pushboolean(L, 1);
    return 1;
}

const GpLuaFn gp_lua_image_functions[] = {
    {"write_png", gpu_write_png, "write_png(path, t) -> true | nil, err",
     "Writes a u8 tensor of {rows, columns} (grey) or {rows, columns, channels} as a PNG file."},
    {NULL, NULL, NULL, NULL},
};
