import Configuration
import PushChannels
import Settings

extension Server {
  /// Applies a new configuration while the server runs. No connection of a client is closed.
  ///
  /// These settings take effect: keys and certificates, sign-in issuers, containers, request rates,
  /// quotas, and the access to the metrics and the admin API. The counts of request rates start
  /// again. All other settings take effect after a restart
  /// (``ConfigurationChange/keysForRestart``).
  ///
  /// - Returns: the connections to push services that were replaced, as texts for people. Only
  ///   channels with changed settings or key files are replaced.
  /// - Throws: ``ConfigurationError`` if a key file is unusable. The server then keeps the previous
  ///   configuration.
  public func reload(_ configuration: ServerConfiguration) throws(ConfigurationError) -> [String] {
    var configuration = configuration
    // The server still listens at the old address. The admin API's default depends on that address.
    configuration.address = self.configuration.address
    configuration.publicURL = self.configuration.publicURL
    let next = try channels.prepare(configuration.channelSettings)
    service.reload(configuration, webPushKey: next.channel(WebPushChannel.self)?.key)
    pages.reload(OperatorAccess(configuration))
    return channels.use(next)
  }
}
