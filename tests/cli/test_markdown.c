/* test_markdown.c - the report for pull requests: its text, its length, and names that would rather be Markdown or HTML. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../checker/report/diff.h"
#include "../../checker/report/marked.h"
#include "../../checker/report/output.h"
#include "../support/binary.h"
#include "../support/by_hand.h"

enum { CHARACTERS_MAX = 65000 };

static void the_text_is_as_it_was(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check kernel.c all_gather -n 2..4 --markdown r.md --schedules s"), 1);
    g_autofree char *now = binary_contents("r.md");
    binary_is_golden(now, "ring_shared.md");
}

/* Links go to the commit that a CI service names, if it names all of it; a kernel that comes with Heddle is no file of the author's. */
static void places_are_links_to_the_commit_where_it_is_known(void **state)
{
    (void)state;
    const char *check = "$HEDDLE check kernel.c missing_signal -n 3 --markdown g.md";
    g_autofree char *part = g_strdup_printf("GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=a/b %s", check);
    g_autofree char *all = g_strdup_printf("GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY='a/b) <x' GITHUB_SHA=c0ffee %s", check);
    assert_int_equal(binary_shell(part), 1);
    g_autofree char *relative = binary_contents("g.md");
    assert_non_null(strstr(relative, "[kernel.c:14](kernel.c#L14)"));
    assert_int_equal(binary_shell(all), 1);
    g_autofree char *absolute = binary_contents("g.md");
    assert_non_null(strstr(absolute, "[kernel.c:14](https://github.com/a/b%29%20%3Cx/blob/c0ffee/kernel.c#L14)"));
    assert_non_null(strstr(absolute, "- kernels/token_ring.c:"));
}

static void errors_and_checks_without_a_fault_are_told(void **state)
{
    (void)state;
    assert_int_equal(binary_run("check nonesuch --markdown e.md"), 2);
    g_autofree char *error = binary_contents("e.md");
    assert_true(g_str_has_prefix(error, "## Heddle: 1 error\n\n- "));
    assert_non_null(strstr(error, "nonesuch"));
    assert_int_equal(binary_run("check all_gather -n 1..3 --search enumerate --states 10 --markdown b.md"), 3);
    g_autofree char *bounded = binary_contents("b.md");
    assert_non_null(strstr(bounded, "| all_gather, 3 devices | bounded | "));
    assert_non_null(strstr(bounded, "| all_gather, 1 device | not applicable | "));
}

static void assert_short(const char *text)
{
    assert_true(g_utf8_validate(text, -1, NULL));
    assert_true(g_utf8_strlen(text, -1) < CHARACTERS_MAX);
}

/* Long links make it too long: first the stories are left out, and everything else stays. */
static void stories_are_left_out_first(void **state)
{
    (void)state;
    g_autofree char *far = g_strnfill(600, 'x');
    g_autofree char *words = g_strdup_printf("GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=%s GITHUB_SHA=c0ffee $HEDDLE check "
                                             "kernel.c -n 3 --markdown l.md", far);
    assert_int_equal(binary_run("check kernel.c -n 3 --markdown s.md"), 1);
    g_autofree char *all = binary_contents("s.md");
    assert_non_null(strstr(all, "<details><summary>How it happens</summary>"));
    assert_null(strstr(all, "left out"));
    assert_int_equal(binary_shell(words), 1);
    g_autofree char *linked = binary_contents("l.md");
    assert_short(linked);
    assert_non_null(strstr(linked, "<details><summary>How it happens</summary>"));       /* one entry fits */
    g_autofree char *farther = g_strnfill(6000, 'x');
    g_autofree char *more = g_strdup_printf("GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=%s GITHUB_SHA=c0ffee $HEDDLE check "
                                            "kernel.c -n 3 --markdown l.md", farther);
    assert_int_equal(binary_shell(more), 1);
    g_autofree char *told = binary_contents("l.md");
    assert_short(told);
    assert_null(strstr(told, "How it happens</summary>"));
    assert_non_null(strstr(told, "**Why:** "));
    assert_non_null(strstr(told, "How it happens is left out: the text would be too long."));
}

/* A check that an assertion with this message fails. */
static void case_init(ByHand *c, const char *name, const char *message)
{
    by_hand_init(c, script_new(2, 1, NULL), name, name);
    by_hand_assert(c, message)->why = g_strdup(message);
}

static void many_faults_are_counted_where_they_do_not_fit(void **state)
{
    (void)state;
    static const unsigned counts[] = { 1, 20, 3000 };
    const OutputSettings settings = { .version = "0" };
    for (unsigned n = 0; n < G_N_ELEMENTS(counts); n++) {
        g_autofree char *message = g_strnfill(n == 0 ? 200000 : 3000, n == 1 ? 'x' : '*');
        void *document = markdown_format.begin(&settings);
        for (unsigned i = 0; i < counts[n]; i++) {
            ByHand c;
            g_autofree char *name = g_strdup_printf("kernel_%u_%.*s", i, 1500, message);
            case_init(&c, name, message);
            markdown_format.add(document, &c.result, NULL);
            markdown_format.add_error(document, message);
            by_hand_clear(&c);
        }
        const GString *told = markdown_format.text(document);
        g_autofree char *heading = g_strdup_printf("## Heddle: %u faulty, %u error\n", counts[n], counts[n]);
        assert_short(told->str);
        assert_true(g_str_has_prefix(told->str, heading));
        assert_non_null(strstr(told->str, "### assert"));
        assert_int_equal(strstr(told->str, "entries are left out: the text would be too long.") != NULL, n > 0);
        assert_int_equal(strstr(told->str, "more checks are left out.") != NULL, n == 2);
        markdown_format.clear(document);
    }
}

/* Text stays text: as the rules of CommonMark and GitHub's additions have it. */
static void text_is_escaped(void **state)
{
    static const struct { const char *text, *marked; } rows[] = {
        { "recv_sem of output[2, 0:8] on device 1", "recv_sem of output\\[2, 0:8\\] on device 1" },
        { "_a_ *b* `c` ~d~ $e$ |f|", "\\_a\\_ \\*b\\* \\`c\\` \\~d\\~ \\$e\\$ \\|f\\|" },
        { "<script>&amp;</details>", "&lt;script&gt;&amp;amp;&lt;/details&gt;" },
        { "# head", "\\# head" }, { "- item", "\\- item" }, { "+ item", "\\+ item" }, { "=====", "\\=====" }, { "    code", "code" },
        { "12. item", "12\\. item" }, { "3) item", "3\\) item" }, { "f(3) is 1.5", "f(3) is 1.5" },
        { "by @someone in #12", "by @&#8203;someone in \\#&#8203;12" }, { "http://a.b www.c.d", "http:&#8203;//a.b www&#8203;.c.d" },
        { "![x](y)", "!\\[x\\](y)" }, { "one\ntwo", "one\\\\ntwo" }, { "\xff\x1b[0m", "\\\\xff\\\\x1b\\[0m" },
        { "a\\", "a\\\\" }, { "\u202etxt", "\\\\u202etxt" },
    };
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autoptr(GString) out = g_string_new("- ");
        marked_text(out, rows[i].text, 0);
        assert_string_equal(out->str + 2, rows[i].marked);
    }
    g_autoptr(GString) cut = g_string_new(NULL);
    marked_text(cut, "<<<<<<<<<<<<<<<<<<<<", 40);
    assert_string_equal(cut->str, "&lt;&lt;&lt;&lt;&lt;&lt;&lt;...");
}

static void code_keeps_inside_its_fence(void **state)
{
    (void)state;
    g_autoptr(GString) out = g_string_new(NULL);
    marked_code(out, "a``b`");
    assert_string_equal(out->str, "``` a``b` ```");
    g_string_truncate(out, 0);
    marked_block(out, "diff", "-a\n````\n</details>");
    assert_string_equal(out->str, "`````diff\n-a\n````\n</details>\n`````\n");
}

/* In the whole report: nothing of the kernel's begins a line, a tag, a cell, a fence or a mention. */
static void names_of_kernels_do_not_format_the_report(void **state)
{
    (void)state;
    const char *nasty = "</details><script>alert(1)</script>\n# head\n```\n| a | b |\n<!-- @someone [x](javascript:alert(1)) "
                        "![y](http://z)";
    const OutputSettings settings = { .version = "0" };
    ByHand c;
    case_init(&c, nasty, nasty);
    g_autoptr(GPtrArray) schedules = g_ptr_array_new();
    g_ptr_array_add(schedules, (char *)nasty);
    void *document = markdown_format.begin(&settings);
    markdown_format.add(document, &c.result, schedules);
    markdown_format.add_error(document, nasty);
    const GString *told = markdown_format.text(document);
    g_auto(GStrv) line = g_strsplit(told->str, "\n", -1);
    for (char **at = line; *at; at++) {
        g_autoptr(GRegex) code = g_regex_new("(`+)[^`]+.*?[^`]+\\1", 0, 0, NULL);
        g_autofree char *rest = g_regex_replace_literal(code, *at, -1, 0, "", 0, NULL);
        assert_true(g_str_has_prefix(rest, "<details><summary>") || strcmp(rest, "</details>") == 0 || strchr(rest, '<') == NULL);
        assert_false(g_str_has_prefix(rest, "# ") || g_str_has_prefix(rest, "```"));
        assert_null(strstr(rest, "@someone"));
        assert_false(g_regex_match_simple("(?<!\\\\)\\]\\(", rest, 0, 0));
    }
    assert_non_null(strstr(told->str, "&lt;script&gt;"));
    markdown_format.clear(document);
    by_hand_clear(&c);
}

/* Lines changed, put in and left out; changes far apart are hunks of their own. patch(1) is asked where it is installed. */
static void a_repair_is_a_diff(void **state)
{
    (void)state;
    g_autofree char *file = binary_path("d.c"), *change = binary_path("d.diff");
    assert_true(g_file_set_contents(file, "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n", -1, NULL));
    Repair *repair = repair_new(REPAIR_MENDS, g_strdup("so"));
    Source *source = source_new();
    assert_null(diff_text(repair, source));
    repair_add_line(repair, file, 10, "ten", NULL);
    repair_add_line(repair, file, 2, "two", "2");
    repair_add_line(repair, file, 1, NULL, "zero");
    g_autofree char *diff = diff_text(repair, source);
    g_autofree char *wanted = g_strdup_printf("--- %s\n+++ %s\n@@ -1,4 +1,5 @@\n+zero\n one\n-two\n+2\n three\n four\n"
                                              "@@ -8,3 +9,2 @@\n eight\n nine\n-ten\n", file, file);
    assert_string_equal(diff, wanted);
    assert_true(g_file_set_contents(change, diff, -1, NULL));
    if (binary_tool("patch -s d.c d.diff"))
        print_message("patch is not here: its own opinion was not asked\n");
    else
        binary_tool("sh -c \"test \\\"$(tr '\\n' ' ' <d.c)\\\" = 'zero one 2 three four five six seven eight nine '\"");
    source_free(source);
    repair_free(repair);
}

int main(void)
{
    static const char *const of_ci[] = { "GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_SHA" };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_is_as_it_was),
        cmocka_unit_test(places_are_links_to_the_commit_where_it_is_known),
        cmocka_unit_test(errors_and_checks_without_a_fault_are_told),
        cmocka_unit_test(stories_are_left_out_first),
        cmocka_unit_test(many_faults_are_counted_where_they_do_not_fit),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(code_keeps_inside_its_fence),
        cmocka_unit_test(a_repair_is_a_diff),
        cmocka_unit_test(names_of_kernels_do_not_format_the_report),
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(of_ci); i++)
        g_unsetenv(of_ci[i]);
    return cmocka_run_group_tests(tests, binary_set_up, binary_tear_down);
}
