/* compile.c - runs the user's compiler with flags that make mistakes in a kernel visible and reproducible: locals start as a pattern,
 * reading an unset local is an error, an index outside an array traps, signed overflow wraps, and backtraces stay readable. If the compiler
 * cannot tell that a local is set, the file is compiled again to variants with other initial values.
 */
#include "compile.h"
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../facts/limits.h"
#include "compile_cache.h"
#include "installed.h"
#include "interrupt.h"
#include "unset_locals.h"

static const char *const module_flags[] = {
    "-shared", "-fPIC", "-g", "-O1", "-fno-omit-frame-pointer", "-fwrapv", "-fstack-protector-strong",
    "-fstack-clash-protection",                 /* a large local array hits the guard page, not another stack */
    "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error", "-Werror=implicit-function-declaration",
    "-Werror=uninitialized", "-Werror=maybe-uninitialized",
    "-fno-tree-fre", "-fno-tree-pre",           /* they treat a local that one branch sets as set in the other, and hide the error */
    NULL
};
/* Placed after the user's flags, which cannot override them. */
static const char *const last_flags[] = { "-ftrivial-auto-var-init=pattern", "-fsanitize-coverage=trace-pc", "-fno-lto", NULL };
static const char *const no_flags[] = { NULL };
/* Make assembly in which the initial value of each local is a literal number, with nothing computed from it at compile time. */
static const char *const variant_flags[] = {
    "-S", "-g0", "-w", "-fno-forward-propagate", "-fno-gcse", "-fno-rerun-cse-after-loop", "-fdisable-rtl-cse1", "-fdisable-rtl-combine",
    "-fdisable-rtl-postreload", NULL
};

static GHashTable *variants_made;               /* char*, a module's path -> Variants */

static bool has_headers(const char *folder)
{
    char *header = g_build_filename(folder, "heddle", "pallas.h", NULL);
    bool found = g_file_test(header, G_FILE_TEST_IS_REGULAR);
    g_free(header);
    return found;
}

/* The folder of <heddle/pallas.h>; NULL and *error: not found. */
static char *find_headers(char **error)
{
    char *why = NULL, *found = installed_find("include", "heddle/pallas.h", &why);
    if (found == NULL)
        *error = g_strconcat(why, ", or give its folder with -I", NULL);
    g_free(why);
    return found;
}

/* Adds the words of a shell-like list of flags. */
static bool add_words(GPtrArray *argv, const char *text, const char *origin, char **error)
{
    char **words = NULL;
    GError *bad = NULL;
    if (!text || !text[strspn(text, " \t\n")])
        return true;
    if (!g_shell_parse_argv(text, NULL, &words, &bad)) {
        *error = g_strdup_printf("%s: %s", origin, bad->message);
        g_error_free(bad);
        return false;
    }
    for (char **word = words; *word; word++)
        g_ptr_array_add(argv, *word);
    g_free(words);
    return true;
}

/* A compiler does not take a name that begins with - or @ as a file. */
static char *as_file(const char *path)
{
    return strchr("-@", path[0]) ? g_strconcat("./", path, NULL) : g_strdup(path);
}

static void add_flags(GPtrArray *argv, const char *const *flags)
{
    for (const char *const *flag = flags; *flag != NULL; flag++)
        g_ptr_array_add(argv, g_strdup(*flag));
}

/* more: further flags after all others, up to a NULL. */
static GPtrArray *build_argv(const char *source, const char *output, const CompileOptions *options, const char *const *more, char **error)
{
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    const char *compiler = g_getenv("CC");
    bool good = add_words(argv, compiler && *compiler ? compiler : "cc", "CC", error);
    add_flags(argv, module_flags);
    bool own_headers = false;
    for (guint i = 0; options->include && i < options->include->len; i++) {
        g_ptr_array_add(argv, g_strdup_printf("-I%s", (char *)options->include->pdata[i]));
        own_headers |= has_headers(options->include->pdata[i]);
    }
    char *headers = good && !own_headers ? find_headers(error) : NULL;
    if (headers)
        g_ptr_array_add(argv, g_strdup_printf("-I%s", headers));
    g_free(headers);
    if (*error || !add_words(argv, g_getenv("CFLAGS"), "CFLAGS", error) || !add_words(argv, options->cflags, "--cflags", error)) {
        g_ptr_array_unref(argv);
        return NULL;
    }
    add_flags(argv, last_flags);
    add_flags(argv, more);
    g_ptr_array_add(argv, g_strdup("-o"));
    g_ptr_array_add(argv, as_file(output));
    g_ptr_array_add(argv, as_file(source));
    g_ptr_array_add(argv, g_strdup("-lm"));
    g_ptr_array_add(argv, NULL);
    return argv;
}

/* Quotes only words that a shell would interpret. */
static void append_word(GString *out, const char *word)
{
    char *quoted = g_shell_quote(word);
    bool plain = *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%")] == 0;
    g_string_append_printf(out, "%s%s", out->len ? " " : "", plain ? word : quoted);
    g_free(quoted);
}

char *compile_command(const char *source, const char *output, const CompileOptions *options, char **error)
{
    GPtrArray *argv = build_argv(source, output, options, no_flags, error);
    if (!argv)
        return NULL;
    GString *line = g_string_new(NULL);
    for (guint i = 0; i + 1 < argv->len; i++)
        append_word(line, argv->pdata[i]);
    g_ptr_array_unref(argv);
    return g_string_free(line, FALSE);
}

/* A new path in this process's private folder, which is created on first use. */
static char *temporary_file(const char *source, const char *suffix, char **error)
{
    static char *folder;
    static unsigned count;
    if (!folder) {
        GError *bad = NULL;
        interrupt_hold();
        folder = g_dir_make_tmp("heddle-XXXXXX", &bad);
        if (folder)
            interrupt_register(folder, true);
        interrupt_release();
        if (!folder) {
            *error = g_strdup_printf("cannot make a temporary folder: %s", bad->message);
            g_error_free(bad);
            return NULL;
        }
    }
    char *base = g_path_get_basename(source), *name = g_strdup_printf("%u-%s.%s", count++, base, suffix);
    char *path = g_build_filename(folder, name, NULL);
    interrupt_register(path, false);
    g_free(name);
    g_free(base);
    return path;
}

static bool is_unset(const char *line)
{
    return strstr(line, "[-Werror=uninitialized]") != NULL || strstr(line, "[-Werror=maybe-uninitialized]") != NULL;
}

/* "k.c:5" of "k.c:5:23: error: ...". If the error is in a header of heddle, the author's line is in a later line of the message. */
static char *place_of(char **line, const char *source)
{
    g_autofree char *own = g_strdup_printf("%s:", source);
    char **at = line;
    while (at[0] != NULL && !g_str_has_prefix(at[0], own) && (at == line || strstr(at[0], " error: ") == NULL))
        at++;
    const char *said = at[0] != NULL && g_str_has_prefix(at[0], own) ? at[0] : line[0];
    size_t file = said == line[0] && !g_str_has_prefix(said, own) ? strcspn(said, ":") : strlen(source);
    return g_strndup(said, file + (said[file] == ':' ? 1 + strspn(said + file + 1, "0123456789") : 0));
}

/* One line, if unset locals are the only errors; NULL: there are others. */
static char *describe_unset(const char *text, const char *source)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    char **first = NULL;
    for (char **line = lines; *line != NULL; line++) {
        if (strstr(*line, " error: ") == NULL)
            continue;
        if (!is_unset(*line))
            return NULL;
        first = first ? first : line;
    }
    if (first == NULL)
        return NULL;
    const char *what = strstr(*first, " error: ") + strlen(" error: ");
    g_autofree char *where = place_of(first, source), *said = g_strndup(what, strlen(what) - strlen(strstr(what, " [-W")));
    return g_strdup_printf("%s: %s: a kernel must set what it reads (heddle compile %s shows the compiler's warnings; --cflags "
                           "-Wno-%suninitialized ignores them)", where, said, source, strstr(what, "=maybe-") ? "maybe-" : "");
}

/* Puts the compiler in its own session, so that it can be killed as a group and the terminal does not stop it. */
static void set_apart(gpointer said)
{
    setsid();
    dup2(GPOINTER_TO_INT(said), STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static bool start(char **argv, int said, GPid *compiler, char **error)
{
    GError *bad = NULL;
    /* The compiler's standard output would mix with the report. */
    GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_CHILD_INHERITS_STDIN | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_DO_NOT_REAP_CHILD;
    interrupt_hold();
    bool started = g_spawn_async(NULL, argv, NULL, flags, set_apart, GINT_TO_POINTER(said), compiler, &bad);
    interrupt_set_group(started ? *compiler : 0);
    interrupt_release();
    if (started)
        return true;
    *error = g_strdup_printf("cannot run the compiler %s: %s; install one, or name another with CC", argv[0], bad->message);
    g_error_free(bad);
    return false;
}

/* false: the time limit was reached, and the compiler was killed. */
static bool wait_for(pid_t compiler, int *status)
{
    const gulong tick = 2000;                   /* microseconds */
    bool over = false;
    while (waitpid(compiler, status, over ? 0 : WNOHANG) != compiler) {
        if (!over && deadline_over(limits_preparation()))
            over = true, kill(-compiler, SIGKILL);
        g_usleep(tick);
    }
    interrupt_set_group(0);
    return !over;
}

static char *tell_end(const char *source, bool in_time)
{
    g_autofree char *where = g_strdup_printf("while compiling %s", source);
    limits_give_up();
    return in_time ? limits_tell_memory(where)
                   : g_strdup_printf("time: compiling %s took more than %g s; raise --time", source, limits_preparation()->seconds);
}

static char *read_all(int file)
{
    off_t bytes = MAX(lseek(file, 0, SEEK_END), 0);
    char *text = g_malloc0((size_t)bytes + 1);
    ssize_t got = pread(file, text, (size_t)bytes, 0);
    text[MAX(got, 0)] = '\0';
    return text;
}

/* What to print of the compiler's messages. BRIEF: all, but unset locals become our one-line error. QUIET: only if it fails, because the
 * same file has been compiled before. */
typedef enum Words { WORDS_ALL, WORDS_BRIEF, WORDS_QUIET } Words;

/* *said: the compiler's messages; NULL: it did not run. False and *error NULL: it refuses the file. */
static bool run(char **argv, const char *source, char **said, char **error)
{
    int status = 0, file = memfd_create("heddle-compiler", MFD_CLOEXEC);
    GPid compiler = 0;
    pid_t killed = limits_last_killed();
    if (!start(argv, file, &compiler, error)) {
        close(file);
        return false;
    }
    bool in_time = wait_for(compiler, &status), ended = !in_time || limits_last_killed() != killed;
    *said = read_all(file);
    close(file);
    if (ended)
        *error = tell_end(source, in_time);
    return !ended && g_spawn_check_wait_status(status, NULL);
}

/* What the author of a kernel may have meant, by the words in the compiler's messages. */
static const struct { const char *word[2], *hint; } hints[] = {
    { { "PlDevice", "argument is of type" }, "a device is pl_device(id), pl_mesh(x, y) or pl_along(\"x\", i), not a number" },
    { { "lvalue required", "pl_copy_start" }, "pl_copy_start takes a variable, in which it records the start; pl_async_copy(...) and "
                                              "pl_async_remote_copy(...) make and start a copy at once" },
    { { "invalid storage class for function", "pl_" }, "a closing brace is missing above this KERNEL or PROGRAM" },
    { { "unterminated argument list invoking macro", "" }, "a closing parenthesis is missing in the call whose argument list is "
                                                           "unterminated" },
};

static void print_hints(const char *said)
{
    for (size_t i = 0; i < G_N_ELEMENTS(hints); i++)
        if (strstr(said, hints[i].word[0]) && strstr(said, hints[i].word[1]))
            fprintf(stderr, "hint: %s\n", hints[i].hint);
}

/* Prints why the compiler refuses the file: as it says it when macros are expanded first, so that each message names the author's line. */
static void print_refusal(GPtrArray *argv, const char *source, const char *said)
{
    g_autofree char *plain = NULL, *error = NULL;
    g_ptr_array_insert(argv, (gint)argv->len - 1, g_strdup("-ftrack-macro-expansion=0"));
    if (run((char **)argv->pdata, source, &plain, &error) || error != NULL)
        g_clear_pointer(&plain, g_free);        /* another answer than before */
    fputs(plain != NULL ? plain : said, stderr);
    print_hints(said);
}

/* The same path each time, for a file that is removed before the next is created. Borrowed. */
static const char *passing_file(const char *suffix, char **error)
{
    static GHashTable *paths;
    if (paths == NULL)
        paths = g_hash_table_new(g_str_hash, g_str_equal);
    char *path = g_hash_table_lookup(paths, suffix);
    if (path == NULL && (path = temporary_file("passing", suffix, error)) != NULL)
        g_hash_table_insert(paths, g_strdup(suffix), path);
    return path;
}

/* Reads and removes a passing file; NULL: there is none. */
static char *take_text(const char *path)
{
    char *text = NULL;
    (void)g_file_get_contents(path, &text, NULL, NULL);
    unlink(path);
    return text;
}

#define DUMP "-fdump-tree-optimized-lineno="

/* What the compiler reads; NULL: unknown. */
static char *preprocess(const GPtrArray *argv, const char *source, char **error)
{
    char *text = NULL;
    if (g_str_has_suffix(source, ".s"))
        return g_file_get_contents(source, &text, NULL, NULL) ? text : NULL;
    const char *path = passing_file("i", error);
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_autofree char *said = NULL;
    for (guint i = 0; i + 1 < argv->len && path != NULL; i++) {
        char *word = argv->pdata[i];
        if (i > 0 && strcmp(argv->pdata[i - 1], "-o") == 0)
            word = (char *)path;
        if (!g_str_has_prefix(word, DUMP) && strcmp(word, "-S") != 0)
            g_ptr_array_add(words, word);
    }
    g_ptr_array_add(words, "-E");
    g_ptr_array_add(words, NULL);
    return path != NULL && run((char **)words->pdata, source, &said, error) ? take_text(path) : NULL;
}

static const char *dump_of(const GPtrArray *argv)
{
    for (guint i = 0; i + 1 < argv->len; i++)
        if (g_str_has_prefix(argv->pdata[i], DUMP))
            return (const char *)argv->pdata[i] + strlen(DUMP);
    return NULL;
}

static bool take_from_cache(const char *key, const char *output, const char *dump, char **said)
{
    Compiled compiled = { 0 };
    bool there = compile_cache_find(key, &compiled) && g_file_set_contents(output, compiled.output, (gssize)compiled.output_bytes, NULL)
        && (compiled.side == NULL || dump == NULL || g_file_set_contents(dump, compiled.side, (gssize)compiled.side_bytes, NULL));
    if (there)
        *said = g_steal_pointer(&compiled.said);
    compiled_clear(&compiled);
    return there;
}

static void put_in_cache(const char *key, const char *output, const char *dump, const char *said)
{
    Compiled compiled = { .said = g_strdup(said), .said_bytes = strlen(said) };
    if (dump != NULL)
        (void)g_file_get_contents(dump, &compiled.side, &compiled.side_bytes, NULL);
    if (g_file_get_contents(output, &compiled.output, &compiled.output_bytes, NULL))
        compile_cache_keep(key, &compiled);
    compiled_clear(&compiled);
}

/* As run, with a cache. */
static bool make(const GPtrArray *argv, const char *source, const char *output, char **said, char **error)
{
    g_autofree char *text = preprocess(argv, source, error);
    g_autofree char *key = text != NULL ? compile_cache_key((char **)argv->pdata, text) : NULL;
    if (*error != NULL)
        return false;
    const char *dump = dump_of(argv);
    if (key != NULL && take_from_cache(key, output, dump, said))
        return true;
    bool good = run((char **)argv->pdata, source, said, error);
    if (good && key != NULL)
        put_in_cache(key, output, dump, *said);
    return good;
}

static bool compile(const char *source, const char *output, const CompileOptions *options, const char *const *more, Words words,
                    char **error)
{
    g_autoptr(GPtrArray) argv = build_argv(source, output, options, more, error);
    g_autofree char *said = NULL;
    bool good = argv != NULL && (words == WORDS_ALL ? run((char **)argv->pdata, source, &said, error)
                                 : make(argv, source, output, &said, error));
    if (good && words != WORDS_QUIET)
        fputs(said, stderr);
    if (good || *error != NULL)
        return good;
    *error = words == WORDS_BRIEF ? describe_unset(said, source) : NULL;
    if (*error == NULL) {
        print_refusal(argv, source, said);
        *error = g_strdup_printf("%s does not compile", source);
    }
    return false;
}

/* The assembly of the file, with initial values of locals as `init` says. */
static char *assemble(const char *source, const char *init, const CompileOptions *options, char **error)
{
    const char *path = passing_file("s", error);
    g_autofree char *flag = g_strdup_printf("-ftrivial-auto-var-init=%s", init);
    g_autoptr(GPtrArray) more = g_ptr_array_new();
    for (const char *const *each = variant_flags; *each != NULL; each++)
        g_ptr_array_add(more, (char *)*each);
    g_ptr_array_add(more, flag);
    g_ptr_array_add(more, NULL);
    if (path == NULL || !compile(source, path, options, (const char *const *)more->pdata, WORDS_QUIET, error))
        return NULL;
    char *text = take_text(path);
    if (text == NULL)
        *error = g_strdup_printf("the compiler accepted %s, but left no assembly in %s", source, path);
    return text;
}

static bool add_variant(Variants *variants, const char *source, const char *assembly, const CompileOptions *options, char **error)
{
    const char *path = passing_file("s", error);
    char *module = path ? temporary_file(source, "so", error) : NULL;
    if (module != NULL)
        g_ptr_array_add(variants->modules, module);
    GError *bad = NULL;
    if (module != NULL && !g_file_set_contents(path, assembly, -1, &bad)) {
        *error = g_strdup_printf("%s", bad->message);
        g_error_free(bad);
        return false;
    }
    bool good = module != NULL && compile(path, module, options, no_flags, WORDS_QUIET, error);
    if (path != NULL)
        unlink(path);
    return good;
}

/* Initial values of locals: bytes of 0xfe in the module itself; 0, bytes of 1 and the number 1 in its variants. */
static bool make_variants(const char *module, const char *source, char *locals, const CompileOptions *options, char **error)
{
    Variants *variants = g_new0(Variants, 1);
    variants->modules = g_ptr_array_new_with_free_func(g_free), variants->locals = locals;
    if (variants_made == NULL)
        variants_made = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_insert(variants_made, g_strdup(module), variants);
    g_autofree char *zero = assemble(source, "zero", options, error), *pattern = zero ? assemble(source, "pattern", options, error) : NULL;
    bool good = pattern != NULL && add_variant(variants, source, zero, options, error);
    for (UnsetValue value = 0; good && value < UNSET_VALUES; value++) {
        g_autofree char *other = unset_locals_replace(pattern, zero, value);
        good = add_variant(variants, source, other, options, error);
    }
    return good;
}

const Variants *compile_variants(const char *module)
{
    return variants_made != NULL && module != NULL ? g_hash_table_lookup(variants_made, module) : NULL;
}

/* Compiles into the temporary folder, with variants if the compiler's final form of the program has locals that may be unset. */
static bool compile_with_variants(const char *source, const char *module, const CompileOptions *options, char **error)
{
    const char *path = passing_file("dump", error);
    g_autofree char *flag = g_strconcat(DUMP, path, NULL);
    const char *const more[] = { flag, NULL };
    if (path == NULL || !compile(source, module, options, more, WORDS_BRIEF, error))
        return false;
    g_autofree char *text = take_text(path);    /* NULL: the file has no functions */
    char *locals = unset_locals_find(text);
    return locals == NULL || make_variants(module, source, locals, options, error);
}

char *compile_module(const char *source, const char *output, const CompileOptions *options, char **error)
{
    if (access(source, R_OK)) {
        *error = g_strdup_printf("%s: %s", source, g_strerror(errno));
        return NULL;
    }
    char *path = output ? g_strdup(output) : temporary_file(source, "so", error);
    bool good = path != NULL && (!output && options->variants ? compile_with_variants(source, path, options, error)
                                 : compile(source, path, options, no_flags, output ? WORDS_ALL : WORDS_BRIEF, error));
    if (!good)
        g_clear_pointer(&path, g_free);
    return path;
}
