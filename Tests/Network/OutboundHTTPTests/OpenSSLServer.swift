import Cryptography
import Foundation
import Waiting

/// OpenSSL's own server on this machine. It can be configured to offer what a good server would
/// not.
final class OpenSSLServer: @unchecked Sendable {
  // Not changed after it was started.
  private let process = Process()
  private let folder: URL
  let port: Int

  /// - Parameter options: further words for `openssl s_server`.
  init(_ certificate: ServerCertificate, _ options: [String] = []) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let files = (folder.appending(path: "c.pem").path, folder.appending(path: "k.pem").path)
    try certificate.write(certificateFile: files.0, privateKeyFile: files.1)
    let output = folder.appending(path: "out")
    try Data().write(to: output)
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments =
      ["s_server", "-accept", "127.0.0.1:0", "-www", "-cert", files.0, "-key", files.1] + options
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = process.standardOutput
    try process.run()
    var port: Int?
    do {
      try await eventually("openssl listens") {
        let text = try String(contentsOf: output, encoding: .utf8)
        port = text.firstMatch(of: /ACCEPT 127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) }
        return port != nil
      }
    } catch {
      // Test threads block SIGTERM, which the process inherits.
      kill(process.processIdentifier, SIGKILL)
      throw error
    }
    self.port = port ?? 0
  }

  deinit {
    kill(process.processIdentifier, SIGKILL)
    try? FileManager.default.removeItem(at: folder)
  }
}
