import APNsSimulation
import Cryptography
import Foundation
import JSONCoding

/// The files with which a server can send to an APNs simulator. One has a provider key, with which
/// the server proves its identity. The other has the certificate of the simulator's authority,
/// which the server must trust.
package struct SimulatorFiles {
  /// The key ID of the simulator's key (`kid`).
  package static let keyID = "PETRELSIM1"
  /// The team ID of the simulator's key (`iss`).
  package static let teamID = "PETRELTEAM"

  package let directory: String
  /// The private half of the provider key, with which the server signs.
  package let key: ES256PrivateKey

  /// Creates the directory. Reads the key file in it, or creates the file with a new key if it is
  /// missing.
  ///
  /// - Throws: an error of the file system, or `CryptographyError` if the key file has no usable
  ///   key.
  package init(in directory: String) throws {
    self.directory = URL(fileURLWithPath: directory).standardizedFileURL.path
    try FileManager.default.createDirectory(
      atPath: self.directory, withIntermediateDirectories: true)
    let keyFile = self.directory + "/AuthKey_\(Self.keyID).p8"
    if let data = FileManager.default.contents(atPath: keyFile) {
      key = try ES256PrivateKey(pem: String(decoding: data, as: UTF8.self))
    } else {
      key = try ES256PrivateKey()
      try key.pem.write(toFile: keyFile, atomically: true, encoding: .utf8)
    }
    self.keyFile = keyFile
  }

  /// The path of the file with the private key, `AuthKey_….p8`, as Apple names such files.
  package let keyFile: String
  /// The path of the file with the authority's certificate, in PEM. The simulator writes the file
  /// at its start.
  package var authorityFile: String { directory + "/authority.pem" }

  /// Returns the configuration of a simulator on the loopback address that accepts the key.
  package func configuration(port: Int) -> APNsSimulator.Configuration {
    var configuration = APNsSimulator.Configuration()
    configuration.port = port
    configuration.authorityCertificatePath = authorityFile
    configuration.keys = [
      ProviderKey(keyID: Self.keyID, teamID: Self.teamID, publicKey: key.publicKey)
    ]
    return configuration
  }

  /// Returns the object `apns` of a server's configuration, with which the server sends to the
  /// simulator.
  ///
  /// - Parameter topic: the app's bundle ID.
  package func settings(host: String, port: Int, topic: String) -> JSONValue {
    [
      "topics": [.string(topic)], "teamID": .string(Self.teamID), "keyID": .string(Self.keyID),
      "keyFile": .string(keyFile), "host": .string(host), "port": .int(Int64(port)),
      "authorityFile": .string(authorityFile),
    ]
  }
}
