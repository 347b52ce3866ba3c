import Foundation

/// The resources that a server uses at a moment, and the waits of its users since the moment
/// before.
struct SoakSample: Codable, Sendable {
  /// Seconds since the load began.
  var seconds: Double
  var residentBytes: Int
  var descriptors: Int
  var threads: Int
  /// All files of the store but its log.
  var storeBytes: Int
  /// The write-ahead log, which may get four times as long as it is to be; not PostgreSQL's, whose
  /// length is its own affair.
  var logBytes: Int
  var requests: Int
  /// Of requests, in seconds.
  var answerMedian: Double
  var answer99: Double
  /// From a save's answer to the push of it, in seconds.
  var pushMedian: Double
  var push99: Double

  /// - Parameters:
  ///   - process: the server.
  ///   - folder: where its data lies.
  init(
    seconds: Double, process: pid_t, folder: String, answers: [Double], pushes: [Double]
  ) {
    self.seconds = seconds
    let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
    func figure(_ name: String) -> Int {
      let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
      return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
    residentBytes = figure("VmRSS") << 10
    threads = figure("Threads")
    descriptors =
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd"))?
      .count ?? 0
    var bytes = 0
    var log = 0
    if let files = FileManager.default.enumerator(atPath: folder) {
      for case let name as String in files where !name.contains("pg_wal/") {
        var info = stat()
        if stat(folder + "/" + name, &info) == 0, info.st_mode & S_IFMT == S_IFREG {
          let size = Int(info.st_blocks) * 512
          if name.hasSuffix("-wal") { log += size } else { bytes += size }
        }
      }
    }
    storeBytes = bytes
    logBytes = log
    requests = answers.count
    (answerMedian, answer99) = Self.percentiles(answers)
    (pushMedian, push99) = Self.percentiles(pushes)
  }

  private static func percentiles(_ values: [Double]) -> (Double, Double) {
    guard !values.isEmpty else { return (0, 0) }
    let sorted = values.sorted()
    return (sorted[sorted.count / 2], sorted[min(sorted.count - 1, sorted.count * 99 / 100)])
  }
}
