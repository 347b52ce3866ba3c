import Configuration
import PushChannels
import Settings

extension Server {
  /// Goes on with another configuration, without closing a connection of a client: keys and certificates,
  /// issuers and their secrets, containers, limits for requests and quotas, who may read the metrics and
  /// use the admin API. What is remembered of request rates begins anew. The rest counts after a
  /// restart (``ConfigurationChange/keysForRestart``).
  ///
  /// - Returns: the connections to others that were exchanged, for people.
  /// - Throws: ``ConfigurationError`` when a key file cannot be used; nothing is changed then.
  public func reload(_ configuration: ServerConfiguration) throws(ConfigurationError) -> [String] {
    var configuration = configuration
    // What is reached is still where the server listens: who may run it depends on that.
    configuration.address = self.configuration.address
    configuration.publicURL = self.configuration.publicURL
    let next = try channels.prepare(configuration.channelSettings)
    service.reload(configuration, webPushKey: next.channel(WebPushChannel.self)?.key)
    pages.reload(OperatorAccess(configuration))
    return channels.use(next)
  }
}
