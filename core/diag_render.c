/* tmp */
#include "core/diag.h"
void gp_diag_render(const GpDiag *d, GpRenderStyle style, GpText *out) {
    (void)style;
    GpPlaceInFile at =
        gp_span_start(gp_diag_label_count(d) ? gp_diag_label_at(d, 0).span : GP_NO_SPAN);
    gp_text_printf(out, "error[%s]: %s\n --> %s:%u:%u\n", gp_diag_row(gp_diag_code(d))->code,
                   gp_diag_title(d), at.file, at.line, at.column);
}
void gp_diags_render(const GpDiags *ds, GpRenderStyle style, GpText *out) {
    for (uint32_t i = 0; i < gp_diags_count(ds); i++)
        gp_diag_render(gp_diags_at(ds, i), style, out);
}
void gp_diags_json(const GpDiags *ds, GpText *out) {
    (void)ds;
    (void)out;
}
