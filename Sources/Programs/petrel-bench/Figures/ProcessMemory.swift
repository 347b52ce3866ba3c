import CMemoryAllocation
import Foundation

/// The memory of a process.
enum ProcessMemory {
  /// Returns the resident bytes of a process, read from `/proc` (proc(5)); 0 if the process has
  /// ended.
  static func resident(of process: Int32) -> Int { kilobytes("VmRSS:", of: process) << 10 }

  /// The bytes that this process has allocated and not freed (mallinfo(3)).
  static var allocated: Int {
    // The type has the same name as the function.
    let read: () -> mallinfo2 = mallinfo2
    let memory = read()
    return Int(memory.uordblks + memory.hblkhd)
  }

  /// Returns a value of `/proc/PID/status` in kilobytes; 0 if the process has ended.
  private static func kilobytes(_ key: String, of process: Int32) -> Int {
    // The file is missing if the process has ended, and then the process uses no memory.
    let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
    return line?.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      .flatMap { Int($0) } ?? 0
  }
}
