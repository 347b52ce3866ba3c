/// A setting of a simulator that can be changed while the simulator runs (``APNsFault/set(_:)``).
public enum APNsSetting: Sendable, Hashable {
  /// The number of requests that may be open on a connection, with those that are open already
  /// (`SETTINGS_MAX_CONCURRENT_STREAMS`).
  case streams(Int)
  /// The number of requests after which the simulator ends a connection with GOAWAY; nil for no
  /// end.
  case requestsPerConnection(Int?)
  /// The seconds for which received bytes keep their part of the flow-control window of 65,535
  /// bytes. Only then may the client send more (WINDOW_UPDATE). Nil stands for a large window that
  /// is free at once. It applies to later connections.
  case readDelay(seconds: Double?)
  /// The seconds after which a provider token counts as expired; 3,600 at APNs.
  case providerTokenLifetime(seconds: Int)
  /// The failures of the next TLS handshakes, one for each connection. Later handshakes succeed.
  case handshakes([APNsHandshakeFault])
}

/// A failure of a TLS handshake. The raw value is its name in a script.
public enum APNsHandshakeFault: String, Sendable, Hashable, CaseIterable {
  /// The simulator breaks the handshake off.
  case refused
  /// The certificate is from an authority that the sender does not know.
  case untrusted
  /// The certificate is for another host.
  case otherHost
  /// The certificate has expired.
  case expired
}
