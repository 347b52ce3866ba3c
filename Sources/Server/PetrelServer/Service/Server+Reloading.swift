import Configuration
import PushChannels
import Settings

extension Server {
  /// Applies a new configuration while the server runs. No connection of a client is closed.
  ///
  /// Among others, these settings take effect at once: keys and certificates, the sign-in page,
  /// containers, request rates, quotas, and the access to the metrics and the admin API. Counts of
  /// requests in memory start again. `ConfigurationChange.keysForRestart` names the changed
  /// settings that take effect only after a restart.
  ///
  /// - Returns: the names of the connections to push services that were replaced, for people. The
  ///   server replaces only the connections of channels with changed settings or key files.
  /// - Throws: `ConfigurationError` if a key file is unusable. The server then keeps the previous
  ///   configuration.
  public func reload(_ configuration: ServerConfiguration) throws(ConfigurationError) -> [String] {
    var configuration = configuration
    // The server still listens on the old address. Whether the admin API is on by default depends
    // on this address.
    configuration.address = self.configuration.address
    configuration.publicURL = self.configuration.publicURL
    let next = try channels.prepare(configuration.channelSettings)
    service.reload(configuration, webPushKey: next.channel(WebPushChannel.self)?.key)
    pages.access.replace(by: OperatorAccess(configuration))
    return channels.use(next)
  }
}
