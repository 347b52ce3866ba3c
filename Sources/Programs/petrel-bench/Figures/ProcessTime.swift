import Foundation

/// The processor time of a process. Other programs on the machine influence it less than elapsed
/// time.
enum ProcessTime {
  /// Returns the processor seconds that a process has used: user and system time together, also of
  /// threads that have ended (clock_getcpuclockid(3)).
  ///
  /// The value is 0 if the process has ended.
  static func seconds(of process: Int32) -> Double {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else {
      return 0
    }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
