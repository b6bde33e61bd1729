/* globals.c - writable segments by dl_iterate_phdr; names by the module's own symbol table where it has one.
 *
 * The segment that the loader protects after relocation (RELRO: GOT, vtables) is left out, and so is the slot of the API's table, which
 * the host itself sets before the snapshot.
 */
#include "globals.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <glib.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Segment { char *start; size_t bytes; char *saved; } Segment;

struct Globals {
    const char *path;
    ElfW(Addr) base;
    Segment segment[8];
    unsigned segments;
};

static int find_segments(struct dl_phdr_info *info, size_t size, void *data)
{
    Globals *globals = data;
    (void)size;
    if (info->dlpi_addr != globals->base)
        return 0;
    ElfW(Addr) relro_end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO)
            relro_end = info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    for (int i = 0; i < info->dlpi_phnum && globals->segments < G_N_ELEMENTS(globals->segment); i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_W))
            continue;
        ElfW(Addr) first = MAX(header->p_vaddr, MIN(relro_end, header->p_vaddr + header->p_memsz));
        globals->segment[globals->segments++] = (Segment){ .start = (char *)(globals->base + first),
                                                           .bytes = header->p_vaddr + header->p_memsz - first };
    }
    return 1;
}

Globals *globals_save(void *handle)
{
    struct link_map *map;
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return NULL;
    Globals *globals = g_new0(Globals, 1);
    globals->path = map->l_name, globals->base = map->l_addr;
    dl_iterate_phdr(find_segments, globals);
    for (unsigned i = 0; i < globals->segments; i++)
        globals->segment[i].saved = g_memdup2(globals->segment[i].start, globals->segment[i].bytes);
    return globals;
}

void globals_restore(const Globals *globals)
{
    for (unsigned i = 0; globals != NULL && i < globals->segments; i++)
        memcpy(globals->segment[i].start, globals->segment[i].saved, globals->segment[i].bytes);
}

/* The symbol that covers an address of the module, looked up in the file (statics are not in the dynamic table). */
static const char *symbol_at(const Globals *globals, ElfW(Addr) address)
{
    g_autoptr(GMappedFile) file = g_mapped_file_new(globals->path, FALSE, NULL);
    const char *bytes = file ? g_mapped_file_get_contents(file) : NULL;
    size_t length = file ? g_mapped_file_get_length(file) : 0;
    const ElfW(Ehdr) *header = (const void *)bytes;
    if (length < sizeof *header || header->e_shoff + header->e_shnum * sizeof(ElfW(Shdr)) > length)
        return NULL;
    const ElfW(Shdr) *section = (const void *)(bytes + header->e_shoff);
    for (unsigned s = 0; s < header->e_shnum; s++) {
        if (section[s].sh_type != SHT_SYMTAB || section[s].sh_link >= header->e_shnum)
            continue;
        const ElfW(Sym) *symbol = (const void *)(bytes + section[s].sh_offset);
        for (size_t i = 0; i < section[s].sh_size / sizeof *symbol; i++)
            if (symbol[i].st_value <= address && address < symbol[i].st_value + symbol[i].st_size)
                return g_intern_string(bytes + section[section[s].sh_link].sh_offset + symbol[i].st_name);
    }
    return NULL;
}

/* The compiler names a function's static `name.17`. */
static const char *plain_name(const char *name)
{
    if (name == NULL)
        return "(unnamed)";
    const char *dot = strchr(name, '.');
    return dot ? g_intern_string(g_strndup(name, (gsize)(dot - name))) : name;
}

const char *globals_changed(const Globals *globals)
{
    for (unsigned i = 0; globals != NULL && i < globals->segments; i++) {
        const Segment *segment = &globals->segment[i];
        for (size_t b = 0; b < segment->bytes; b++) {
            if (segment->start[b] == segment->saved[b])
                continue;
            return plain_name(symbol_at(globals, (ElfW(Addr))(segment->start + b) - globals->base));
        }
    }
    return NULL;
}
