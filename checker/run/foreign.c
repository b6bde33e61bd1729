/* foreign.c - scans the tables through which a loaded object calls others, and replaces the entries of functions not known as harmless.
 *
 * A replacement is a thunk: a few instructions that know their number and check whether a kernel runs. Functions of the C library are
 * harmless by name only, since others may do anything; libm keeps no state but that of the processor, which belongs to a core.
 */
#include "foreign.h"
#include <dlfcn.h>
#include <elf.h>
#include <glib.h>
#include <string.h>
#include <sys/mman.h>
#include "../../model/heap.h"
#include "../../model/outside.h"

enum { PAGE = 4096, THUNKS = 1024 };

/* Functions that depend only on their arguments and on watched memory, output that is never read back, and ways to end. */
static const char *const harmless[] = {
    "_Exit", "_IO_putc", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable", "__assert", "__assert_fail", "__chk_fail",
    "__ctype_b_loc", "__ctype_tolower_loc", "__ctype_toupper_loc", "__cxa_finalize", "__explicit_bzero_chk", "__fortify_fail",
    "__fprintf_chk", "__gmon_start__", "__isoc23_sscanf", "__isoc23_strtol", "__isoc23_strtoll", "__isoc23_strtoul",
    "__isoc23_strtoull", "__isoc99_sscanf", "__longjmp_chk", "__memcpy_chk", "__memmove_chk", "__mempcpy_chk", "__memset_chk",
    "__printf_chk", "__sanitizer_cov_trace_pc", "__sigsetjmp", "__snprintf_chk", "__sprintf_chk", "__stack_chk_fail", "__stpcpy_chk",
    "__stpncpy_chk", "__strcat_chk", "__strcpy_chk", "__strncat_chk", "__strncpy_chk", "__tls_get_addr", "__vfprintf_chk", "__vprintf_chk",
    "__vsnprintf_chk", "__vsprintf_chk", "_exit", "_setjmp", "abort", "abs", "atof", "atoi", "atol", "atoll", "bcmp", "bcopy", "bsearch",
    "bzero", "div", "exit", "explicit_bzero", "fflush", "ffs", "ffsl", "ffsll", "fprintf", "fputc", "fputs", "fwrite", "imaxabs",
    "imaxdiv", "index", "isalnum", "isalpha", "isascii", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint", "ispunct",
    "isspace", "isupper", "isxdigit", "labs", "ldiv", "llabs", "lldiv", "longjmp", "memccpy", "memchr", "memcmp", "memcpy", "memfrob",
    "memmem", "memmove", "mempcpy", "memrchr", "memset", "perror", "printf", "putc", "putchar", "puts", "qsort", "qsort_r", "rawmemchr",
    "rindex", "setjmp", "siglongjmp", "snprintf", "sprintf", "sscanf", "stpcpy", "stpncpy", "strcasecmp", "strcasestr", "strcat",
    "strchr", "strchrnul", "strcmp", "strcpy", "strcspn", "strlen", "strncasecmp", "strncat", "strncmp", "strncpy", "strnlen",
    "strpbrk", "strrchr", "strsep", "strspn", "strstr", "strtod", "strtof", "strtok_r", "strtol", "strtold", "strtoll", "strtoul",
    "strtoull", "swab", "tolower", "toupper", "vfprintf", "vprintf", "vsnprintf", "vsprintf", "vsscanf",
};

typedef struct Foreign { const char *name; void *function; } Foreign;

static Foreign foreign[THUNKS];
static unsigned foreigners;

/* Called by the thunks: returns the function itself, unless a kernel or an author's function of values calls it. */
static __attribute__((used)) void *foreign_called(unsigned number, const void *caller)
{
    const Foreign *called = &foreign[number];
    struct link_map *object;
    Dl_info info;
    const char *by = dladdr1(caller, &info, (void **)&object, RTLD_DL_LINKMAP) != 0
        ? foreign_symbol_at(object, (ElfW(Addr))caller - object->l_addr, false) : NULL;
    bool error_number = strcmp(called->name, "__errno_location") == 0;
    g_autofree char *what = error_number ? g_strdup("uses errno, which outlives an operation; keep its value in a local variable")
        : g_strdup_printf("calls %s, which may have a state of its own or depend on the world outside; a kernel is a function of its refs "
                          "and of what PROGRAM leaves", called->name);
    if (outside_refuse != NULL)
        outside_refuse(by, g_intern_string(what));
    return called->function;
}

extern const char foreign_thunks[];

/* Sixteen bytes each. Arguments in registers are kept. */
#if defined(__x86_64__)
#define THUNKS_EXIST 1
__asm__(".text\n.balign 16\nforeign_thunks:\n.set number,0\n.rept 1024\n.balign 16\nmovl $number,%r11d\njmp foreign_common\n"
        ".set number,number+1\n.endr\n"
        "foreign_common:\n"
        "pushq %rbp\nmovq %rsp,%rbp\nandq $-16,%rsp\nsubq $192,%rsp\n"
        "movq %rdi,(%rsp)\nmovq %rsi,8(%rsp)\nmovq %rdx,16(%rsp)\nmovq %rcx,24(%rsp)\nmovq %r8,32(%rsp)\nmovq %r9,40(%rsp)\n"
        "movq %rax,48(%rsp)\n"
        "movaps %xmm0,64(%rsp)\nmovaps %xmm1,80(%rsp)\nmovaps %xmm2,96(%rsp)\nmovaps %xmm3,112(%rsp)\n"
        "movaps %xmm4,128(%rsp)\nmovaps %xmm5,144(%rsp)\nmovaps %xmm6,160(%rsp)\nmovaps %xmm7,176(%rsp)\n"
        "movl %r11d,%edi\nmovq 8(%rbp),%rsi\ncall foreign_called\nmovq %rax,%r11\n"
        "movq (%rsp),%rdi\nmovq 8(%rsp),%rsi\nmovq 16(%rsp),%rdx\nmovq 24(%rsp),%rcx\nmovq 32(%rsp),%r8\nmovq 40(%rsp),%r9\n"
        "movq 48(%rsp),%rax\n"
        "movaps 64(%rsp),%xmm0\nmovaps 80(%rsp),%xmm1\nmovaps 96(%rsp),%xmm2\nmovaps 112(%rsp),%xmm3\n"
        "movaps 128(%rsp),%xmm4\nmovaps 144(%rsp),%xmm5\nmovaps 160(%rsp),%xmm6\nmovaps 176(%rsp),%xmm7\n"
        "movq %rbp,%rsp\npopq %rbp\njmp *%r11\n");
#elif defined(__aarch64__)
#define THUNKS_EXIST 1
__asm__(".text\n.balign 16\nforeign_thunks:\n.set number,0\n.rept 1024\n.balign 16\nmov w16,#number\nb foreign_common\n"
        ".set number,number+1\n.endr\n"
        "foreign_common:\n"
        "stp x29,x30,[sp,#-224]!\nmov x29,sp\n"
        "stp x0,x1,[sp,#16]\nstp x2,x3,[sp,#32]\nstp x4,x5,[sp,#48]\nstp x6,x7,[sp,#64]\nstr x8,[sp,#80]\n"
        "stp q0,q1,[sp,#96]\nstp q2,q3,[sp,#128]\nstp q4,q5,[sp,#160]\nstp q6,q7,[sp,#192]\n"
        "mov w0,w16\nmov x1,x30\nbl foreign_called\nmov x16,x0\n"
        "ldp x0,x1,[sp,#16]\nldp x2,x3,[sp,#32]\nldp x4,x5,[sp,#48]\nldp x6,x7,[sp,#64]\nldr x8,[sp,#80]\n"
        "ldp q0,q1,[sp,#96]\nldp q2,q3,[sp,#128]\nldp q4,q5,[sp,#160]\nldp q6,q7,[sp,#192]\n"
        "ldp x29,x30,[sp],#224\nbr x16\n");
#endif

static int compare_names(const void *a, const void *b)
{
    return strcmp(a, *(const char *const *)b);
}

static bool is_harmless(const char *name, const char *library)
{
    if (g_str_has_prefix(library, "libm.") || g_str_has_prefix(library, "libmvec."))
        return !g_str_has_prefix(name, "fe");   /* fenv.h: flags that stay raised */
    return g_str_has_prefix(library, "libgcc_s.")
        || bsearch(name, harmless, G_N_ELEMENTS(harmless), sizeof *harmless, compare_names) != NULL;
}

static void *thunk_to(const char *name, void *function)
{
#ifdef THUNKS_EXIST
    unsigned number = 0;
    while (number < foreigners && foreign[number].function != function)
        number++;
    if (number == THUNKS)
        return function;
    if (number == foreigners)
        foreign[foreigners++] = (Foreign){ g_intern_string(name), function };
    return (void *)(foreign_thunks + (size_t)16 * number);
#else
    (void)name;
    return function;
#endif
}

/* The function that an object calls in place of `function`. */
static void *entry_for(const char *name, void *function, bool (*of_user)(const struct link_map *))
{
    struct link_map *owner;
    Dl_info info;
    if (function == NULL || dladdr1(function, &info, (void **)&owner, RTLD_DL_LINKMAP) == 0 || owner == NULL || of_user(owner))
        return function;
    void *own = heap_function(name);
    g_autofree char *library = g_path_get_basename(owner->l_name);
    return own != NULL ? own : is_harmless(name, library) ? function : thunk_to(name, function);
}

#if defined(__x86_64__)
enum { OF_CALLS = R_X86_64_JUMP_SLOT, OF_TABLES = R_X86_64_GLOB_DAT, OF_POINTERS = R_X86_64_64 };
#elif defined(__aarch64__)
enum { OF_CALLS = R_AARCH64_JUMP_SLOT, OF_TABLES = R_AARCH64_GLOB_DAT, OF_POINTERS = R_AARCH64_ABS64 };
#else
enum { OF_CALLS = -1, OF_TABLES = -1, OF_POINTERS = -1 };
#endif

static bool is_of_symbol(int64_t type)
{
    return type == OF_CALLS || type == OF_TABLES || type == OF_POINTERS;
}

typedef struct Tables {
    const ElfW(Sym) *symbol;
    const char *string;
    const ElfW(Rela) *rela, *calls;
    size_t rela_bytes, calls_bytes;
} Tables;

static Tables find_tables(const struct link_map *object)
{
    Tables tables = { 0 };
    for (const ElfW(Dyn) *entry = object->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        void *address = (void *)entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_SYMTAB: tables.symbol = address; break;
        case DT_STRTAB: tables.string = address; break;
        case DT_RELA: tables.rela = address; break;
        case DT_JMPREL: tables.calls = address; break;
        case DT_RELASZ: tables.rela_bytes = entry->d_un.d_val; break;
        case DT_PLTRELSZ: tables.calls_bytes = entry->d_un.d_val; break;
        default: break;
        }
    }
    return tables;
}

static void write_slot(void **slot, void *value)
{
    void *page = (void *)((uintptr_t)slot & ~(uintptr_t)(PAGE - 1));
    if (mprotect(page, PAGE, PROT_READ | PROT_WRITE) == 0)     /* the loader has protected it */
        *slot = value;
}

static void go_through(const struct link_map *object, const Tables *tables, const ElfW(Rela) *rela, size_t bytes,
                       bool (*of_user)(const struct link_map *))
{
    for (size_t i = 0; rela != NULL && i < bytes / sizeof *rela; i++) {
        const ElfW(Sym) *symbol = &tables->symbol[ELF64_R_SYM(rela[i].r_info)];
        unsigned char type = ELF64_ST_TYPE(symbol->st_info);
        if (!is_of_symbol(ELF64_R_TYPE(rela[i].r_info)) || rela[i].r_addend != 0 || symbol->st_shndx != SHN_UNDEF
            || (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC))
            continue;
        void **slot = (void **)(object->l_addr + rela[i].r_offset);
        void *entry = entry_for(tables->string + symbol->st_name, *slot, of_user);
        if (entry != *slot)
            write_slot(slot, entry);
    }
}

void foreign_watch(const struct link_map *object, bool (*of_user)(const struct link_map *))
{
    Tables tables = find_tables(object);
    if (tables.symbol == NULL || tables.string == NULL)
        return;
    go_through(object, &tables, tables.rela, tables.rela_bytes, of_user);
    go_through(object, &tables, tables.calls, tables.calls_bytes, of_user);
}

/* ---- names ---- */

/* The compiler names a function's static `name.17`, and parts of a function `name.part.0`. */
static const char *plain_name(const char *name)
{
    g_autofree char *plain = g_strndup(name, strcspn(name, "."));
    return g_intern_string(plain);
}

/* In the file's own table: statics are not in the dynamic one. */
const char *foreign_symbol_at(const struct link_map *object, ElfW(Addr) offset, bool thread_local)
{
    g_autoptr(GMappedFile) file = g_mapped_file_new(object->l_name, FALSE, NULL);
    const char *bytes = file ? g_mapped_file_get_contents(file) : NULL;
    size_t length = file ? g_mapped_file_get_length(file) : 0;
    const ElfW(Ehdr) *header = (const void *)bytes;
    if (length < sizeof *header || header->e_shoff + header->e_shnum * sizeof(ElfW(Shdr)) > length)
        return NULL;
    const ElfW(Shdr) *section = (const void *)(bytes + header->e_shoff);
    for (unsigned s = 0; s < header->e_shnum; s++) {
        if ((section[s].sh_type != SHT_SYMTAB && section[s].sh_type != SHT_DYNSYM) || section[s].sh_link >= header->e_shnum)
            continue;
        const ElfW(Sym) *symbol = (const void *)(bytes + section[s].sh_offset);
        for (size_t i = 0; i < section[s].sh_size / sizeof *symbol; i++)
            if ((ELF64_ST_TYPE(symbol[i].st_info) == STT_TLS) == thread_local && symbol[i].st_value <= offset
                && offset < symbol[i].st_value + symbol[i].st_size)
                return plain_name(bytes + section[section[s].sh_link].sh_offset + symbol[i].st_name);
    }
    return NULL;
}
