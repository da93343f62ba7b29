//! Handing open files to another process.

use std::io;
use std::mem::{size_of_val, zeroed};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;

/// Sends copies of open files over a socket, a byte of data with every batch of at most 64.
///
/// # Errors
/// When a descriptor is not open, or the other side is gone.
pub(crate) fn send_descriptors(socket: &UnixStream, descriptors: &[RawFd]) -> io::Result<()> {
    const BATCH: usize = 64;
    for batch in descriptors.chunks(BATCH) {
        let bytes = size_of_val(batch) as u32;
        let mut data = [0_u8];
        let mut part = libc::iovec { iov_base: data.as_mut_ptr().cast(), iov_len: data.len() };
        // SAFETY: computes a size.
        let room = unsafe { libc::CMSG_SPACE(bytes) } as usize;
        // Words, as a header must be aligned.
        let mut control = vec![0_u64; room.div_ceil(size_of::<u64>())];
        // SAFETY: all zeros is an empty message.
        let mut message: libc::msghdr = unsafe { zeroed() };
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = room as _;
        // SAFETY: the control buffer has room for one header with `bytes` of data, and everything that the message
        // points to outlives the call.
        let sent = unsafe {
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(bytes) as _;
            ptr::copy_nonoverlapping(
                batch.as_ptr().cast::<u8>(),
                libc::CMSG_DATA(header),
                size_of_val(batch),
            );
            libc::sendmsg(socket.as_raw_fd(), &message, libc::MSG_NOSIGNAL)
        };
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
