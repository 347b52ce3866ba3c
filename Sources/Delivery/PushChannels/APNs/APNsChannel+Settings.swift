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
  /// The keys of a container: `apns`.
  package static var containerSettings: [Setting<ChannelSettings>] {
    [
      .object(
        "apns", \.apns, APNsSettings.table, default: "no pushes; the web courier works",
        "The APNs key, and the app that receives pushes.")
    ]
  }

  /// Returns the APNs settings of each container that has them; `nil` if no container has them.
  package static func configuration(of settings: PushChannelSettings) -> Configuration? {
    let all = settings.containers.compactMapValues(\.apns)
    return all.isEmpty ? nil : all
  }

  /// Whether the container has settings for APNs.
  package static func reaches(_ container: String, with configuration: Configuration) -> Bool {
    configuration[container] != nil
  }

  /// Returns the paths of the credential and authority files of all containers. An authority file
  /// has the certificates that the client trusts.
  package static func files(of configuration: Configuration) -> [String] {
    configuration.values.flatMap { settings in
      let files =
        switch settings.credential {
        case .key(let file, _, _): [file]
        case .certificate(let file, let keyFile): [file, keyFile]
        }
      return files + [settings.authorityFile].compactMap(\.self)
    }
  }

  /// Returns the checks of the credential and authority files of all containers.
  package static func fileChecks(of settings: PushChannelSettings) -> [FileCheck] {
    settings.containers.flatMap { container, settings -> [FileCheck] in
      guard let apns = settings.apns else { return [] }
      let path = ["containers", container, "apns"]
      let key =
        switch apns.credential {
        case .key: "keyFile"
        case .certificate: "certificateFile"
        }
      return [
        FileCheck(path + [key]) { () throws(ConfigurationError) in
          _ = try APNsAuthentication(apns.credential, container: container)
        },
        FileCheck(path + ["authorityFile"]) { () throws(ConfigurationError) in
          guard let file = apns.authorityFile, !FileManager.default.isReadableFile(atPath: file)
          else { return }
          throw ConfigurationError(
            "containers: \(container): apns: authorityFile \(file) cannot be read")
        },
      ]
    }
  }
}
