/* launches.c - what JAX's tests hand from one launch to the next: semaphores, and copies that are started here and waited for there.
 *
 * Written anew after tests/pallas/tpu_pallas_distributed_test.py (JAX, Apache-2.0).
 */
#include <heddle/pallas.h>

static int right_of(int id) { return (id + 1) % pl_num_devices(); }
static int left_of(int id) { return (id + pl_num_devices() - 1) % pl_num_devices(); }

/* The first launch tells the left neighbour that its right one is there, on a semaphore that it returns; the second takes that semaphore
 * and needs no barrier at its entry. The output and the receive semaphore are arguments of both: what a copy writes to and counts on must
 * live when "ready" is said. */
KERNEL(jax_say_ready, ready, output, recv_sem)
{
    pl_semaphore_signal(ready, 1, pl_device(left_of(pl_device_id())));
}

KERNEL(jax_send_when_ready, input, output, ready, send_sem, recv_sem)
{
    pl_semaphore_wait(ready, 1);
    PlCopy pass = pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(right_of(pl_device_id())));
    pl_copy_start(pass);
    pl_copy_wait(pass);
}

PROGRAM(jax_semaphore_handed_on, "a launch returns a semaphore, the next one takes it and skips its entry barrier")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    PlRef ready = pl_semaphore_output(PL_REGULAR), recv_sem = pl_semaphore_output(PL_DMA);
    pl_launch(jax_say_ready, .args = {ready, output, recv_sem});
    pl_launch(jax_send_when_ready, .args = {input, output, ready, pl_dma_semaphore(), recv_sem}, .skip_device_barrier = true);
    pl_expect_permute(output, input, 1);
}

/* An asynchronous pair: started in one launch, waited for in the next. The buffers and semaphores live through both. */
KERNEL(jax_start_local, input, output, sem)
{
    pl_async_copy(input, output, sem);
}

KERNEL(jax_wait_local, input, output, sem)
{
    pl_copy_wait(pl_make_async_copy(input, output, sem));
}

PROGRAM(jax_async_pair_local, "a local copy is started in one launch and waited for in the next")
{
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128), sem = pl_semaphore_output(PL_DMA);
    pl_launch(jax_start_local, .args = {input, output, sem});
    pl_launch(jax_wait_local, .args = {input, output, sem});
    pl_expect_equal(output, input);
}

KERNEL(jax_start_remote, input, output, send_sem, recv_sem)
{
    pl_async_remote_copy(input, output, send_sem, recv_sem, pl_device(right_of(pl_device_id())));
}

KERNEL(jax_wait_remote, input, output, send_sem, recv_sem)
{
    pl_copy_wait(pl_make_async_remote_copy(input, output, send_sem, recv_sem, pl_device(right_of(pl_device_id()))));
}

PROGRAM(jax_async_pair_remote, "a right permute is started in one launch and waited for in the next")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128);
    PlRef send_sem = pl_semaphore_output(PL_DMA), recv_sem = pl_semaphore_output(PL_DMA);
    pl_launch(jax_start_remote, .args = {input, output, send_sem, recv_sem});
    pl_launch(jax_wait_remote, .args = {input, output, send_sem, recv_sem}, .skip_device_barrier = true);
    pl_expect_permute(output, input, 1);
}

/* Wrong: the output is the second launch's alone. "Ready" was said in the first one: the neighbour may not be in the second yet. */
KERNEL(jax_say_ready_too_soon, ready)
{
    pl_semaphore_signal(ready, 1, pl_device(left_of(pl_device_id())));
}

/* Cause:  "pl_semaphore_signal(ready", "pl_semaphore_wait(ready"
 * Repair: down ready or barrier */
PROGRAM(jax_ready_said_too_soon, "wrong: ready is said a launch before the output exists")
{
    PL_NEEDS(pl_num_devices() >= 2, "a ring");
    pl_expect_fault(PL_LIFETIME, .from = 2);
    PlRef input = pl_input(PL_F32, 8, 128), output = pl_output(PL_F32, 8, 128), ready = pl_semaphore_output(PL_REGULAR);
    pl_launch(jax_say_ready_too_soon, .args = {ready});
    pl_launch(jax_send_when_ready, .args = {input, output, ready, pl_dma_semaphore(), pl_dma_semaphore()}, .skip_device_barrier = true);
    pl_expect_permute(output, input, 1);
}
