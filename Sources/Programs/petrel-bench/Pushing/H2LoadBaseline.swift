import CommandInterface
import Foundation
import PushChannels
import ServerHosting

/// The baseline of the push benchmarks: `h2load`, nghttp2's own load generator, which sends the same
/// bytes again and again and looks at nothing but the status of the answers.
struct H2LoadBaseline {
  let peer: PushPeer

  /// Posts as many requests as a push benchmark, over one connection, with as many streams as the peer
  /// allows, and answers how many requests it made in a second.
  ///
  /// - Parameter push: whose payload and header fields each request has.
  /// - Throws: ``UsageError`` when not every answer was a success.
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

  /// Characters of a provider token (ES256, with the IDs that Apple gives out).
  private static let providerTokenLength = 187
}

/// What h2load prints at its end.
struct H2LoadReport {
  /// Requests a second.
  private(set) var rate: Double?
  /// Answers with a status in the two hundreds.
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
