//! The CPU time that this thread has used: what a busy machine does beside it does not count.

#[cfg(target_os = "macos")]
const THREAD_CPU_TIME: i32 = 16;
#[cfg(not(target_os = "macos"))]
const THREAD_CPU_TIME: i32 = 3;

#[repr(C)]
struct TimeSpec {
    seconds: std::ffi::c_long,
    nanoseconds: std::ffi::c_long,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut TimeSpec) -> i32;
}

/// CPU time of this thread since it began, in milliseconds.
pub fn cpu_ms() -> f64 {
    let mut time = TimeSpec { seconds: 0, nanoseconds: 0 };
    // The C library fills the struct, which has the layout that POSIX gives it.
    unsafe { clock_gettime(THREAD_CPU_TIME, &mut time) };
    time.seconds as f64 * 1e3 + time.nanoseconds as f64 / 1e6
}
