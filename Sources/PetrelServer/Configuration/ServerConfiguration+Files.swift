import Cryptography
import Foundation
import PushDelivery

extension ServerConfiguration {
  /// Reads the files that the configuration names, as the server does when it starts.
  ///
  /// - Throws: ``ConfigurationError`` naming the key and the file that cannot be used.
  public func checkFiles() throws(ConfigurationError) {
    for (container, settings) in containers.sorted(by: { $0.key < $1.key }) {
      guard let apns = settings.apns else { continue }
      _ = try APNsAuthentication(apns.credential, container: container)
      if let file = apns.authorityFile, !FileManager.default.isReadableFile(atPath: file) {
        throw ConfigurationError(
          "containers: \(container): apns: authorityFile \(file) cannot be read")
      }
    }
    if let file = webPush?.keyFile { _ = try WebPushKey.key(inFile: file) }
  }
}
