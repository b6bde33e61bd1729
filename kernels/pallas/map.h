/* map.h - loops of the preprocessor: count up to 65 arguments and apply a macro to each.
 *
 * PL_EACH(m, a, b, c) is m(3, a), m(2, b), m(1, c): the number counts down, so that it can index from the end of an array.
 * PL_LIST(a, b) is "2, address of the integers a and b"; PL_LIST() is "0, ...".
 */
#pragma once

#define PL_LIST(...) \
    (int)(sizeof((const int64_t[]){ 0, __VA_ARGS__ }) / sizeof(int64_t) - 1), &((const int64_t[]){ 0, __VA_ARGS__ })[1]

/* The same for refs, at least one. */
#define PL_REFS(...) (int)(sizeof((const PlRef[]){ __VA_ARGS__ }) / sizeof(PlRef)), (const PlRef[]){ __VA_ARGS__ }

#define PL_NARGS(...) PL_PICK(__VA_ARGS__, \
    65, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, \
    43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, \
    21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
/* 1 for one argument, N for more. */
#define PL_ONE_OR_MORE(...) PL_PICK(__VA_ARGS__, \
    N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, \
    N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, \
    N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, N, 1, 0)
#define PL_PICK( \
    a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, \
    a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, \
    a45, a46, a47, a48, a49, a50, a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, \
    pick, ...) pick

#define PL_PASTE(a, b) PL_PASTE_(a, b)
#define PL_PASTE_(a, b) a##b
#define PL_EACH(m, ...) PL_PASTE(PL_EACH_, PL_NARGS(__VA_ARGS__))(m, __VA_ARGS__)

#define PL_EACH_1(m, a) m(1, a)
#define PL_EACH_2(m, a, ...) m(2, a), PL_EACH_1(m, __VA_ARGS__)
#define PL_EACH_3(m, a, ...) m(3, a), PL_EACH_2(m, __VA_ARGS__)
#define PL_EACH_4(m, a, ...) m(4, a), PL_EACH_3(m, __VA_ARGS__)
#define PL_EACH_5(m, a, ...) m(5, a), PL_EACH_4(m, __VA_ARGS__)
#define PL_EACH_6(m, a, ...) m(6, a), PL_EACH_5(m, __VA_ARGS__)
#define PL_EACH_7(m, a, ...) m(7, a), PL_EACH_6(m, __VA_ARGS__)
#define PL_EACH_8(m, a, ...) m(8, a), PL_EACH_7(m, __VA_ARGS__)
#define PL_EACH_9(m, a, ...) m(9, a), PL_EACH_8(m, __VA_ARGS__)
#define PL_EACH_10(m, a, ...) m(10, a), PL_EACH_9(m, __VA_ARGS__)
#define PL_EACH_11(m, a, ...) m(11, a), PL_EACH_10(m, __VA_ARGS__)
#define PL_EACH_12(m, a, ...) m(12, a), PL_EACH_11(m, __VA_ARGS__)
#define PL_EACH_13(m, a, ...) m(13, a), PL_EACH_12(m, __VA_ARGS__)
#define PL_EACH_14(m, a, ...) m(14, a), PL_EACH_13(m, __VA_ARGS__)
#define PL_EACH_15(m, a, ...) m(15, a), PL_EACH_14(m, __VA_ARGS__)
#define PL_EACH_16(m, a, ...) m(16, a), PL_EACH_15(m, __VA_ARGS__)
#define PL_EACH_17(m, a, ...) m(17, a), PL_EACH_16(m, __VA_ARGS__)
#define PL_EACH_18(m, a, ...) m(18, a), PL_EACH_17(m, __VA_ARGS__)
#define PL_EACH_19(m, a, ...) m(19, a), PL_EACH_18(m, __VA_ARGS__)
#define PL_EACH_20(m, a, ...) m(20, a), PL_EACH_19(m, __VA_ARGS__)
#define PL_EACH_21(m, a, ...) m(21, a), PL_EACH_20(m, __VA_ARGS__)
#define PL_EACH_22(m, a, ...) m(22, a), PL_EACH_21(m, __VA_ARGS__)
#define PL_EACH_23(m, a, ...) m(23, a), PL_EACH_22(m, __VA_ARGS__)
#define PL_EACH_24(m, a, ...) m(24, a), PL_EACH_23(m, __VA_ARGS__)
#define PL_EACH_25(m, a, ...) m(25, a), PL_EACH_24(m, __VA_ARGS__)
#define PL_EACH_26(m, a, ...) m(26, a), PL_EACH_25(m, __VA_ARGS__)
#define PL_EACH_27(m, a, ...) m(27, a), PL_EACH_26(m, __VA_ARGS__)
#define PL_EACH_28(m, a, ...) m(28, a), PL_EACH_27(m, __VA_ARGS__)
#define PL_EACH_29(m, a, ...) m(29, a), PL_EACH_28(m, __VA_ARGS__)
#define PL_EACH_30(m, a, ...) m(30, a), PL_EACH_29(m, __VA_ARGS__)
#define PL_EACH_31(m, a, ...) m(31, a), PL_EACH_30(m, __VA_ARGS__)
#define PL_EACH_32(m, a, ...) m(32, a), PL_EACH_31(m, __VA_ARGS__)
#define PL_EACH_33(m, a, ...) m(33, a), PL_EACH_32(m, __VA_ARGS__)
#define PL_EACH_34(m, a, ...) m(34, a), PL_EACH_33(m, __VA_ARGS__)
#define PL_EACH_35(m, a, ...) m(35, a), PL_EACH_34(m, __VA_ARGS__)
#define PL_EACH_36(m, a, ...) m(36, a), PL_EACH_35(m, __VA_ARGS__)
#define PL_EACH_37(m, a, ...) m(37, a), PL_EACH_36(m, __VA_ARGS__)
#define PL_EACH_38(m, a, ...) m(38, a), PL_EACH_37(m, __VA_ARGS__)
#define PL_EACH_39(m, a, ...) m(39, a), PL_EACH_38(m, __VA_ARGS__)
#define PL_EACH_40(m, a, ...) m(40, a), PL_EACH_39(m, __VA_ARGS__)
#define PL_EACH_41(m, a, ...) m(41, a), PL_EACH_40(m, __VA_ARGS__)
#define PL_EACH_42(m, a, ...) m(42, a), PL_EACH_41(m, __VA_ARGS__)
#define PL_EACH_43(m, a, ...) m(43, a), PL_EACH_42(m, __VA_ARGS__)
#define PL_EACH_44(m, a, ...) m(44, a), PL_EACH_43(m, __VA_ARGS__)
#define PL_EACH_45(m, a, ...) m(45, a), PL_EACH_44(m, __VA_ARGS__)
#define PL_EACH_46(m, a, ...) m(46, a), PL_EACH_45(m, __VA_ARGS__)
#define PL_EACH_47(m, a, ...) m(47, a), PL_EACH_46(m, __VA_ARGS__)
#define PL_EACH_48(m, a, ...) m(48, a), PL_EACH_47(m, __VA_ARGS__)
#define PL_EACH_49(m, a, ...) m(49, a), PL_EACH_48(m, __VA_ARGS__)
#define PL_EACH_50(m, a, ...) m(50, a), PL_EACH_49(m, __VA_ARGS__)
#define PL_EACH_51(m, a, ...) m(51, a), PL_EACH_50(m, __VA_ARGS__)
#define PL_EACH_52(m, a, ...) m(52, a), PL_EACH_51(m, __VA_ARGS__)
#define PL_EACH_53(m, a, ...) m(53, a), PL_EACH_52(m, __VA_ARGS__)
#define PL_EACH_54(m, a, ...) m(54, a), PL_EACH_53(m, __VA_ARGS__)
#define PL_EACH_55(m, a, ...) m(55, a), PL_EACH_54(m, __VA_ARGS__)
#define PL_EACH_56(m, a, ...) m(56, a), PL_EACH_55(m, __VA_ARGS__)
#define PL_EACH_57(m, a, ...) m(57, a), PL_EACH_56(m, __VA_ARGS__)
#define PL_EACH_58(m, a, ...) m(58, a), PL_EACH_57(m, __VA_ARGS__)
#define PL_EACH_59(m, a, ...) m(59, a), PL_EACH_58(m, __VA_ARGS__)
#define PL_EACH_60(m, a, ...) m(60, a), PL_EACH_59(m, __VA_ARGS__)
#define PL_EACH_61(m, a, ...) m(61, a), PL_EACH_60(m, __VA_ARGS__)
#define PL_EACH_62(m, a, ...) m(62, a), PL_EACH_61(m, __VA_ARGS__)
#define PL_EACH_63(m, a, ...) m(63, a), PL_EACH_62(m, __VA_ARGS__)
#define PL_EACH_64(m, a, ...) m(64, a), PL_EACH_63(m, __VA_ARGS__)
#define PL_EACH_65(m, a, ...) m(65, a), PL_EACH_64(m, __VA_ARGS__)
