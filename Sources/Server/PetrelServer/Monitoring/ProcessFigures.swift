import Dispatch
import Foundation

/// What the server's process takes of the machine.
struct ProcessFigures: Sendable {
  var cpuSeconds = 0.0
  var residentBytes = 0
  var virtualBytes = 0
  var openFiles = 0
  var maximumFiles = 0
  var threads = 0
  /// Since 1970-01-01 UTC.
  var startSeconds = 0.0

  /// Reads them from the kernel.
  static func read() async -> ProcessFigures {
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "petrel.process-figures").async {
        continuation.resume(returning: ProcessFigures.now)
      }
    }
  }

  private static var now: ProcessFigures {
    var figures = ProcessFigures()
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      figures.maximumFiles = Int(clamping: limit.rlim_cur)
    }
    // The folder is always there on Linux.
    figures.openFiles =
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    // proc(5): the name in parentheses may hold anything, so what counts comes behind the last one.
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

  /// When the machine was started.
  private static let bootSeconds: Double = {
    let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("btime ") }
    return line.flatMap { Double($0.dropFirst(6)) } ?? 0
  }()
}
