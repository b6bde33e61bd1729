/* command_init.c - `heddle init`: a kernel file to begin with. It holds a right kernel, its wrong twin, and what is expected of each. */
#include <errno.h>
#include <string.h>
#include "session.h"

/* $ stands for the name. */
static const char beginning[] =
    "/* $.c - a ring all-gather, to be replaced by your kernel: in each step, every device passes one slot on to its right neighbour.\n"
    " *\n"
    " *     heddle check $.c:$ -n 2..4     decides whether it is right in every order\n"
    " *     heddle test $.c -n 2..4     also that the wrong twin is wrong, and as declared\n"
    " */\n"
    "#include <heddle/pallas.h>\n"
    "\n"
    "static void pass_all(PlRef input, PlRef output, PlRef own_sem, PlRef send_sem, PlRef recv_sem)\n"
    "{\n"
    "    int n = pl_axis_size(\"x\"), my_id = pl_axis_index(\"x\"), step = pl_program_id(0);\n"
    "    int right = (my_id + 1) % n, slot = (my_id - step + n) % n;\n"
    "\n"
    "    if (step == 0) {\n"
    "        PlCopy own = pl_make_async_copy(input, pl_at(output, my_id), own_sem);\n"
    "        pl_copy_start(own);\n"
    "        pl_copy_wait(own);\n"
    "    }\n"
    "    PlCopy pass = pl_make_async_remote_copy(pl_at(output, slot), pl_at(output, slot), send_sem, recv_sem, pl_device(right));\n"
    "    pl_copy_start(pass);\n"
    "    pl_copy_wait(pass);\n"
    "}\n"
    "\n"
    "KERNEL($, input, output, own_sem, send_sem, recv_sems)\n"
    "{\n"
    "    pass_all(input, output, own_sem, send_sem, pl_at(recv_sems, pl_program_id(0)));\n"
    "}\n"
    "\n"
    "/* The wrong twin: a wait may be satisfied by a later copy than the one that is meant. */\n"
    "KERNEL($_wrong, input, output, own_sem, send_sem, recv_sem)\n"
    "{\n"
    "    pass_all(input, output, own_sem, send_sem, recv_sem);\n"
    "}\n"
    "\n"
    "/* What is given, what is run, and what must come out. */\n"
    "PROGRAM($, \"ring all-gather, one receive semaphore for each step\")\n"
    "{\n"
    "    int n = pl_num_devices();\n"
    "    PL_NEEDS(n >= 2, \"a ring needs two devices\");\n"
    "    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, n, 8, 128);\n"
    "    pl_launch($, .grid = {n - 1}, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore(n - 1)});\n"
    "    pl_expect_all_gather(output, input);\n"
    "}\n"
    "\n"
    "PROGRAM($_wrong, \"the same with one receive semaphore for all steps\")\n"
    "{\n"
    "    int n = pl_num_devices();\n"
    "    PL_NEEDS(n >= 2, \"a ring needs two devices\");\n"
    "    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, n, 8, 128);\n"
    "    pl_launch($_wrong, .grid = {n - 1}, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore(), pl_dma_semaphore()});\n"
    "    pl_expect_all_gather(output, input);\n"
    "    pl_expect_fault(PL_RACE, .from = 3);\n"
    "}\n";

/* The name of the kernel, from the file's. g_malloc; NULL: it has none. */
static char *name_in(const char *file)
{
    g_autofree char *base = g_path_get_basename(file);
    if (!g_str_has_suffix(base, ".c") || strlen(base) == 2 || g_ascii_isdigit(base[0]))
        return NULL;
    base[strlen(base) - 2] = '\0';
    return base[strspn(base, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] == '\0' ? g_strdup(base) : NULL;
}

/* What is wrong, as a line. g_malloc; NULL: nothing. */
static char *write_new(const char *file, const char *text)
{
    FILE *out = fopen(file, "wx");              /* x: a file that is there stays as it is */
    if (out == NULL && errno == EEXIST)
        return g_strdup_printf("%s exists, and is left as it is; name another file", file);
    bool good = out != NULL && fputs(text, out) >= 0;
    int why = errno;
    if (out != NULL && fclose(out) != 0 && good)
        good = false, why = errno;
    return good ? NULL : g_strdup_printf("cannot write %s: %s", file, g_strerror(why));
}

int command_init(Session *session)
{
    const char *file = session->options->operands->pdata[0];
    g_autofree char *name = name_in(file);
    if (name == NULL) {
        session_fail(session, g_strdup_printf("%s: heddle init needs the name of a new C file, of letters, digits and _, as in my_ring.c: "
                                              "it becomes the kernel's name", file));
        return session_end(session);
    }
    g_auto(GStrv) part = g_strsplit(beginning, "$", -1);
    g_autofree char *text = g_strjoinv(name, part);
    char *error = write_new(file, text);
    if (error != NULL)
        session_fail(session, error);
    else
        g_string_append_printf(session->text.out, "%s: a kernel and its wrong twin; heddle test %s -n 2..4\n", file, file);
    return session_end(session);
}
