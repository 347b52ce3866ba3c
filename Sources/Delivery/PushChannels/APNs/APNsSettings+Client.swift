import HTTP2Transport
import Settings
import StoreModel

extension APNsSettings {
  /// Reads the credential of a topic and returns the configuration of a client for the topic's devices in
  /// one APNs environment.
  ///
  /// - Throws: `ConfigurationError` if the topic has no credential, or if the credential's files or the
  ///   proxy's URL are not usable. The error names the container.
  public func client(
    to environment: APNsEnvironment, topic: String, container: String
  ) throws(ConfigurationError) -> APNsClient.Configuration {
    let authentication = try APNsAuthentication(
      requiredCredential(of: topic, container: container),
      at: ["containers", container, "apns"] + credentialPath(of: topic))
    do throws(HTTP2Error) {
      return try client(to: environment, authentication)
    } catch {
      throw ConfigurationError("containers: \(container): apns: \(error.reason)")
    }
  }

  /// Returns the configuration of a client for the devices of one APNs environment.
  ///
  /// Without a configured host, the client connects to Apple's host of the environment,
  /// `api.push.apple.com` or `api.sandbox.push.apple.com`. The default port is 443.
  ///
  /// - Throws: `HTTP2Error` if the URL of the proxy is not valid.
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
