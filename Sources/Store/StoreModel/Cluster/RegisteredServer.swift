import CloudKitModel

/// Names a server that has a shared store open. One that was taken for gone gets another when it comes
/// again.
public struct ServerID: RawRepresentable, Sendable, Hashable {
  public var rawValue: Int64

  public init(rawValue: Int64) {
    self.rawValue = rawValue
  }
}

/// A server that has the store open, or had it a moment ago.
public struct RegisteredServer: Sendable, Hashable {
  public var id: ServerID
  /// For people: where it runs.
  public var description: String
  /// When it is taken for gone unless it renews its registration before, by the store's clock.
  public var aliveUntil: Timestamp

  package init(id: ServerID, description: String, aliveUntil: Timestamp) {
    self.id = id
    self.description = description
    self.aliveUntil = aliveUntil
  }
}

/// What a server learns when it renews its registration.
public struct ServerRenewal: Sendable, Hashable {
  /// The others.
  public var others: [RegisteredServer] = []
  /// Those whose time was over, which this renewal has struck off.
  public var gone: [ServerID] = []

  package init() {}
}
