import Foundation

/// The processor time that a process has used, which others on the machine change little.
enum ProcessTime {
  /// User's and system's seconds together, of ended threads too (clock_getcpuclockid(3)); 0 for a
  /// process that is gone.
  static func seconds(of process: Int32) -> Double {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else {
      return 0
    }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
