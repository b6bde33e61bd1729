/* four_devices.c - the first example: four devices, three copies, one pair of semaphores.
 *
 *     0 --> 1        2 <--> 3
 *
 * Every device describes all three copies, starts those that are its own, and waits for its part. A wait is for a number of bytes on a
 * semaphore of the caller, never for a copy: any descriptor of the same shape would do.
 */
#include <heddle/pallas.h>

typedef struct Copies { PlCopy zero_to_one, two_to_three, three_to_two; } Copies;

static Copies describe(PlRef input, PlRef output, PlRef send_sem, PlRef recv_sem)
{
    return (Copies){
        .zero_to_one = pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(1)),
        .two_to_three = pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(3)),
        .three_to_two = pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(2)),
    };
}

KERNEL(four_devices, input, output, send_sem, recv_sem)
{
    int my_id = pl_axis_index("x");
    Copies copy = describe(input, output, send_sem, recv_sem);

    if (my_id == 0) {
        pl_copy_start(copy.zero_to_one);
        pl_copy_wait_send(copy.zero_to_one);
    } else if (my_id == 1) {
        pl_copy_wait_recv(copy.zero_to_one);
    } else if (my_id == 2) {
        pl_copy_start(copy.two_to_three);
        pl_copy_wait_send(copy.two_to_three);
        pl_copy_wait_recv(copy.two_to_three);       /* what arrives is three_to_two, of as many bytes: just as good */
    } else {
        pl_copy_start(copy.three_to_two);
        pl_copy_wait_send(copy.three_to_two);
        pl_copy_wait_recv(copy.two_to_three);
    }
}

static double from_partner(const PlRef *input, int device, const int64_t *index)
{
    static const int partner[] = { -1, 0, 3, 2 };
    return device == 0 ? PL_ANY_VALUE : pl_given(input[0], partner[device], index[0], index[1]);
}

PROGRAM(four_devices, "four devices, three copies, one pair of semaphores")
{
    PL_NEEDS(pl_num_devices() == 4, "four devices");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);

    pl_launch(four_devices, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore()});
    pl_expect_values(output, from_partner, 0, input);
}

/* Wrong: device 1 trusts that the copy will arrive, and leaves. */
KERNEL(four_devices_unreceived, input, output, send_sem, recv_sem)
{
    int my_id = pl_axis_index("x");
    Copies copy = describe(input, output, send_sem, recv_sem);

    if (my_id == 0) {
        pl_copy_start(copy.zero_to_one);
        pl_copy_wait_send(copy.zero_to_one);
    }
}

PROGRAM(four_devices_unreceived, "wrong: the receiving device does not wait, and may leave before the data arrives")
{
    PL_NEEDS(pl_num_devices() == 4, "four devices");
    pl_expect_fault(PL_IN_FLIGHT, .from = 4);
    pl_expect_fault(PL_LEFTOVER, .from = 4);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);

    pl_launch(four_devices_unreceived, .args = {input, output, pl_dma_semaphore(), pl_dma_semaphore()});
}
