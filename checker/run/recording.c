/* recording.c - four arrays and a bool. A child may have damaged anything, so whoever loads them looks at each id. */
#include "recording.h"
#include "../facts/codec.h"

static void carry(Codec *codec, Record *record)
{
    codec_bool(codec, &record->eager);
    codec_store(codec, &record->steps);
    codec_store(codec, &record->copies);
    codec_store(codec, &record->raised);
    codec_store(codec, &record->ends);
}

GBytes *recording_save(const Record *record)
{
    GByteArray *out = g_byte_array_new();
    Codec codec = codec_to_bytes(out);
    carry(&codec, (Record *)record);
    return g_byte_array_free_to_bytes(out);
}

Record *recording_load(Program *program, GBytes *recording)
{
    Codec codec = codec_from_bytes(recording);
    Record *record = record_new(program);
    const char *why;
    carry(&codec, record);
    if (codec_is_over(&codec) && record_check(record, &why))
        return record;
    record_free(record);
    return NULL;
}
