import Concurrency
import Dispatch
import Foundation

/// The use of the machine's resources by this process.
struct ProcessFigures: Sendable {
  /// The processor time in seconds, in user and kernel mode together.
  var cpuSeconds = 0.0
  /// The resident memory in bytes.
  var residentBytes = 0
  /// The mapped memory in bytes.
  var virtualBytes = 0
  var openFiles = 0
  /// The maximum number of open files and sockets (`RLIMIT_NOFILE`).
  var maximumFiles = 0
  var threads = 0
  /// The time of the process's start in seconds since 1970-01-01 UTC.
  var startSeconds = 0.0

  /// Reads the figures from the kernel. It reads the files in `/proc` on a separate dispatch queue,
  /// because this blocks a thread.
  static func read() async -> ProcessFigures {
    await DispatchQueue(label: "petrel.process-figures").run { now }
  }

  /// The present figures. A figure that cannot be read is 0.
  private static var now: ProcessFigures {
    var figures = ProcessFigures()
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      figures.maximumFiles = Int(clamping: limit.rlim_cur)
    }
    // The directory always exists on Linux.
    figures.openFiles =
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    // The name in parentheses may contain any character, so the fields begin after the last
    // parenthesis (proc(5)).
    guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return figures }
    let fields = text[text.index(after: end)...].split(separator: " ").map { Double($0) ?? 0 }
    guard fields.count > 21 else { return figures }
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    figures.cpuSeconds = (fields[11] + fields[12]) / ticks
    figures.threads = Int(fields[17])
    figures.startSeconds = bootSeconds + fields[19] / ticks
    figures.virtualBytes = Int(fields[20])
    figures.residentBytes = Int(fields[21]) * sysconf(Int32(_SC_PAGESIZE))
    return figures
  }

  /// The time of the machine's start in seconds since 1970-01-01 UTC; 0 if it cannot be read.
  private static let bootSeconds: Double = {
    let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("btime ") }
    return line.flatMap { Double($0.dropFirst(6)) } ?? 0
  }()
}
