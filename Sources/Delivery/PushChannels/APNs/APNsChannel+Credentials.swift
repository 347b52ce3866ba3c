import CloudKitModel
import Cryptography
import Foundation
import Settings

/// The check of `petrel doctor` that reads the credential files, without a connection.
extension APNsChannel {
  package static func findings(in configuration: Configuration, at now: Timestamp) -> [Finding] {
    configuration.sorted { $0.key < $1.key }.flatMap { container, apns in
      apns.credentials.flatMap { credential in
        let topics = apns.topics.filter { apns.credential(of: $0) == credential }
        return findings(of: credential, for: topics, container: container, at: now)
      }
    }
  }

  /// Returns the findings for one credential of a container. A key gives one finding: the key can be
  /// used. A certificate gives a finding with the end of its validity, and another one if the certificate
  /// is not for each of the topics.
  private static func findings(
    of credential: APNsSettings.Credential, for topics: [String], container: String,
    at now: Timestamp
  ) -> [Finding] {
    switch credential {
    case .key(let file, let keyID, _):
      // `fileChecks(of:)` reports a key that cannot be used.
      guard let text = text(of: file), (try? ES256PrivateKey(pem: text)) != nil else { return [] }
      return [.ok("\(container): the APNs key \(keyID) can be used")]
    case .certificate(let file, _):
      // `fileChecks(of:)` reports a certificate that cannot be used.
      guard let text = text(of: file), let all = try? CertificateSummary.all(inPEM: text),
        let first = all.first
      else { return [] }
      var findings = [
        Finding.validity(of: first, "\(container): the certificate", at: now, renewal: apple)
      ]
      if let topic = topic(ofCertificate: first.commonName) {
        for other in topics where other != topic {
          findings.append(
            .problem(
              "\(container): the certificate is for '\(topic)', but the topic is '\(other)'",
              "configure this app's certificate, or the certificate's bundle ID as the topic"))
        }
      }
      return findings
    }
  }

  /// The advice for a certificate that must be renewed.
  private static let apple =
    "create a new certificate at https://developer.apple.com/account, replace the file with it, "
    + "and run systemctl reload petrel; a key (.p8) does not expire"

  /// Returns the topic in the common name of a certificate that Apple issued for pushes. The topic
  /// of `Apple Push Services: com.example.app` is `com.example.app`; other names give `nil`.
  private static func topic(ofCertificate name: String) -> String? {
    guard name.contains("Push Services: ") else { return nil }
    return name.components(separatedBy: "Push Services: ").last
  }

  private static func text(of file: String) -> String? {
    FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) }
  }
}
