/* Diagnostics for programs: one JSON object a line. */
#include "core/diag.h"
#include "core/utf8.h"

static void put_string(GpText *out, const char *cstr) {
    GpStr text = gp_str_from(cstr);
    gp_text_puts(out, "\"");
    for (size_t i = 0; i < text.len;) {
        size_t start = i;
        uint32_t c = gp_utf8_next(text, &i);
        if (c == '"' || c == '\\') {
            gp_text_printf(out, "\\%c", (int)c);
        } else if (c == '\n') {
            gp_text_puts(out, "\\n");
        } else if (c < 0x20 || c == 0x7f) {
            gp_text_printf(out, "\\u%04x", c);
        } else if (c == GP_UTF8_BAD) {
            gp_text_puts(out, "\\ufffd");
        } else {
            gp_text_add(out, text.at + start, i - start);
        }
    }
    gp_text_puts(out, "\"");
}

static void put_field(GpText *out, const char *name, const char *value) {
    gp_text_printf(out, "\"%s\":", name);
    put_string(out, value);
}

/* The end is the place after the last byte. */
static void put_span(GpText *out, GpSpan span) {
    GpPlaceInFile start = gp_span_start(span);
    GpPlaceInFile end = gp_span_start((GpSpan){span.src, span.off + span.len, 0});
    put_field(out, "file", start.file);
    gp_text_printf(out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u", start.line,
                   start.column, end.line, end.column);
}

static void put_labels(GpText *out, const GpDiag *d) {
    gp_text_puts(out, ",\"labels\":[");
    for (uint32_t i = 0; i < gp_diag_label_count(d); i++) {
        GpDiagLabel label = gp_diag_label_at(d, i);
        gp_text_puts(out, i ? ",{" : "{");
        put_span(out, label.span);
        gp_text_puts(out, ",");
        put_field(out, "text", label.text);
        gp_text_printf(out, ",\"primary\":%s}", label.primary ? "true" : "false");
    }
    gp_text_puts(out, "]");
}

/* All children of one kind, in their order. */
static void put_children(GpText *out, const GpDiag *d, const char *name, GpChildKind kind) {
    gp_text_printf(out, ",\"%s\":[", name);
    const char *separator = "";
    for (uint32_t i = 0; i < gp_diag_child_count(d); i++) {
        GpDiagChild child = gp_diag_child_at(d, i);
        if (child.kind != kind)
            continue;
        gp_text_printf(out, "%s{", separator);
        separator = ",";
        put_field(out, "text", child.text);
        if (child.span.src) {
            gp_text_puts(out, ",");
            put_span(out, child.span);
        }
        if (child.replacement) {
            gp_text_puts(out, ",");
            put_field(out, "replacement", child.replacement);
        }
        gp_text_puts(out, "}");
    }
    gp_text_puts(out, "]");
}

static void put_diag(GpText *out, const GpDiag *d) {
    gp_text_puts(out, "{");
    put_field(out, "code", gp_diag_row(gp_diag_code(d))->code);
    gp_text_puts(out, ",");
    put_field(out, "severity", gp_severity_name(gp_diag_severity(d)));
    gp_text_puts(out, ",");
    put_field(out, "title", gp_diag_title(d));
    put_labels(out, d);
    put_children(out, d, "notes", GpChild_Note);
    put_children(out, d, "helps", GpChild_Help);
    put_children(out, d, "suggestions", GpChild_Suggestion);
    GpText rendered = {.session = out->session};
    gp_diag_render(d, (GpRenderStyle){0}, &rendered);
    gp_text_puts(out, ",");
    put_field(out, "rendered", gp_text_cstr(&rendered));
    if (rendered.failed)
        out->failed = true;
    gp_text_free(&rendered);
    gp_text_puts(out, "}\n");
}

void gp_diags_json(const GpDiags *ds, GpText *out) {
    for (uint32_t i = 0; i < gp_diags_count(ds); i++)
        put_diag(out, gp_diags_at(ds, i));
}
