/// A setting of a simulator that can be changed while the simulator runs (``APNsFault/set(_:)``).
public enum APNsSetting: Sendable, Hashable {
  /// The number of requests that a client may have open on a connection
  /// (`SETTINGS_MAX_CONCURRENT_STREAMS`). It applies to present and later connections.
  case streams(Int)
  /// The number of requests after which the simulator ends a connection with GOAWAY; nil for no
  /// limit.
  case requestsPerConnection(Int?)
  /// The seconds until the simulator permits a client to send as many bytes again as it has sent
  /// (WINDOW_UPDATE). So a client can send 65,535 bytes on a connection in this time. Nil stands
  /// for no delay and a window of 4 MiB. It applies to later connections.
  case readDelay(seconds: Double?)
  /// The seconds after which a provider token counts as expired. At APNs it is 3,600 seconds.
  case providerTokenLifetime(seconds: Int)
  /// The failures of the next TLS handshakes, one for each connection. The handshakes after these
  /// succeed.
  case handshakes([APNsHandshakeFault])
}

/// A failure of a TLS handshake. The raw value is its name in a script.
public enum APNsHandshakeFault: String, Sendable, Hashable, CaseIterable {
  /// The simulator ends the handshake without a certificate.
  case refused
  /// The certificate is from an authority that the sender does not know.
  case untrusted
  /// The certificate is for another host.
  case otherHost
  /// The certificate has expired.
  case expired
}
