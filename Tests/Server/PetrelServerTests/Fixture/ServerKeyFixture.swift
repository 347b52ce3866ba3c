import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import StoreModel

@testable import DatabaseAPI

/// A server-to-server client whose key and signatures the openssl tool makes.
struct ServerKeyClient: Sendable {
  let service: Service
  let key: ServerKey
  private let directory: String

  /// Registers a new key.
  init(_ service: Service, environment: ContainerEnvironment = .development) async throws {
    self.service = service
    directory = service.directory + "/" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    // Apple's instructions give this format: a SEC 1 key after a block of parameters.
    try Self.openSSL("ecparam", "-name", "prime256v1", "-genkey", "-out", directory + "/key.pem")
    try Self.openSSL("ec", "-in", directory + "/key.pem", "-pubout", "-out", directory + "/pub.pem")
    key = try await Registration.addServerKey(
      named: "feed", container: Service.container, environment: environment,
      publicKey: ES256PublicKey(
        pem: String(contentsOfFile: directory + "/pub.pem", encoding: .utf8)),
      to: service.store.credentials, at: service.clock.read())
  }

  /// The DER signature of a message.
  func sign(_ message: String) throws -> Data {
    let file = directory + "/" + UUID().uuidString
    try Data(message.utf8).write(to: URL(fileURLWithPath: file))
    try Self.openSSL(
      "dgst", "-sha256", "-sign", directory + "/key.pem", "-out", file + ".sig", file)
    return try Data(contentsOf: URL(fileURLWithPath: file + ".sig"))
  }

  static func hash(_ body: String) throws -> String {
    Data(SHA256.hash(body.utf8)).base64EncodedString()
  }

  /// A request that can be sent, also more than once.
  struct Request: Sendable {
    var method = "POST"
    var target: String
    var body: String
    var keyID: String?
    var date: String?
    var signature: Data?

    var headers: String {
      [
        ("KeyID", keyID), ("ISO8601Date", date),
        ("SignatureV1", signature?.base64EncodedString()),
      ].compactMap { name, value in
        value.map { "X-Apple-CloudKit-Request-\(name): \($0)\r\n" }
      }.joined()
    }

    /// The raw form r ‖ s of the signature.
    var rawSignature: [UInt8] {
      get throws { try ES256Signature(der: signature ?? Data()).raw }
    }
  }

  /// A signed request; `after` seconds from now by the server's clock.
  func request(
    _ operation: String, _ body: String, method: String = "POST", after seconds: Double = 0,
    bodyHash: String? = nil, query: String = "ckjsVersion=2.0"
  ) throws -> Request {
    let milliseconds = service.clock.read().advanced(bySeconds: seconds).milliseconds
    let date = Timestamp(milliseconds: milliseconds / 1000 * 1000).iso8601
    let path = String(
      service.target(operation, as: nil).prefix { $0 != "?" }
    ).replacing("development", with: key.environment.rawValue)
    let hash = try bodyHash ?? Self.hash(body)
    return Request(
      method: method, target: "\(path)?\(query)", body: body, keyID: key.keyID, date: date,
      signature: try sign("\(date):\(hash):\(path)"))
  }

  func send(_ request: Request) async throws -> Answer {
    try await service.client.send(
      request.method, request.target, headers: request.headers, body: Data(request.body.utf8))
  }

  func post(_ operation: String, _ body: String) async throws -> Answer {
    try await send(try request(operation, body))
  }

  @discardableResult
  private static func openSSL(_ arguments: String...) throws -> Int32 {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw ServiceClient.Failure(description: "openssl \(arguments) failed")
    }
    return 0
  }
}
