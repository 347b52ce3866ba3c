import CommandInterface
import Cryptography
import Foundation
import PetrelServer
import PushChannels
import Settings

/// Keys, certificates and secrets in files: whether they can be used, by whom, and for how long.
struct KeyMatter: Sendable {
  /// Days before a certificate's end at which to say so.
  static let noticeDays = 30

  let configuration: ServerConfiguration
  let sources: ConfigurationSources

  private struct NamedFile {
    var key: String
    var path: String
    var contents: SettingKind.FileContents
    var isSecret: Bool
  }

  func findings(at now: Date = Date()) -> [Finding] {
    var findings = configuration.fileMistakes(from: sources).map { mistake in
      Finding.problem(
        "\(mistake)",
        "name a file that is good and that the server's user may read: "
          + "chown root:petrel FILE; chmod 640 FILE")
    }
    for file in files where file.isSecret { findings += Self.exposure(of: file.path, as: file.key) }
    if hasSecretsInFile, let file = sources.file {
      findings += Self.exposure(of: file, as: "the configuration, which has secrets in it,")
    }
    for (container, settings) in configuration.containers.sorted(by: { $0.key < $1.key }) {
      guard let apns = settings.channels.apns else { continue }
      findings += Self.credential(of: apns, container: container, at: now)
    }
    for file in files where file.contents == .certificates {
      findings += Self.authorities(file.path, as: file.key, at: now)
    }
    if let webPush = configuration.channels.webPush, findings.allSatisfy({ $0.mark == .ok }) {
      findings.append(
        .ok("webPush: the key \(webPush.keyFile ?? "in the store") can be used"))
    }
    return findings.isEmpty ? [.ok("no keys are configured, so no pushes leave")] : findings
  }

  /// Every file that the configuration names.
  private var files: [NamedFile] {
    let rows = ConfigurationListing(of: configuration, from: sources).rows
    return rows.compactMap { row in
      guard let contents = row.file, let path = row.value.string else { return nil }
      let hasOwnKey = rows.contains {
        $0.path.dropLast() == row.path.dropLast() && $0.path.last == "certificateKeyFile"
      }
      return NamedFile(
        key: row.path.joined(separator: "."), path: sources.file(path), contents: contents,
        isSecret: contents == .secret && !(row.path.last == "certificateFile" && hasOwnKey))
    }
  }

  private var hasSecretsInFile: Bool {
    ConfigurationListing(of: configuration, from: sources).rows.contains { row in
      guard row.value == "(not shown)", case .file = row.origin else { return false }
      return true
    }
  }

  /// Whether more than the owner and the group may read a secret.
  static func exposure(of path: String, as key: String) -> [Finding] {
    var information = stat()
    guard stat(path, &information) == 0, information.st_mode & 0o007 != 0 else { return [] }
    let mode = String(information.st_mode & 0o777, radix: 8)
    return [
      .problem(
        "\(key) \(path) is open to every user of this machine (mode \(mode))", "chmod 640 \(path)")
    ]
  }

  private static func credential(
    of apns: APNsSettings, container: String, at now: Date
  ) -> [Finding] {
    switch apns.credential {
    case .key(let file, let keyID, _):
      // The check of the configuration reports a key that cannot be used.
      guard let text = text(of: file), (try? ES256PrivateKey(pem: text)) != nil else { return [] }
      return [.ok("\(container): the APNs key \(keyID) can be used")]
    case .certificate(let file, _):
      // The check of the configuration reports a certificate that cannot be used.
      guard let text = text(of: file), let all = try? CertificateSummary.all(inPEM: text),
        let first = all.first
      else { return [] }
      var findings = [validity(of: first, "\(container): the certificate", at: now, renewal: apple)]
      if let topic = topic(ofCertificate: first.commonName), topic != apns.topic {
        findings.append(
          .problem(
            "\(container): the certificate is for '\(topic)', and the topic is '\(apns.topic)'",
            "name the certificate of this app, or its bundle ID as the topic"))
      }
      return findings
    }
  }

  private static let apple =
    "make a new one at https://developer.apple.com/account, put it in the place of the file, and "
    + "systemctl reload petrel; a key (.p8) does not expire"

  /// What Apple's certificates for pushes have in their names.
  private static func topic(ofCertificate name: String) -> String? {
    guard name.contains("Push Services: ") else { return nil }
    return name.components(separatedBy: "Push Services: ").last
  }

  private static func authorities(_ path: String, as key: String, at now: Date) -> [Finding] {
    guard let text = text(of: path) else { return [] }
    // The finding says that the file has no certificate.
    guard let all = try? CertificateSummary.all(inPEM: text) else {
      return [
        .problem("\(key) \(path) has no certificate in PEM form", "name a file that has some")
      ]
    }
    // A bundle may well have some that are over; one of them is enough.
    guard let last = all.max(by: { $0.end < $1.end }) else { return [] }
    return [validity(of: last, "\(key)", at: now, renewal: "get its issuer's new one")]
  }

  /// What there is to say of a certificate's time.
  static func validity(
    of certificate: CertificateSummary, _ what: String, at now: Date, renewal: String
  ) -> Finding {
    let name = "\(what) '\(certificate.commonName)'"
    if certificate.end <= now {
      return .problem("\(name) expired on \(day(certificate.end))", renewal)
    }
    if certificate.start > now {
      return .problem(
        "\(name) is valid from \(day(certificate.start)) only", "look at this machine's clock")
    }
    let days = Int(certificate.end.timeIntervalSince(now) / 86_400)
    guard days >= noticeDays else {
      return .warning(
        "\(name) expires in \(days.counting("day")), on \(day(certificate.end))", renewal)
    }
    return .ok("\(name) is valid until \(day(certificate.end))")
  }

  private static func day(_ date: Date) -> String { date.formatted(.iso8601.year().month().day()) }

  private static func text(of file: String) -> String? {
    FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) }
  }
}
