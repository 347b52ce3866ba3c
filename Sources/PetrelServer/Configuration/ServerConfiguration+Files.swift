import Cryptography
import Foundation
import HTTP2Transport
import PushDelivery
import Storage

extension ServerConfiguration {
  /// Reads the files that the configuration names, as the server does when it starts.
  ///
  /// - Throws: ``ConfigurationError`` naming the key and the file that cannot be used.
  public func checkFiles() throws(ConfigurationError) {
    if let mistake = fileMistakes.first { throw mistake }
  }

  /// What is wrong with the files that the configuration names: the first of each container, and of
  /// Web Push.
  public var fileMistakes: [ConfigurationError] {
    var mistakes: [ConfigurationError] = []
    func look(_ body: () throws(ConfigurationError) -> Void) {
      do throws(ConfigurationError) {
        try body()
      } catch {
        mistakes.append(error)
      }
    }
    for (container, settings) in containers.sorted(by: { $0.key < $1.key }) {
      guard let apns = settings.apns else { continue }
      look { () throws(ConfigurationError) in
        _ = try APNsAuthentication(apns.credential, container: container)
        if let file = apns.authorityFile, !FileManager.default.isReadableFile(atPath: file) {
          throw ConfigurationError(
            "containers: \(container): apns: authorityFile \(file) cannot be read")
        }
      }
    }
    if let file = webPush?.keyFile {
      look { () throws(ConfigurationError) in _ = try WebPushKey.key(inFile: file) }
    }
    return mistakes
  }
}

extension ServerConfiguration.APNs {
  /// How the server connects to APNs for the devices of one of its environments.
  ///
  /// - Throws: ``ConfigurationError`` naming the file or the proxy that cannot be used.
  public func client(
    to environment: APNsEnvironment, container: String
  ) throws(ConfigurationError) -> APNsClient.Configuration {
    let authentication = try APNsAuthentication(credential, container: container)
    do throws(HTTP2Error) {
      return try APNsRoutes.configuration(self, environment, authentication)
    } catch {
      throw ConfigurationError("containers: \(container): apns: \(error.reason)")
    }
  }
}
