/* repair.c - makes repairs and carries them between processes. */
#include "repair.h"

static void edit_free(void *data)
{
    RepairEdit *edit = data;
    g_free(edit->file);
    g_free(edit->semaphore);
    g_free(edit);
}

static void line_free(void *data)
{
    RepairLine *line = data;
    g_free(line->file);
    g_free(line->old);
    g_free(line->new);
    g_free(line);
}

Repair *repair_new(RepairKind kind, char *words)
{
    Repair *repair = g_new0(Repair, 1);
    *repair = (Repair){ .kind = kind, .words = words, .edits = g_ptr_array_new_with_free_func(edit_free),
                        .lines = g_ptr_array_new_with_free_func(line_free), .keys = g_ptr_array_new_with_free_func(g_free) };
    return repair;
}

void repair_free(Repair *repair)
{
    g_free(repair->words);
    g_ptr_array_unref(repair->edits);
    g_ptr_array_unref(repair->lines);
    if (repair->keys != NULL)
        g_ptr_array_unref(repair->keys);
    g_free(repair);
}

void repair_add_edit(Repair *repair, const Edit *edit)
{
    RepairEdit *own = g_new0(RepairEdit, 1);
    bool of_step = edit->semaphore.name == NULL && edit->semaphore.fresh == EDIT_OF_STEP;
    const char *semaphore = of_step ? edit->where.semaphore : edit->semaphore.name;
    *own = (RepairEdit){ .kind = (uint8_t)edit->kind, .at = edit->where.step, .step = edit->step, .file = g_strdup(edit->where.file),
                         .line = edit->where.line, .semaphore = g_strdup(semaphore), .value = edit->value };
    g_ptr_array_add(repair->edits, own);
}

void repair_add_line(Repair *repair, const char *file, unsigned line, const char *old, const char *now)
{
    RepairLine *own = g_new0(RepairLine, 1);
    *own = (RepairLine){ .file = g_strdup(file), .line = line, .old = g_strdup(old), .new = g_strdup(now) };
    g_ptr_array_add(repair->lines, own);
}

const char *repair_kind_name(RepairKind kind)
{
    static const char *const name[] = { "repair", "mask", "needed", "size" };
    return name[kind];
}

const char *repair_edit_name(EditKind kind)
{
    static const char *const name[] = { "drop", "before", "after", "wait send", "wait receive", "count", "semaphore", "entry barrier",
                                        "move down", "start", "compare", "epoch", "slot", "device", "exchange", "refer", "guard" };
    return name[kind];
}

char *repair_text(const Repair *repair)
{
    bool changed = repair->edits->len > 0;
    GString *text = g_string_new(repair->kind == REPAIR_NEEDED ? "needed: " : "");
    g_string_append_printf(text, "%s%s", repair->words, changed ? ", verified" : "");
    if (repair->devices > 0)
        g_string_append_printf(text, " with %u device%s", repair->devices, repair->devices == 1 ? "" : "s");
    else if (changed)
        g_string_append(text, " at this size");
    if (changed && !repair->data_checked)
        g_string_append(text, " (values were not judged: no result is expected)");
    return g_string_free(text, FALSE);
}

static void carry_edit(Codec *codec, void *data)
{
    RepairEdit *edit = data;
    CODEC_PLAIN(codec, edit->kind);
    CODEC_PLAIN(codec, edit->at);
    CODEC_PLAIN(codec, edit->step);
    codec_text(codec, &edit->file);
    CODEC_PLAIN(codec, edit->line);
    codec_text(codec, &edit->semaphore);
    CODEC_PLAIN(codec, edit->value);
}

static void carry_line(Codec *codec, void *data)
{
    RepairLine *line = data;
    codec_text(codec, &line->file);
    codec_text(codec, &line->old);
    codec_text(codec, &line->new);
    CODEC_PLAIN(codec, line->line);
}

static void carry_repair(Codec *codec, Repair *repair)
{
    CODEC_PLAIN(codec, repair->kind);
    codec_text(codec, &repair->words);
    codec_items(codec, repair->edits, sizeof(RepairEdit), carry_edit);
    codec_items(codec, repair->lines, sizeof(RepairLine), carry_line);
    if (codec_reads(codec))
        g_clear_pointer(&repair->keys, g_ptr_array_unref);
    codec_texts(codec, &repair->keys);
    CODEC_PLAIN(codec, repair->changed);
    CODEC_PLAIN(codec, repair->waits);
    CODEC_PLAIN(codec, repair->devices);
    codec_bool(codec, &repair->data_checked);
}

void repairs_carry(Codec *codec, GPtrArray **repairs)
{
    if (!codec_flag(codec, *repairs != NULL))
        return;
    if (codec_reads(codec))
        *repairs = g_ptr_array_new_with_free_func((GDestroyNotify)repair_free);
    uint64_t count = codec_count(codec, (*repairs)->len);
    for (uint64_t i = 0; i < count && !codec->bad; i++) {
        if (codec_reads(codec))
            g_ptr_array_add(*repairs, repair_new(REPAIR_MENDS, NULL));
        carry_repair(codec, (*repairs)->pdata[i]);
    }
}
