import Foundation
import Settings

extension ChannelSettings {
  /// The settings for APNs of a container. `nil` if the server sends no pushes to APNs for the
  /// container. The web courier, the URL at which programs wait for notifications, works with and
  /// without the settings.
  public var apns: APNsSettings? {
    get { self[APNsSettings.self] }
    set { self[APNsSettings.self] = newValue }
  }
}

extension APNsChannel {
  package static var containerSettings: [Setting<ChannelSettings>] {
    [
      .object(
        "apns", \.apns, APNsSettings.table, default: "no pushes; the web courier works",
        "The APNs key, and the apps that receive pushes.")
    ]
  }

  package static func configuration(of settings: PushChannelSettings) -> Configuration? {
    let all = settings.containers.compactMapValues(\.apns)
    return all.isEmpty ? nil : all
  }

  /// Whether the container has settings for APNs, and the bundle ID is one of its topics.
  package static func reaches(
    _ container: String, bundleID: String?, with configuration: Configuration
  ) -> Bool {
    configuration[container]?.topic(ofBundle: bundleID) != nil
  }

  /// Returns the paths of the credential and authority files of all containers. An authority file
  /// has the certificates that the client trusts.
  package static func files(of configuration: Configuration) -> [String] {
    configuration.values.flatMap { settings in
      let files = settings.credentials.flatMap { credential in
        switch credential {
        case .key(let file, _, _): [file]
        case .certificate(let file, let keyFile): [file, keyFile]
        }
      }
      return files + [settings.authorityFile].compactMap(\.self)
    }
  }

  package static func fileChecks(of settings: PushChannelSettings) -> [FileCheck] {
    settings.containers.flatMap { container, settings -> [FileCheck] in
      guard let apns = settings.apns else { return [] }
      let path = ["containers", container, "apns"]
      let credentials = apns.topics.compactMap { topic -> FileCheck? in
        guard let credential = apns.credential(of: topic) else { return nil }
        let place = path + apns.credentialPath(of: topic)
        let key =
          switch credential {
          case .key: "keyFile"
          case .certificate: "certificateFile"
          }
        return FileCheck(place + [key]) { () throws(ConfigurationError) in
          _ = try APNsAuthentication(credential, at: place)
        }
      }
      // Topics that share the container's credential share its check.
      var keys: Set<[String]> = []
      return credentials.filter { keys.insert($0.key).inserted } + [
        FileCheck(path + ["authorityFile"]) { () throws(ConfigurationError) in
          guard let file = apns.authorityFile, !FileManager.default.isReadableFile(atPath: file)
          else { return }
          throw ConfigurationError(
            "containers: \(container): apns: authorityFile \(file) cannot be read")
        }
      ]
    }
  }
}
