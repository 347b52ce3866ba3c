import HTTP2Transport
import Settings
import StoreModel

extension APNsSettings {
  /// How the server connects to APNs for the devices of one of its environments.
  ///
  /// - Throws: ``ConfigurationError`` naming the file or the proxy that cannot be used.
  public func client(
    to environment: APNsEnvironment, container: String
  ) throws(ConfigurationError) -> APNsClient.Configuration {
    let authentication = try APNsAuthentication(credential, container: container)
    do throws(HTTP2Error) {
      return try client(to: environment, authentication)
    } catch {
      throw ConfigurationError("containers: \(container): apns: \(error.reason)")
    }
  }

  /// How the server connects to APNs for the devices of one of its environments.
  package func client(
    to environment: APNsEnvironment, _ authentication: APNsAuthentication
  ) throws(HTTP2Error) -> APNsClient.Configuration {
    let appleHost =
      switch environment {
      case .production: "api.push.apple.com"
      case .development: "api.sandbox.push.apple.com"
      }
    var configuration = APNsClient.Configuration(
      host: host ?? appleHost, port: port ?? 443,
      trust: authorityFile.map { .certificateFile($0) } ?? .system,
      authentication: authentication)
    configuration.maximumConnections = maximumConnections
    configuration.proxy = try proxy.map { text throws(HTTP2Error) in
      try HTTPProxy(parsing: text)
    }
    return configuration
  }
}
