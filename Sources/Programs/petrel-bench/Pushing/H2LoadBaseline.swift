import CommandInterface
import Foundation
import PushChannels
import ServerHosting

/// The baseline of ``PushBenchmark``: the rate of `h2load`, the load generator of nghttp2. It sends
/// the same bytes repeatedly, and checks only the status of the answers.
struct H2LoadBaseline {
  let peer: PushPeer

  /// Sends requests over one connection, with as many open requests at a time as the peer allows.
  ///
  /// - Parameter push: The push whose payload and header fields each request has.
  /// - Returns: The requests a second, as h2load reports them.
  /// - Throws: `UsageError` if an answer is not a success, or if h2load is not installed.
  func rate(_ count: Int, like push: Push) async throws -> Double {
    let directory = NSTemporaryDirectory() + "petrel-h2load-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true)
    defer { BenchmarkFolder.remove(directory) }
    let body = directory + "/body"
    try Data(push.payload.bytes).write(to: URL(fileURLWithPath: body))
    let addresses = (0..<PushPeer.devices).map {
      "https://127.0.0.1:\(peer.port)/3/device/\(PushPeer.deviceToken($0))\n"
    }
    try addresses.joined().write(
      toFile: directory + "/addresses", atomically: true, encoding: .utf8)
    let token = String(repeating: "t", count: Self.providerTokenLength)
    let fields = push.headers.map { "\($0.name): \($0.value)" } + ["authorization: bearer \(token)"]
    let program = try SystemProgram.path("h2load", ofPackage: "nghttp2-client")
    let arguments =
      [
        "--requests=\(count)", "--clients=1", "--max-concurrent-streams=\(PushPeer.streams)",
        "--data=\(body)", "--input-file=\(directory)/addresses",
      ] + fields.map { "--header=\($0)" }
    return try await onThread {
      let process = try ChildProcess(path: program, arguments, readsOutput: true)
      var report = H2LoadReport()
      while let line = process.readLine() { report.read(line) }
      let status = process.wait()
      guard status == 0, let rate = report.rate, report.successes == count else {
        throw UsageError(
          "h2load ended with \(status), and \(report.successes ?? 0) of \(count) answers were "
            + "successes")
      }
      return rate
    }
  }

  /// The number of characters in a provider token: a JSON Web Token with an ES256 signature, and
  /// with IDs as long as Apple's.
  private static let providerTokenLength = 187
}

/// The report that h2load prints at its end.
struct H2LoadReport {
  /// The requests a second; `nil` if no line had them.
  private(set) var rate: Double?
  /// The number of answers with a status from 200 to 299; `nil` if no line had it.
  private(set) var successes: Int?

  mutating func read(_ line: String) {
    // finished in 2.48s, 80792.64 req/s, 2.09MB/s
    // status codes: 200000 2xx, 0 3xx, 0 4xx, 0 5xx
    let words = line.split(whereSeparator: { $0 == " " || $0 == "," })
    if line.hasPrefix("finished in"), let unit = words.firstIndex(of: "req/s"), unit > 0 {
      rate = Double(words[unit - 1])
    } else if line.hasPrefix("status codes:"), let unit = words.firstIndex(of: "2xx"), unit > 0 {
      successes = Int(words[unit - 1])
    }
  }
}
