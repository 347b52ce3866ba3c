import Foundation

/// The memory of a process, read from `/proc` (proc(5)).
enum ProcessMemory {
  /// Returns the resident bytes of a process; 0 if the process has ended.
  static func resident(of process: Int32) -> Int { kilobytes("VmRSS:", of: process) << 10 }

  /// Returns a value of `/proc/PID/status` in kilobytes; 0 if the process has ended.
  private static func kilobytes(_ key: String, of process: Int32) -> Int {
    // The file is missing if the process has ended, and then the process uses no memory.
    let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      .flatMap { Int($0) } ?? 0
  }
}
