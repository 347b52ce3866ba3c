import AdminAPI
import CommandInterface
import Cryptography
import Foundation
import JSONCoding
import Settings

/// The command `petrel keys add-server-key`, which registers the public key of a server-to-server
/// key and prints the key ID.
///
/// It calls `POST keys/add-server-key` of the admin API. With `--new-private-key` it also creates
/// the key pair; the private key stays on this machine.
struct KeysAddServerKeyCommand: Command {
  let name = "keys add-server-key"
  let example =
    "petrel keys add-server-key feed --container iCloud.com.example.app "
    + "--new-private-key feed.pem"
  let summary = "Registers a server-to-server key and prints its key ID."
  let operands = "NAME"
  let options: [Arguments.Option] =
    AdminArgument.place.options + [
      .init("public-key", "FILE", "your public key in PEM form (P-256)"),
      .init(
        "new-private-key", "FILE",
        "creates a key pair and writes the private key to this file, which only you can read"),
      AdminOptions.json,
    ] + AdminOptions.all

  func run(_ arguments: Arguments) async throws -> Int32 {
    let name = try arguments.word("NAME for the key")
    var body = try AdminArgument.place.members(arguments)
    let publicKey: ES256PublicKey
    var privateKeyFile: String?
    switch (arguments.string("public-key"), arguments.string("new-private-key")) {
    case (let file?, nil): publicKey = try Self.read(file)
    case (nil, let file?):
      publicKey = try Self.makePrivateKey(in: file)
      privateKeyFile = file
    default:
      throw UsageError(
        "needs either --public-key FILE, or --new-private-key FILE to create a key pair")
    }
    do {
      body["name"] = .string(name)
      body["publicKey"] = .string(try publicKey.pem)
      return try await AdminOptions.withAccess(arguments, makesStore: true) { [body] access in
        try await AdminOutput.member("keyID").show(arguments) { _ in
          try await access.post("keys/add-server-key", body)
        }
      }
    } catch {
      // A private key that is not registered is useless, so its new file is deleted if possible.
      if let privateKeyFile { try? FileManager.default.removeItem(atPath: privateKeyFile) }
      throw error
    }
  }

  /// Returns the public key in a PEM file.
  ///
  /// - Throws: `InputFile.Failure` if the file cannot be read, `UsageError` if it contains no public
  ///   P-256 key.
  private static func read(_ file: String) throws -> ES256PublicKey {
    let text = String(decoding: try InputFile.contents(of: file), as: UTF8.self)
    do throws(CryptographyError) {
      return try ES256PublicKey(pem: text)
    } catch {
      guard text.contains("PRIVATE KEY") else { throw UsageError("--public-key: \(error)") }
      throw UsageError(
        "--public-key: '\(file)' contains a private key, which should not leave its machine; get "
          + "its public key with: openssl ec -in '\(file)' -pubout")
    }
  }

  /// Writes a new private key into a new file with mode 600, and returns its public key.
  ///
  /// - Throws: `UsageError` if the file exists already or cannot be created.
  private static func makePrivateKey(in file: String) throws -> ES256PublicKey {
    let key = try ES256PrivateKey()
    let text = try key.pem
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw UsageError(
        "--new-private-key: '\(file)' cannot be created: \(String(cString: strerror(errno)))")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try handle.write(contentsOf: Data(text.utf8))
    try handle.synchronize()
    return key.publicKey
  }
}
