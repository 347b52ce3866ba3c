import Cryptography
import Foundation
import HTTP2Transport
import Settings
import Storage
import StoreModel

extension APNsAuthentication {
  /// Reads the files of a key or a certificate.
  ///
  /// - Parameters:
  ///   - path: The keys of the configuration that lead to the credential's object.
  ///   - store: The store that keeps provider tokens; `nil` for none.
  /// - Throws: `ConfigurationError` if a file is not usable. The error names the place in the
  ///   configuration and the file.
  package init(
    _ credential: APNsSettings.Credential, at path: [String],
    keepingTokensIn store: SecretService? = nil
  ) throws(ConfigurationError) {
    let place = path.joined(separator: ": ") + ":"
    switch credential {
    case .key(let file, let keyID, let teamID):
      let text = try Self.text(of: file, "\(place) keyFile")
      do {
        let key = try ES256PrivateKey(pem: text)
        let identity = SHA256.hash("\(teamID) \(keyID) \(text)".utf8)
        self = .tokens(
          ProviderTokenSource(
            key: key, keyID: keyID, teamID: teamID,
            keepingIn: store.map {
              .init(store: $0, name: "apns-token-" + Base64URL.encode(identity))
            }))
      } catch {
        throw ConfigurationError("\(place) keyFile \(file) does not contain a usable key: \(error)")
      }
    case .certificate(let file, let keyFile):
      let identity = TLSIdentity(
        certificateChainPEM: try Self.text(of: file, "\(place) certificateFile"),
        privateKeyPEM: try Self.text(of: keyFile, "\(place) certificateKeyFile"))
      do throws(HTTP2Error) {
        try identity.check()
      } catch {
        throw ConfigurationError(
          "\(place) certificateFile \(file) with the key in \(keyFile) cannot be used: "
            + error.reason)
      }
      self = .certificate(identity)
    }
  }

  /// Returns the contents of a file.
  ///
  /// - Parameter place: The container and the key of the configuration that names the file, for the
  ///   error.
  private static func text(
    of file: String, _ place: String
  ) throws(ConfigurationError) -> String {
    do {
      return String(decoding: try InputFile.contents(of: file), as: UTF8.self)
    } catch {
      throw ConfigurationError("\(place) \(file) cannot be read: \(error.reason)")
    }
  }
}
