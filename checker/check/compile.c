/* compile.c - one run of the user's compiler, with flags that make a kernel's mistakes visible and the same each time: automatic variables
 * start as a pattern and may not be read before they are set, an index outside an array traps, signed overflow wraps, and backtraces stay
 * readable. Where the compiler does not know that a local is set, the file is compiled again, to twins in which it starts as something
 * else.
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
#include "installed.h"
#include "interrupt.h"
#include "unset.h"

static const char *const module_flags[] = {
    "-shared", "-fPIC", "-g", "-O1", "-fno-omit-frame-pointer", "-fwrapv", "-fstack-protector-strong",
    "-fstack-clash-protection",                 /* a large local array meets the guard page, and no other stack */
    "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error", "-Werror=implicit-function-declaration",
    "-Werror=uninitialized", "-Werror=maybe-uninitialized",
    "-fno-tree-fre", "-fno-tree-pre",           /* they take a local that one branch sets for set by the other, too: then nothing shows */
    NULL
};
/* After the user's flags, which cannot undo them. */
static const char *const last_flags[] = { "-ftrivial-auto-var-init=pattern", "-fno-lto", NULL };
static const char *const no_flags[] = { NULL };
/* Assembly in which the beginning of each local stands as a number: nothing is computed from it before the run. */
static const char *const twin_flags[] = {
    "-S", "-g0", "-w", "-fno-forward-propagate", "-fno-gcse", "-fno-rerun-cse-after-loop", "-fdisable-rtl-cse1", "-fdisable-rtl-combine",
    "-fdisable-rtl-postreload", NULL
};

static GHashTable *twins_made;                  /* char*, a module's path -> Twins */

static bool has_headers(const char *folder)
{
    char *header = g_build_filename(folder, "heddle", "pallas.h", NULL);
    bool found = g_file_test(header, G_FILE_TEST_IS_REGULAR);
    g_free(header);
    return found;
}

/* Where <heddle/pallas.h> is. NULL and *error if nowhere. */
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

/* What begins with a dash, or an @, is no file to a compiler. */
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

/* Quotes only what a shell would read otherwise: most words stay as one would type them. */
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

/* A new path in this process's private folder, which is made on first use. */
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

/* "k.c:5" of "k.c:5:23: error: ...". The compiler may stand in a header of ours, and name the author's line in what follows. */
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

/* One line where locals that were never set are all that the compiler objects to; NULL: there is more. */
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

/* A session of its own: a group of processes that can be ended as one, and that no terminal stops. */
static void set_apart(gpointer said)
{
    setsid();
    dup2(GPOINTER_TO_INT(said), STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static bool start(char **argv, int said, GPid *compiler, char **error)
{
    GError *bad = NULL;
    /* The compiler's standard output would get between the lines of a report. */
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

/* false: the time is over, and so is the compiler. */
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

/* Of the compiler's words, which go to standard error. BRIEF: but those about locals that were never set become the error. QUIET: where it
 * fails, as the same file has been compiled before. */
typedef enum Words { WORDS_ALL, WORDS_BRIEF, WORDS_QUIET } Words;

static bool run(char **argv, const char *source, Words words, char **error)
{
    int status = 0, file = memfd_create("heddle-compiler", MFD_CLOEXEC);
    GPid compiler = 0;
    pid_t killed = limits_last_killed();
    if (!start(argv, file, &compiler, error)) {
        close(file);
        return false;
    }
    bool in_time = wait_for(compiler, &status), ended = !in_time || limits_last_killed() != killed;
    g_autofree char *said = read_all(file);
    close(file);
    bool good = !ended && g_spawn_check_wait_status(status, NULL);
    char *unset = words == WORDS_BRIEF && !good && !ended ? describe_unset(said, source) : NULL;
    if (unset == NULL && !ended && !(good && words == WORDS_QUIET))
        fputs(said, stderr);
    if (!good)
        *error = ended ? tell_end(source, in_time) : unset ? unset : g_strdup_printf("%s does not compile", source);
    return good;
}

/* The same path each time, of a file that is gone when the next one is made. Borrowed. */
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

/* What the compiler left in a passing file, which goes; NULL: nothing. */
static char *take_text(const char *path)
{
    char *text = NULL;
    (void)g_file_get_contents(path, &text, NULL, NULL);
    unlink(path);
    return text;
}

static bool compile(const char *source, const char *output, const CompileOptions *options, const char *const *more, Words words,
                    char **error)
{
    GPtrArray *argv = build_argv(source, output, options, more, error);
    bool good = argv != NULL && run((char **)argv->pdata, source, words, error);
    if (argv != NULL)
        g_ptr_array_unref(argv);
    return good;
}

/* The assembly of the file, where locals begin as `init` says. */
static char *assemble(const char *source, const char *init, const CompileOptions *options, char **error)
{
    const char *path = passing_file("s", error);
    g_autofree char *flag = g_strdup_printf("-ftrivial-auto-var-init=%s", init);
    g_autoptr(GPtrArray) more = g_ptr_array_new();
    for (const char *const *each = twin_flags; *each != NULL; each++)
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

static bool add_twin(Twins *twins, const char *source, const char *assembly, const CompileOptions *options, char **error)
{
    const char *path = passing_file("s", error);
    char *module = path ? temporary_file(source, "so", error) : NULL;
    if (module != NULL)
        g_ptr_array_add(twins->modules, module);
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

/* What the module's locals may hold at their beginning: 0xfe in the module itself; 0, bytes of 1 and numbers 1 in its twins. */
static bool make_twins(const char *module, const char *source, char *locals, const CompileOptions *options, char **error)
{
    Twins *twins = g_new0(Twins, 1);
    twins->modules = g_ptr_array_new_with_free_func(g_free), twins->locals = locals;
    if (twins_made == NULL)
        twins_made = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_insert(twins_made, g_strdup(module), twins);
    g_autofree char *zero = assemble(source, "zero", options, error), *pattern = zero ? assemble(source, "pattern", options, error) : NULL;
    bool good = pattern != NULL && add_twin(twins, source, zero, options, error);
    for (UnsetValue value = 0; good && value < UNSET_VALUES; value++) {
        g_autofree char *other = unset_replace(pattern, zero, value);
        good = add_twin(twins, source, other, options, error);
    }
    return good;
}

const Twins *compile_twins(const char *module)
{
    return twins_made != NULL && module != NULL ? g_hash_table_lookup(twins_made, module) : NULL;
}

/* In the temporary folder. Its twins are made where the compiler's last form of the program has locals that may not be set. */
static bool compile_with_twins(const char *source, const char *module, const CompileOptions *options, char **error)
{
    const char *path = passing_file("dump", error);
    g_autofree char *flag = g_strdup_printf("-fdump-tree-optimized-lineno=%s", path);
    const char *const more[] = { flag, NULL };
    if (path == NULL || !compile(source, module, options, more, WORDS_BRIEF, error))
        return false;
    g_autofree char *text = take_text(path);    /* of a file without functions: nothing */
    char *locals = unset_locals(text);
    return locals == NULL || make_twins(module, source, locals, options, error);
}

char *compile_module(const char *source, const char *output, const CompileOptions *options, char **error)
{
    if (access(source, R_OK)) {
        *error = g_strdup_printf("%s: %s", source, g_strerror(errno));
        return NULL;
    }
    char *path = output ? g_strdup(output) : temporary_file(source, "so", error);
    bool good = path != NULL && (!output && options->twins ? compile_with_twins(source, path, options, error)
                                 : compile(source, path, options, no_flags, output ? WORDS_ALL : WORDS_BRIEF, error));
    if (!good)
        g_clear_pointer(&path, g_free);
    return path;
}
