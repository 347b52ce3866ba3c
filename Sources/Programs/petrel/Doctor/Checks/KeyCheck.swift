import CloudKitModel
import CommandInterface
import Configuration
import Cryptography
import Foundation
import PushChannels
import Settings

/// The check of the files that the configuration names: keys, certificates and secrets. They must
/// be readable and valid, and other users must not have access to secrets.
struct KeyCheck: Sendable {
  let configuration: ServerConfiguration
  let sources: ConfigurationSources

  /// A file that the configuration names.
  private struct NamedFile {
    var key: String
    var path: String
    /// The kind of contents that the setting expects.
    var contents: SettingKind.FileContents
    var isSecret: Bool
  }

  /// Checks all files. Returns one positive finding if there is nothing to report.
  ///
  /// - Parameter now: The time for which the validity of certificates is checked.
  func findings(at now: Timestamp = .now) -> [Finding] {
    var findings = configuration.fileMistakes(from: sources).map { mistake in
      Finding.problem(
        "\(mistake)",
        "name a valid file that the server's user may read: "
          + "chown root:petrel FILE; chmod 640 FILE")
    }
    for file in files where file.isSecret { findings += Self.exposure(of: file.path, as: file.key) }
    if hasSecretsInFile, let file = sources.file {
      findings += Self.exposure(of: file, as: "the configuration, which contains secrets,")
    }
    for file in files where file.contents == .certificates {
      findings += Self.authorities(file.path, as: file.key, at: now)
    }
    return findings.isEmpty
      ? [
        .ok("the files that the configuration names are valid, and those with secrets are private")
      ] : findings
  }

  /// All files that the configuration names. A certificate file counts as a secret only if it also
  /// contains the key, because no `certificateKeyFile` is set beside it.
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

  /// Returns a problem if users other than the owner and the group have any permission for a file
  /// with a secret. Returns nothing if the file does not exist.
  static func exposure(of path: String, as key: String) -> [Finding] {
    var information = stat()
    guard stat(path, &information) == 0, information.st_mode & 0o007 != 0 else { return [] }
    let mode = String(information.st_mode & 0o777, radix: 8)
    return [
      .problem(
        "\(key) \(path) is open to every user of this machine (mode \(mode))", "chmod 640 \(path)")
    ]
  }

  /// Returns the finding about a file with the certificates of authorities. Returns nothing for a
  /// file that cannot be read, because another finding reports that file.
  private static func authorities(_ path: String, as key: String, at now: Timestamp) -> [Finding] {
    guard let text = text(of: path) else { return [] }
    // The finding below says that the file has no certificate.
    guard let all = try? CertificateSummary.all(inPEM: text) else {
      return [
        .problem("\(key) \(path) has no certificate in PEM form", "name a file with certificates")
      ]
    }
    // A bundle may contain expired certificates. The certificate that is valid the longest decides.
    guard let last = all.max(by: { $0.end < $1.end }) else { return [] }
    return [.validity(of: last, "\(key)", at: now, renewal: "get the issuer's new certificate")]
  }

  private static func text(of file: String) -> String? {
    FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) }
  }
}
