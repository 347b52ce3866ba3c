import Foundation

/// The memory that a process has, by /proc (proc(5)).
enum ProcessMemory {
  /// Bytes that are resident; 0 for a process that is gone.
  static func resident(of process: Int32) -> Int { kilobytes("VmRSS:", of: process) << 10 }

  private static func kilobytes(_ key: String, of process: Int32) -> Int {
    // A process that has ended takes no memory.
    let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      .flatMap { Int($0) } ?? 0
  }
}
