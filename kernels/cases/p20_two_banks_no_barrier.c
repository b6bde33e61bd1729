/* p20_two_banks_no_barrier.c - two mailboxes used in turn, two semaphores, and no barrier at all. This is right.
 *
 * Reported:  sgl-project/sglang-jax#1497 (the protocol that it ended with).
 * Looks wrong: the bank of generation g is written again in generation g+2, and nobody ever says that it has been read.
 * Is right:  to send generation g+2 one must hold the partner's row of g+1, and that was sent after the partner was through with g.
 * Teaches:   data that flows both ways is a handshake. A checker that only knows barriers cries wolf.
 */
#include <heddle/pallas.h>

enum { GENERATIONS = 4 };

KERNEL(p20_mailboxes, x, mail, send_sems, recv_sems)
{
    PlDevice partner = pl_device(1 - pl_device_id());

    for (int g = 0; g < GENERATIONS; g++) {
        int bank = g % 2;
        PlCopy row = pl_async_remote_copy(x, pl_at(mail, bank), pl_at(send_sems, bank), pl_at(recv_sems, bank), partner);
        pl_copy_wait_send(row);
        pl_copy_wait_recv(row);
        pl_load(pl_at(mail, bank));
    }
}

PROGRAM(p20_two_banks_no_barrier, "P20: two banks in turn, where the answer is the permission")
{
    PL_NEEDS(pl_num_devices() == 2, "two partners");
    PlRef x = pl_input(PL_F32, 8, 128), mail = pl_vmem(PL_F32, 2, 8, 128);

    pl_launch(p20_mailboxes, .args = {x, mail, pl_dma_semaphore(2), pl_dma_semaphore(2)});
}
