import APNsSimulation
import Cryptography
import Foundation
import JSONCoding

/// The files through which a server and an APNs simulator get to know each other: a provider key,
/// and the certificate of the authority that vouches for the simulator.
package struct SimulatorFiles {
  /// What the simulator expects as `kid`.
  package static let keyID = "PETRELSIM1"
  /// What the simulator expects as `iss`.
  package static let teamID = "PETRELTEAM"

  package let directory: String
  package let key: ES256PrivateKey

  /// Makes the directory, and a key in it unless there is one from before.
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

  package let keyFile: String
  package var authorityFile: String { directory + "/authority.pem" }

  /// The configuration of a simulator on loopback that knows the key.
  package func configuration(port: Int) -> APNsSimulator.Configuration {
    var configuration = APNsSimulator.Configuration()
    configuration.port = port
    configuration.authorityCertificatePath = authorityFile
    configuration.keys = [
      ProviderKey(keyID: Self.keyID, teamID: Self.teamID, publicKey: key.publicKey)
    ]
    return configuration
  }

  /// What a server's configuration says under `apns` to send to the simulator.
  package func settings(host: String, port: Int, topic: String) -> JSONValue {
    [
      "topic": .string(topic), "teamID": .string(Self.teamID), "keyID": .string(Self.keyID),
      "keyFile": .string(keyFile), "host": .string(host), "port": .int(Int64(port)),
      "authorityFile": .string(authorityFile),
    ]
  }
}
