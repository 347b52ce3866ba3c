import CommandInterface
import Cryptography
import Foundation
import HTTP2Transport
import PushChannels
import ServerHosting

/// What the push benchmarks send to: Debian's `nghttpd` in a process of its own. It speaks HTTP/2 over
/// TLS as APNs does and knows none of APNs' rules, so that it costs little; other senders can be
/// measured against it.
final class PushPeer {
  /// Requests that may be open on one connection, as many as APNs allows.
  static let streams = 1_000
  /// It answers 200 to a POST only when there is a file of that name: so many device tokens have one.
  static let devices = 1_000

  let port: Int
  private let directory: String
  private let authorityFile: String
  private let tokens: ProviderTokenSource
  private let process: ChildProcess

  /// Starts it on a free port of loopback, with a certificate of its own.
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

  /// A client that sends to it, on an event loop, over so many connections at most.
  func client(on loop: EventLoop, connections: Int) -> APNsClient {
    var configuration = APNsClient.Configuration(
      host: "127.0.0.1", port: port, trust: .certificateFile(authorityFile),
      authentication: .tokens(tokens))
    configuration.maximumConnections = connections
    return APNsClient(configuration, loop: loop)
  }

  /// One of the device tokens that it knows.
  static func deviceToken(_ number: Int) -> String { deviceTokens[number % devices] }

  /// The device token that it knows which stands for another one that ends in three digits.
  static func deviceToken(standingFor token: String) -> String {
    deviceToken(Int(token.suffix(3)) ?? 0)
  }

  private static let deviceTokens = (0..<devices).map { number in
    String(repeating: "d4", count: 30) + String(1000 + number)
  }

  /// It says nowhere when it is ready, so connecting is tried until it is.
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

/// Programs of the system, which may lie where only an administrator's shell looks.
enum SystemProgram {
  /// - Throws: ``UsageError`` naming the Debian package when the program is nowhere.
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
