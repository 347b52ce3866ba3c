import Cryptography
import Foundation
import HTTP2Transport
import PushChannels
import Settings
import StoreModel

extension ServerConfiguration {
  /// What is wrong with the files that the configuration names, which are read as the server does
  /// when it starts.
  ///
  /// - Parameter sources: tell where each is named.
  public func fileMistakes(from sources: ConfigurationSources) -> [ConfigurationError] {
    var mistakes: [ConfigurationError] = []
    func look(at path: [String], _ body: () throws(ConfigurationError) -> Void) {
      do throws(ConfigurationError) {
        try body()
      } catch {
        mistakes.append(
          ConfigurationError(sources.place(of: path) + error.description, at: .key(path)))
      }
    }
    for (container, settings) in containers.sorted(by: { $0.key < $1.key }) {
      look(at: ["containers", container, "strings", "folder"]) { () throws(ConfigurationError) in
        _ = try settings.strings?.read(container: container)
      }
      guard let apns = settings.apns else { continue }
      let path = ["containers", container, "apns"]
      let key =
        switch apns.credential {
        case .key: "keyFile"
        case .certificate: "certificateFile"
        }
      look(at: path + [key]) { () throws(ConfigurationError) in
        _ = try APNsAuthentication(apns.credential, container: container)
      }
      look(at: path + ["authorityFile"]) { () throws(ConfigurationError) in
        guard let file = apns.authorityFile, !FileManager.default.isReadableFile(atPath: file)
        else { return }
        throw ConfigurationError(
          "containers: \(container): apns: authorityFile \(file) cannot be read")
      }
    }
    if let file = webPush?.keyFile {
      look(at: ["webPush", "keyFile"]) { () throws(ConfigurationError) in
        _ = try WebPushKey.key(inFile: file)
      }
    }
    return mistakes
  }
}
