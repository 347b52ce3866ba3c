import APNsSimulation
import Cryptography
import Foundation
import JSONCoding

/// The files that connect a server with an APNs simulator: a provider key, and the certificate of
/// the simulator's authority. Both are in one directory.
package struct SimulatorFiles {
  /// The key ID of the simulator's key (`kid`).
  package static let keyID = "PETRELSIM1"
  /// The team ID of the simulator's key (`iss`).
  package static let teamID = "PETRELTEAM"

  /// The absolute path of the directory.
  package let directory: String
  /// The private half of the provider key, which the server signs with.
  package let key: ES256PrivateKey

  /// Creates the directory, and a key in it if there is none.
  ///
  /// - Throws: an error of the file system, or of a key file that cannot be parsed.
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

  /// The file with the private key, as Apple names it: `AuthKey_….p8`.
  package let keyFile: String
  /// The file with the authority's certificate, which the simulator writes at its start.
  package var authorityFile: String { directory + "/authority.pem" }

  /// Returns the configuration of a simulator on the loopback address that accepts the key.
  ///
  /// - Parameter port: the port; 0 for any free one.
  package func configuration(port: Int) -> APNsSimulator.Configuration {
    var configuration = APNsSimulator.Configuration()
    configuration.port = port
    configuration.authorityCertificatePath = authorityFile
    configuration.keys = [
      ProviderKey(keyID: Self.keyID, teamID: Self.teamID, publicKey: key.publicKey)
    ]
    return configuration
  }

  /// Returns the `apns` part of a server's configuration, for sending to the simulator.
  package func settings(host: String, port: Int, topic: String) -> JSONValue {
    [
      "topic": .string(topic), "teamID": .string(Self.teamID), "keyID": .string(Self.keyID),
      "keyFile": .string(keyFile), "host": .string(host), "port": .int(Int64(port)),
      "authorityFile": .string(authorityFile),
    ]
  }
}
