import CommandInterface
import Cryptography
import Foundation
import HTTP2Transport
import PushChannels
import ServerHosting

/// The receiver of the push benchmarks: a process of `nghttpd` from Debian.
///
/// The process speaks HTTP/2 over TLS like APNs. It checks none of APNs' rules, so it needs little
/// processor time. Other programs can send to it too, so their rates can be compared with Petrel's.
final class PushPeer {
  /// The number of requests that may be open on one connection. APNs allows the same number.
  static let streams = 1_000
  /// The number of device tokens that the peer knows. `nghttpd` answers a POST request with 200
  /// only if there is a file at its path. So each token has an empty file.
  static let devices = 1_000

  let port: Int
  private let directory: String
  /// The path of the file with the certificate that a client must trust.
  private let authorityFile: String
  /// The source of provider tokens; `nghttpd` does not check them.
  private let tokens: ProviderTokenSource
  private let process: ChildProcess

  /// Starts `nghttpd` on a free port of the loopback interface, with a new certificate, and waits
  /// until it accepts connections.
  ///
  /// - Throws: `UsageError` if `nghttpd` is not installed or does not start within 10 s.
  static func start() async throws -> PushPeer {
    let peer = try PushPeer(in: NSTemporaryDirectory() + "petrel-push-\(UUID().uuidString)")
    try await peer.untilReady()
    return peer
  }

  private init(in directory: String) throws {
    self.directory = directory
    let folder = directory + "/htdocs/3/device"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for token in Self.deviceTokens {
      try Data().write(to: URL(fileURLWithPath: "\(folder)/\(token)"))
    }
    let authority = try CertificateAuthority(commonName: "Petrel benchmark")
    authorityFile = directory + "/authority.pem"
    try authority.writeCertificate(toFile: authorityFile)
    try authority.issueCertificate(forHosts: ["127.0.0.1"]).write(
      certificateFile: directory + "/server.pem", privateKeyFile: directory + "/server.key")
    tokens = ProviderTokenSource(
      key: try ES256PrivateKey(), keyID: SimulatorFiles.keyID, teamID: SimulatorFiles.teamID)
    port = try Self.freePort()
    process = try ChildProcess(
      path: SystemProgram.path("nghttpd", ofPackage: "nghttp2-server"),
      [
        "--address=127.0.0.1", "--htdocs=\(directory)/htdocs",
        "--max-concurrent-streams=\(Self.streams)", "\(port)", directory + "/server.key",
        directory + "/server.pem",
      ], readsOutput: false)
  }

  func stop() {
    process.kill()
    BenchmarkFolder.remove(directory)
  }

  func client(on loop: EventLoop, connections: Int) -> APNsClient {
    var configuration = APNsClient.Configuration(
      host: "127.0.0.1", port: port, trust: .certificateFile(authorityFile),
      authentication: .tokens(tokens))
    configuration.maximumConnections = connections
    return APNsClient(configuration, loop: loop)
  }

  /// Returns one of the device tokens that the peer knows. The number may be greater than
  /// ``devices``.
  static func deviceToken(_ number: Int) -> String { deviceTokens[number % devices] }

  /// Returns a device token that the peer knows, in place of another token. The last three digits
  /// of the other token select it.
  static func deviceToken(standingFor token: String) -> String {
    deviceToken(Int(token.suffix(3)) ?? 0)
  }

  private static let deviceTokens = (0..<devices).map { number in
    String(repeating: "d4", count: 30) + String(1000 + number)
  }

  /// Tries to connect until a connection succeeds, because `nghttpd` does not report when it is
  /// ready.
  private func untilReady() async throws {
    let deadline = monotonicSeconds() + 10
    while true {
      do {
        close(try LoadConnection.connect(to: port))
        return
      } catch {
        guard monotonicSeconds() < deadline else {
          stop()
          throw UsageError("nghttpd did not start on port \(port): \(error)")
        }
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  /// Returns a free TCP port of the loopback interface. Another process could use the port before
  /// `nghttpd` does.
  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else { throw UsageError("there is no free port") }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}

/// The search for installed programs. Some programs are in `/usr/sbin`, which may be missing in a
/// user's `PATH`.
enum SystemProgram {
  /// Throws a `UsageError` that names the Debian package if the program is missing.
  static func path(_ name: String, ofPackage package: String) throws -> String {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let folders = path.split(separator: ":").map(String.init) + ["/usr/bin", "/usr/sbin"]
    let places = folders.map { "\($0)/\(name)" }
    guard let found = places.first(where: FileManager.default.isExecutableFile(atPath:)) else {
      throw UsageError("\(name) is not installed: apt install \(package)")
    }
    return found
  }
}
