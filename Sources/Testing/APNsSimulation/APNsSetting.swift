/// How a simulator treats its connections, as far as that can be changed while it runs.
public enum APNsSetting: Sendable, Hashable {
  /// How many requests may be open on a connection, those that are open among them (SETTINGS).
  case streams(Int)
  /// After how many requests a connection is ended with GOAWAY; nil for never.
  case requestsPerConnection(Int?)
  /// How many seconds what a client sent keeps its room, 65,535 bytes in all, in which it may send
  /// more (WINDOW_UPDATE); nil for much room that is free at once. For connections to come.
  case readDelay(seconds: Double?)
  /// Seconds after which a provider token counts as expired; APNs' own are 3600.
  case providerTokenLifetime(seconds: Int)
  /// What the TLS handshakes of the next connections come to, one each; those after them go well.
  case handshakes([APNsHandshakeFault])
}

/// What can go wrong with a TLS handshake.
public enum APNsHandshakeFault: String, Sendable, Hashable, CaseIterable {
  /// The simulator breaks it off.
  case refused
  /// The certificate is from an authority that nobody knows.
  case untrusted
  /// The certificate is for another host.
  case otherHost
  /// The certificate has expired.
  case expired
}
